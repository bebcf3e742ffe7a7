package pack_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

var (
	benchDocuments = flag.Int("documents", 20_000, "documents of the synthetic BEIR folder of BenchmarkScanAndLock")
	benchQuestions = flag.Int("questions", 2_000, "questions of it")
)

// mapSize is what a map with one judgement takes: its head, and a group of
// eight slots.
const mapSize = 48 + 8 + 8*24

// synthetic writes a BEIR folder and returns how many bytes of it must be
// held: the ids of documents, and ids, texts and gold of questions.
func synthetic(tb testing.TB, documents, questions int) (dir string, held int64) {
	tb.Helper()
	dir = tb.TempDir()
	write := func(file string, n int, line func(w *bufio.Writer, i int)) {
		f, err := os.Create(filepath.Join(dir, file))
		if err != nil {
			tb.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		for i := range n {
			line(w, i)
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
		if err := f.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	id := func(i int) string { return fmt.Sprintf("d%07d", i*7919%documents) }
	write("corpus.jsonl", documents, func(w *bufio.Writer, i int) {
		held += int64(len(id(i)))
		fmt.Fprintf(w, "{\"_id\":%q,\"title\":\"document %d\",\"text\":\"words on the subject of %d and %d, as many as an abstract might have: rye, oven, mill, flour, dough, salt, water, yeast, linen, beech, night, morning, noon, town, river, harbour, mast, rope, sail, keel, anchor, chain, tide and wind\"}\n", id(i), i, i, i*31%1000)
	})
	write("queries.jsonl", questions, func(w *bufio.Writer, i int) {
		text := fmt.Sprintf("what is said on the subject of %d?", i)
		held += int64(len(text)) + 8
		fmt.Fprintf(w, "{\"_id\":\"q%07d\",\"text\":%q}\n", i, text)
	})
	write("qrels.tsv", questions, func(w *bufio.Writer, i int) { fmt.Fprintf(w, "q%07d\t%s\t1\n", i, id(i*10%documents)) })
	return dir, held
}

// What must be held of a corpus to pin it are the ids of its documents, since
// they must be unique and gold must name them, and its cases, which the lock
// lists. All above that, at its peak, is bytes/document. The flags -documents
// and -questions set the size; make bench-packs takes a million and 100,000.
func BenchmarkScanAndLock(b *testing.B) {
	dir, held := synthetic(b, *benchDocuments, *benchQuestions)
	held += int64(*benchQuestions) * (int64(unsafe.Sizeof(pack.Case{})) + mapSize)
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // as touchstone pack lock and check have it
	for b.Loop() {
		debug.FreeOSMemory()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		var peak atomic.Uint64
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if m.HeapAlloc > peak.Load() {
					peak.Store(m.HeapAlloc)
				}
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		start := time.Now()
		p, err := pack.Scan(dir, pack.Options{})
		if err != nil {
			b.Fatal(err)
		}
		lock, err := p.Lock()
		if err != nil {
			b.Fatal(err)
		}
		wall := time.Since(start)
		close(stop)
		<-stopped
		if lock.Counts.Documents != *benchDocuments || lock.Counts.Cases != *benchQuestions {
			b.Fatalf("counts %+v", lock.Counts)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
		above := float64(int64(peak.Load()-before.HeapAlloc)-held) / float64(*benchDocuments)
		b.ReportMetric(float64(*benchDocuments), "documents")
		b.ReportMetric(above, "bytes/document")
		b.ReportMetric(float64(peak.Load()-before.HeapAlloc)/1e6, "peak-MB")
		b.ReportMetric(float64(held)/1e6, "held-MB")
		b.ReportMetric(wall.Seconds(), "wall-s")
	}
}
