package seed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// poll is how often a lock is tried where waiting is allowed.
const poll = 50 * time.Millisecond

// take locks the file at path, shared for readers. A lock that another process
// holds is refused, or waited for with [Flags.ParallelOK]: nobody ever reads a
// store that is being filled.
func take(ctx context.Context, path string, exclusive bool, flags Flags) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(path)
	try := lock.TryRLock
	if exclusive {
		try = lock.TryLock
	}
	for {
		ok, err := try()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if ok {
			return lock, nil
		}
		if !flags.ParallelOK {
			doing := "filling it"
			if exclusive {
				doing = "using it"
			}
			return nil, &RefusedError{Reason: fmt.Sprintf("%s: lock held: another process is %s", path, doing),
				Action: "wait until it ends, or set EVAL_PARALLEL_OK=1 to wait for it here"}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
		case <-time.After(poll):
		}
	}
}
