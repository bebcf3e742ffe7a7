package trec

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzReadQrels(f *testing.F) {
	for _, s := range []string{"q 0 a 1\n", "q 0 a 1\r\n\n# c\nq 0 b -1", "\xef\xbb\xbfq\v0\fa 1", "q 0 a 1.9\n", "q 0 a 1\nq 0 a 1\n", "#", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := ReadQrels("f", bytes.NewReader(data))
		for _, size := range []int{1, 50} {
			fast, ferr := fastQrels(data, size)
			if (err == nil) != (ferr == nil) {
				t.Fatalf("strict reader: %v; fast reader: %v", err, ferr)
			}
			if diff := cmp.Diff(q, fast); diff != "" {
				t.Errorf("strict (-) and fast (+):\n%s", diff)
			}
		}
		if err != nil {
			if q != nil {
				t.Error("judgements beside an error")
			}
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error %q does not start with the place", err)
			}
			return
		}
		var out bytes.Buffer
		if err := q.Write(&out); err != nil {
			return // an id that cannot be written back
		}
		again, err := ReadQrels("f", &out)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(q, again); diff != "" {
			t.Errorf("read (-), written and read again (+):\n%s", diff)
		}
	})
}

// fastQrels collects what the fast reader sees, in pieces of about a size.
func fastQrels(data []byte, size int) (Qrels, error) {
	r := &goldReader{golds: make(map[string]*gold), parts: make(map[string]int)}
	if err := r.work(&chunks{r: bytes.NewReader(data), size: size}); err != nil {
		return nil, err
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	if len(r.golds) == 0 {
		return nil, errStrict
	}
	q := make(Qrels)
	for question, g := range r.golds {
		for i, id := range g.ids {
			if err := q.add(question, id, g.grades[i]); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

// FuzzReadRun holds the two readers to each other: the strict one that knows
// lines, and the fast one that cuts the file into pieces.
func FuzzReadRun(f *testing.F) {
	for _, s := range []string{
		"q Q0 a 1 2.5 t\nq Q0 b 2 1 t\nr Q0 a 1 3 u\n", "q Q0 a 1 0x1 t\n", "q Q0 a 1 nan t", "q Q0 a 1 1e400 t",
		" q\tQ0\va\f1 1 t extra\r\n\n#x\nq Q0 b 1 .5 t", "\xef\xbb\xbfq Q0 a 1 5. t", "q Q0 a 1 1 t\nq Q0 a 1 1 t\n",
		"q Q0 a 1 1\n", "q Q0 a\x01b 1 -12345678901234567890.5 t\nqq Q0 a 1 +1e-5 t\nq Q0 z 1 1 t", "q Q0 a 1 1 t\n\xef\xbb\xbfq Q0 a 1 1 t",
	} {
		f.Add([]byte(s), 1)
		f.Add([]byte(s), 40)
	}
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		run, err := ReadRun("f", bytes.NewReader(data))
		if err != nil && run != nil {
			t.Error("a run beside an error")
		}
		fast, ferr := fastRun(data, 1+size&0xfff)
		if (err == nil) != (ferr == nil) {
			t.Fatalf("strict reader: %v; fast reader: %v", err, ferr)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(run.hits, fast.hits); diff != "" {
			t.Errorf("hits, strict (-) and fast (+):\n%s", diff)
		}
		if run.Tag != fast.Tag {
			t.Errorf("tag %q, fast reader %q", run.Tag, fast.Tag)
		}
	})
}

// fastRun collects what the fast reader sees, in pieces of about a size.
func fastRun(data []byte, size int) (*Run, error) {
	run := NewRun("")
	source := &chunks{r: bytes.NewReader(data), size: size}
	var buf []byte
	var g group
	for {
		p, ok, err := source.next(&buf)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		tag, err := eachGroup(p, &g, func(g *group) error {
			for i, id := range g.ids {
				if err := run.Add(string(g.question), Hit{string(id), g.scores[i]}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if tag != nil {
			run.Tag = string(tag)
		}
	}
	if len(run.hits) == 0 {
		return nil, errStrict
	}
	return run, nil
}

// Pieces must hold whole questions wherever the cut falls.
func TestPiecesHoldWholeQuestions(t *testing.T) {
	data := []byte("q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\n\n# note\nq2 Q0 a 1 3 t\nq2 Q0 b 2 2 t\nq3 Q0 a 1 1 t")
	for size := 1; size < len(data)+5; size++ {
		source := &chunks{r: bytes.NewReader(data), size: size}
		var buf []byte
		var g group
		seen := make(map[string]int)
		for {
			p, ok, err := source.next(&buf)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if _, err := eachGroup(p, &g, func(g *group) error { seen[string(g.question)]++; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(map[string]int{"q1": 1, "q2": 1, "q3": 1}, seen); diff != "" {
			t.Fatalf("size %d: groups of each question (-want +got):\n%s", size, diff)
		}
	}
}

func TestHitLogKeepsOrder(t *testing.T) {
	var l hitLog
	var want group
	for i := range 5000 {
		id := []byte(strings.Repeat("x", i%300))
		l.add(id, float64(i))
		want.ids, want.scores = append(want.ids, id), append(want.scores, float64(i))
	}
	var got group
	l.unpack(&got)
	if len(got.ids) != l.hits {
		t.Fatalf("%d hits, want %d", len(got.ids), l.hits)
	}
	for i := range want.ids {
		if string(got.ids[i]) != string(want.ids[i]) || got.scores[i] != want.scores[i] {
			t.Fatalf("hit %d: %q %v, want %q %v", i, got.ids[i], got.scores[i], want.ids[i], want.scores[i])
		}
	}
}

func BenchmarkEachGroup(b *testing.B) {
	data := bytes.Repeat([]byte("q123 Q0 d1234567 1 12.345678 tag\n"), 20000)
	buf := append(data, append([]byte("\n"), make([]byte, slack)...)...)
	var g group
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := eachGroup(piece{data: buf[:len(data)]}, &g, func(*group) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
