package dense

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Index holds vectors of one length. It is safe for concurrent use.
type Index struct {
	mu   sync.RWMutex
	dim  int
	ids  []string
	data []float32 // len(ids) * dim
	norm []float64 // of each vector; 0 for the zero vector
	at   map[string]int
}

// New returns an empty index for vectors of dim numbers; it panics if dim is
// below 1.
func New(dim int) *Index {
	if dim < 1 {
		panic(fmt.Sprintf("dense.New(%d): want at least 1", dim))
	}
	return &Index{dim: dim, at: map[string]int{}}
}

// Len is the number of vectors, zero vectors included.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.ids)
}

// Put adds a vector, or replaces the one with the same id. It copies values.
func (x *Index) Put(id string, values []float32) error {
	norm, err := x.check(values)
	if err != nil {
		return fmt.Errorf("vector of %s: %w", id, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if i, ok := x.at[id]; ok {
		copy(x.data[i*x.dim:], values)
		x.norm[i] = norm
		return nil
	}
	x.at[id] = len(x.ids)
	x.ids = append(x.ids, id)
	x.data = append(x.data, values...)
	x.norm = append(x.norm, norm)
	return nil
}

// Remove takes a vector out and says whether it was there.
func (x *Index) Remove(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	i, ok := x.at[id]
	if !ok {
		return false
	}
	last := len(x.ids) - 1
	x.ids[i], x.norm[i] = x.ids[last], x.norm[last]
	copy(x.data[i*x.dim:(i+1)*x.dim], x.data[last*x.dim:])
	x.at[x.ids[i]] = i
	delete(x.at, id)
	x.ids, x.norm, x.data = x.ids[:last], x.norm[:last], x.data[:last*x.dim]
	return true
}

func (x *Index) check(values []float32) (norm float64, err error) {
	if len(values) != x.dim {
		return 0, fmt.Errorf("%d numbers, want %d", len(values), x.dim)
	}
	norm = math.Sqrt(dot(values, values))
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return 0, fmt.Errorf("holds a number that is not finite")
	}
	return norm, nil
}

// Hit is a passage and its cosine.
type Hit struct {
	ID    string
	Score float64 // -1 to 1, up to rounding
}

// Less orders by score, higher first, then by id.
func (h Hit) Less(o Hit) bool { return compare(h, o) < 0 }

func compare(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// Result is a ranking.
type Result struct {
	Hits  []Hit
	Total int // passages that could be ranked, before the cut
}

// Search returns the k passages nearest to a question's vector, of those that
// allow (nil for all) lets through. For the zero vector there are none.
func (x *Index) Search(ctx context.Context, question []float32, k int, allow func(id string) bool) (Result, error) {
	norm, err := x.check(question)
	if err != nil {
		return Result{}, fmt.Errorf("vector of the question: %w", err)
	}
	if norm == 0 || k <= 0 {
		return Result{}, ctx.Err()
	}
	wide := make([]float64, len(question)) // widened once, not for every passage
	for i, v := range question {
		wide[i] = float64(v)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	parts := min(runtime.GOMAXPROCS(0), 1+len(x.ids)/minPart)
	found := make([]best, parts)
	var wg sync.WaitGroup
	for p := range parts {
		from, to := p*len(x.ids)/parts, (p+1)*len(x.ids)/parts
		wg.Go(func() { found[p] = x.scan(ctx, wide, norm, from, to, k, allow) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("search over %d vectors: %w", len(x.ids), err)
	}
	var r Result
	for _, b := range found {
		r.Hits = append(r.Hits, b.hits...)
		r.Total += b.total
	}
	slices.SortFunc(r.Hits, compare)
	r.Hits = r.Hits[:min(k, len(r.Hits))]
	return r, nil
}

// minPart is the number of vectors for which another goroutine pays.
const minPart = 512

func (x *Index) scan(ctx context.Context, question []float64, norm float64, from, to, k int, allow func(string) bool) best {
	b := best{k: k}
	offer := func(i int, dot float64) { b.offer(Hit{x.ids[i], dot / float64(norm*x.norm[i])}) }
	waiting := -1 // a passage that is measured with the next one
	for i := from; i < to; i++ {
		if i%minPart == 0 && ctx.Err() != nil {
			return b
		}
		if x.norm[i] == 0 || allow != nil && !allow(x.ids[i]) {
			continue
		}
		b.total++
		if waiting < 0 {
			waiting = i
			continue
		}
		first, second := dots(question, x.vector(waiting), x.vector(i))
		offer(waiting, first)
		offer(i, second)
		waiting = -1
	}
	if waiting >= 0 {
		last, _ := dots(question, x.vector(waiting), x.vector(waiting))
		offer(waiting, last)
	}
	return b
}

func (x *Index) vector(i int) []float32 { return x.data[i*x.dim : (i+1)*x.dim] }

// dot sums in four lanes, which lets a processor work on them at once. Every
// product is exact, so fusing it with the addition changes nothing.
func dot(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(float64(a[i]) * float64(b[i]))
		s1 += float64(float64(a[i+1]) * float64(b[i+1]))
		s2 += float64(float64(a[i+2]) * float64(b[i+2]))
		s3 += float64(float64(a[i+3]) * float64(b[i+3]))
	}
	for ; i < len(a); i++ {
		s0 += float64(float64(a[i]) * float64(b[i]))
	}
	return (s0 + s1) + (s2 + s3)
}

// dots is [dot] of a, whose numbers are float32 ones, with b and with c. Two at
// once keep a processor busy that would wait for the four sums of one; the
// sums themselves are those of dot, to the bit.
func dots(a []float64, b, c []float32) (ab, ac float64) {
	b, c = b[:len(a)], c[:len(a)]
	var b0, b1, b2, b3, c0, c1, c2, c3 float64
	for len(a) >= 4 && len(b) >= 4 && len(c) >= 4 {
		b0 += float64(a[0] * float64(b[0]))
		b1 += float64(a[1] * float64(b[1]))
		b2 += float64(a[2] * float64(b[2]))
		b3 += float64(a[3] * float64(b[3]))
		c0 += float64(a[0] * float64(c[0])) // apart from b's: interleaved, they do not fit the registers
		c1 += float64(a[1] * float64(c[1]))
		c2 += float64(a[2] * float64(c[2]))
		c3 += float64(a[3] * float64(c[3]))
		a, b, c = a[4:], b[4:], c[4:]
	}
	for i := range a {
		b0 += float64(a[i] * float64(b[i]))
		c0 += float64(a[i] * float64(c[i]))
	}
	return (b0 + b1) + (b2 + b3), (c0 + c1) + (c2 + c3)
}

// best keeps the k first hits as a heap with the last of them on top.
type best struct {
	k     int
	total int
	hits  []Hit
}

func (b *best) Len() int           { return len(b.hits) }
func (b *best) Less(i, j int) bool { return b.hits[j].Less(b.hits[i]) }
func (b *best) Swap(i, j int)      { b.hits[i], b.hits[j] = b.hits[j], b.hits[i] }
func (b *best) Push(h any)         { b.hits = append(b.hits, h.(Hit)) }
func (b *best) Pop() any           { panic("dense: a best list only grows or replaces") }

func (b *best) offer(h Hit) {
	if len(b.hits) < b.k {
		heap.Push(b, h)
	} else if h.Less(b.hits[0]) {
		b.hits[0] = h
		heap.Fix(b, 0)
	}
}
