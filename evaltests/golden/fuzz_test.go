package golden_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// Whatever the bytes, reading a golden ends; an error names the file and comes
// alone; what was read can be checked without a panic.
func FuzzRead(f *testing.F) {
	dir := blessed(f, rows(2, entries(3)))
	f.Add(read(f, dir, golden.CurrentFile))
	f.Add(read(f, dir, golden.LedgerFile))
	f.Add(`{"v":1,"suite":"s","k":10}` + "\n" + `{"case":"a","digest":"","ids":["x","x"],"scores":[1e308,-1e308]}`)
	f.Add("\ufeff\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		path := filepath.Join(dir, golden.CurrentFile)
		put(t, dir, golden.CurrentFile, text)
		put(t, dir, golden.LedgerFile, text)
		if _, err := golden.ReadLedger(dir); err != nil && !strings.HasPrefix(err.Error(), filepath.Join(dir, golden.LedgerFile)+":") {
			t.Fatalf("error without a place: %v", err)
		}
		g, err := golden.Read(path)
		if err != nil {
			if g != nil || !strings.HasPrefix(err.Error(), path+":") {
				t.Fatalf("%v beside the error %v", g, err)
			}
			return
		}
		for _, c := range g.Cases {
			r, err := golden.Check([]string{"x", "y"}, golden.List{IDs: c.IDs, Scores: c.Scores}, 10, golden.DefaultEpsilon, golden.Current)
			if err == nil && (r.RBO < 0 || r.RBO > 1) {
				t.Fatalf("overlap %v", r.RBO)
			}
		}
	})
}

// FuzzReadPending: whatever a run folder brings, reading it ends with a value
// or an error, and what was read can be written and read again.
func FuzzReadPending(f *testing.F) {
	f.Add([]byte(`{"v":2,"suite":"s","k":10,"treatment":"","class":"","tool":"","why":"","when":""}` + "\n" + `{"case":"q","digest":"d","ids":["a"],"scores":[1],"state":"new"}` + "\n"))
	f.Add([]byte("{"))
	f.Add([]byte("{}\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := t.TempDir()
		path := golden.PendingPath(folder, "s", "base")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := golden.ReadPending(path)
		if err != nil || len(p.Cases) == 0 {
			return
		}
		if _, err := golden.Reject(folder, "s", "base", nil, "no"); err != nil {
			t.Fatal(err)
		}
		again, err := golden.ReadPending(path)
		if err != nil || len(again.Cases) != len(p.Cases) {
			t.Fatalf("%d cases became %d: %v", len(p.Cases), len(again.Cases), err)
		}
		for _, c := range again.Cases {
			if c.Rejected != "no" {
				t.Fatalf("case %q was not rejected", c.Key)
			}
		}
	})
}

// FuzzCanonicalLine: what the fast reader accepts, the strict one reads alike.
func FuzzCanonicalLine(f *testing.F) {
	for _, line := range []string{
		`{"case":"q","digest":"d","ids":["a","b"],"scores":[1,0.5]}`,
		`{"case":"q","stage":"lexical","digest":"d","ids":["ü"],"scores":[-1e-300]}`,
		`{"case":"q","digest":"d","ids":[],"scores":[]}`,
		`{"case":"q","digest":"d","ids":["a"],"scores":[01]}`,
		`{"case":"q","digest":"d","ids":["a"],"scores":[1,]}`,
		`{"case":"q","digest":"d","ids":["a",],"scores":[0x1p4]}`,
		`{"case":"q","digest":"d","ids":["a"],"scores":[1] }`,
		`{"case":"q\u0041","digest":"d","ids":["a"],"scores":[1]}`,
		`{"case":"q","digest":"d","ids":["a"],"scores":[1]},"x":[2]}`,
		"{\"case\":\"q\x00\",\"digest\":\"d\",\"ids\":[],\"scores\":[]}",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !utf8.ValidString(line) {
			return // refused before either reader sees it
		}
		fast, ok := golden.CanonicalLine(line)
		if !ok {
			return
		}
		var slow golden.Case
		if err := strict.JSON([]byte(line), &slow, true); err != nil {
			t.Fatalf("%s: the strict reader refuses it: %v", line, err)
		}
		if !reflect.DeepEqual(fast, slow) {
			t.Fatalf("%s: read as %v and as %v", line, fast, slow)
		}
	})
}
