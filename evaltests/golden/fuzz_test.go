package golden_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
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
