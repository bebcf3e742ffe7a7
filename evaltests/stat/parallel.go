package stat

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// inBlocks calls f for consecutive blocks of [0, n) on all cores. Blocks have
// a fixed size and write to their own place, so the result does not depend on
// how many cores there are.
func inBlocks(n, size int, f func(lo, hi int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+size-1)/size)
	if workers <= 1 {
		for lo := 0; lo < n; lo += size {
			f(lo, min(lo+size, n))
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				lo := int(next.Add(int64(size))) - size
				if lo >= n {
					return
				}
				f(lo, min(lo+size, n))
			}
		})
	}
	wg.Wait()
}
