package trec_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

// write makes a file and gives its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func measures(t *testing.T, names ...string) []metric.Measure {
	t.Helper()
	ms, err := metric.ParseAll(names)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// evaluate measures two files given as text.
func evaluate(t *testing.T, qrels, run string, o trec.Options) (*trec.Result, error) {
	t.Helper()
	return trec.Evaluate(write(t, "gold.qrels", qrels), write(t, "a.run", run), o)
}

func value(t *testing.T, r *trec.Result, name string) float64 {
	t.Helper()
	v, ok := r.Value(name)
	if !ok {
		t.Fatalf("the result has no %s", name)
	}
	return v
}
