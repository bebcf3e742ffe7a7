package trec_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

// The page on measures names every measure and order, and only tests that
// there are.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, name := range metric.Names() {
		if !regexp.MustCompile("`" + name + "[@`]").MatchString(text) {
			t.Errorf("docs/metrics.md does not name the measure %s", name)
		}
	}
	for _, o := range trec.Orders() {
		if !strings.Contains(text, "| `"+string(o)+"` |") {
			t.Errorf("docs/metrics.md does not name the order %s", o)
		}
	}
	var sources strings.Builder
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		sources.Write(source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(text, -1)
	if len(named) < 10 {
		t.Errorf("docs/metrics.md names %d tests, want one for each departure", len(named))
	}
	for _, m := range named {
		if !strings.Contains(sources.String(), "\nfunc "+m[1]+"(t *testing.T)") {
			t.Errorf("docs/metrics.md names %s, which is no test", m[1])
		}
	}
}
