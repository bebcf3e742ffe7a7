package pack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// whole fails the test if a load gave part of a pack beside an error, an error
// without a place, or a pack that breaks its own promises.
func whole(t *testing.T, dir string, p *Pack, err error) {
	t.Helper()
	if err != nil {
		if p != nil {
			t.Fatalf("a pack beside the error %v", err)
		}
		if !strings.HasPrefix(err.Error(), dir) {
			t.Fatalf("error without a place: %v", err)
		}
		return
	}
	ids := map[string]bool{}
	for _, d := range p.Documents {
		if d.ID == "" || ids[d.ID] || !utf8.ValidString(d.Text) {
			t.Fatalf("document %q is empty, there twice, or not UTF-8", d.ID)
		}
		ids[d.ID] = true
	}
	for _, c := range p.Cases {
		if c.Question.ID == "" || strings.TrimSpace(c.Question.Text) == "" || (c.Gold.Answerable && c.Unjudged == "") != (c.Gold.Relevant() > 0) {
			t.Fatalf("case %+v cannot be asked", c)
		}
		for id := range c.Gold.Grades {
			if !ids[id] {
				t.Fatalf("gold %q is not in the corpus", id)
			}
		}
	}
	if _, err := p.Lock(); err != nil {
		t.Fatalf("cannot be pinned: %v", err)
	}
}

func fuzzFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func FuzzBEIRCorpus(f *testing.F) {
	for _, seed := range []string{
		`{"_id":"d","text":"x"}`, `{"_id":"d","text":"x","metadata":{"n":1e400,"b":false,"s":"\ud800","o":{}}}`,
		"\ufeff{\"_id\":\"d\",\"text\":\"\"}\r\n{\"_id\":\"d\",\"text\":\"\"}", `{"_id":"d","text":null}`, `[]`, `{"_id":"d","text":"x"}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, corpus string) {
		dir := fuzzFolder(t, map[string]string{
			"corpus.jsonl": corpus, "queries.jsonl": `{"_id":"q","text":"why?"}`, "qrels.tsv": "q\td\t1\n",
		})
		p, err := Load(dir, Options{})
		whole(t, dir, p, err)
	})
}

func FuzzQrels(f *testing.F) {
	for _, seed := range []string{
		"query-id\tcorpus-id\tscore\nq\td\t1\n", "q\td\t-1\n", "q\td\t1\nq\td\t2\n", "q\td\t1\r\n", "\tq\td\t1", "q\td\t99999999999999999999", "q d 1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, qrels string) {
		dir := fuzzFolder(t, map[string]string{
			"corpus.jsonl": `{"_id":"d","text":"x"}` + "\n" + `{"_id":"e","text":"y"}`, "queries.jsonl": `{"_id":"q","text":"why?"}`, "qrels.tsv": qrels,
		})
		p, err := Load(dir, Options{})
		whole(t, dir, p, err)
	})
}

func FuzzNumpyStrings(f *testing.F) {
	for _, seed := range []string{`['a' "b's"]`, `['\xe9\u2615\U0001F600\'']`, `[]`, `['a''b']`, `['a`, `['\`, `['\xZZ']`, "['\\x\x11\x12']", `['\ud800']`, "['a'\n 'b']"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := numpyStrings(s)
		if err != nil && got != nil {
			t.Fatalf("%q beside the error %v", got, err)
		}
		total := 0
		for _, text := range got {
			if utf8.ValidString(s) && !utf8.ValidString(text) {
				t.Fatalf("%q became %q, which is not UTF-8", s, text)
			}
			total += len(text)
		}
		if total > len(s) {
			t.Fatalf("%d bytes of text from %d bytes", total, len(s))
		}
		if ints, err := numpyInts(s); err != nil && ints != nil {
			t.Fatalf("%q beside the error %v", ints, err)
		}
	})
}

func TestNumpyStringsRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"no brackets":             `'a'`,
		"not closed":              `['a]`,
		"commas":                  `['a', 'b']`,
		"two strings at once":     `['a''b']`,
		"backslash at the end":    `['a\`,
		"backslash and bracket":   `['a\]`,
		"unknown escape":          `['\q']`,
		"escape cut short":        `['\xe']`,
		"escape that is no digit": `['\xg0']`,
		"control bytes as digits": "['\\x\x11\x12']",
		"half a surrogate pair":   `['\ud83d']`,
		"beyond Unicode":          `['\U00110000']`,
		"negative when signed":    `['\UFFFFFFFF']`,
	} {
		if got, err := numpyStrings(s); err == nil {
			t.Errorf("%s: %s became %q", name, s, got)
		}
	}
}

func FuzzManifest(f *testing.F) {
	for _, seed := range []string{"name = \"k\"\nversion = \"1\"\nunit = \"document\"\nformat = \"beir\"\nrole = \"guard\"\nauthored = \"self\"\n", "name = 1", "[x]", "strata = [\"a\", 1]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest("pack.toml", data)
		switch {
		case err == nil:
			if wrong := m.problems(); wrong != nil {
				t.Fatalf("accepted with %v", wrong)
			}
		case m.Name != "" || m.Strata != nil:
			t.Fatalf("%+v beside the error %v", m, err)
		case !strings.HasPrefix(err.Error(), "pack.toml:"):
			t.Fatalf("error without a place: %v", err)
		}
	})
}
