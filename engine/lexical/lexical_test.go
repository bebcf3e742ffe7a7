package lexical

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func create(t testing.TB) *Index {
	t.Helper()
	x, err := Create(filepath.Join(t.TempDir(), "lexical"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// build indexes docs in batches of a size.
func build(t testing.TB, batch int, docs ...Document) *Index {
	t.Helper()
	x := create(t)
	for part := range slices.Chunk(docs, batch) {
		if err := x.Apply(part, nil, "s"); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func totals(docs []Document) Totals {
	sum := Totals{Passages: len(docs)}
	for _, d := range docs {
		sum.Tokens += Tokens(d.Title, d.Text)
	}
	return sum
}

func rank(t testing.TB, x *Index, docs []Document, question string) []Hit {
	t.Helper()
	r, err := x.Search(t.Context(), Query{Text: question, K: 1000, Totals: totals(docs)})
	if err != nil {
		t.Fatalf("search %q: %v", question, err)
	}
	return r.Hits
}

func ids(hits []Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// generate makes documents over a small vocabulary, so that many share terms
// and some are equal.
func generate(rng *rand.Rand, n int) []Document {
	docs := make([]Document, n)
	for i := range docs {
		var b strings.Builder
		for range 1 + rng.IntN(60) {
			fmt.Fprintf(&b, "word%c%c ", 'a'+rng.IntN(6), 'a'+rng.IntN(6))
		}
		docs[i] = Document{ID: fmt.Sprintf("d%03d", i), Title: fmt.Sprintf("title%d", i%7), Text: b.String()}
		if i%5 == 4 {
			docs[i].Title, docs[i].Text = docs[i-3].Title, docs[i-3].Text
		}
	}
	return docs
}

const longQuestion = "wordaa wordab wordac wordba wordbb wordbc wordca wordcb wordcc worddd wordee wordff wordaf wordfa title1 title2"

func TestRankingDoesNotDependOnHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	docs := generate(rng, 120)
	questions := []string{"wordaa", "wordab wordcd title3", longQuestion}
	want := map[string][]Hit{}
	reference := build(t, len(docs), docs...)
	for _, q := range questions {
		want[q] = rank(t, reference, docs, q)
		if len(want[q]) == 0 {
			t.Fatalf("%q matches nothing: the test would show nothing", q)
		}
	}
	shuffled := func() []Document {
		out := slices.Clone(docs)
		rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	extra := Document{ID: "extra", Title: "title3", Text: longQuestion}
	for name, make := range map[string]func() *Index{
		"again":          func() *Index { return build(t, len(docs), docs...) },
		"one by one":     func() *Index { return build(t, 1, docs...) },
		"shuffled":       func() *Index { return build(t, len(docs), shuffled()...) },
		"shuffled by 7":  func() *Index { return build(t, 7, shuffled()...) },
		"indexed twice":  func() *Index { return build(t, 11, append(shuffled(), shuffled()...)...) },
		"old text first": func() *Index { return build(t, 50, append([]Document{{ID: "d003", Text: longQuestion}}, docs...)...) },
		"added and removed": func() *Index {
			x := build(t, 30, append(shuffled(), extra)...)
			if err := x.Apply(nil, []string{extra.ID}, "s2"); err != nil {
				t.Fatal(err)
			}
			return x
		},
		"removed and added": func() *Index {
			x := build(t, 30, shuffled()...)
			for _, d := range docs[10:20] {
				if err := errors.Join(x.Apply(nil, []string{d.ID}, "s2"), x.Apply([]Document{d}, nil, "s3")); err != nil {
					t.Fatal(err)
				}
			}
			return x
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := make()
			for _, q := range questions {
				if diff := cmp.Diff(want[q], rank(t, x, docs, q)); diff != "" {
					t.Errorf("%q (-one batch +%s):\n%s", q, name, diff)
				}
			}
		})
	}
}

// TestEqualScores is bleve issue 1677: the order of equal scores follows the
// order in which batches were analysed.
func TestEqualScores(t *testing.T) {
	for i := range 20 {
		var docs []Document
		for _, id := range []string{"e", "d", "c", "b", "a"} {
			docs = append(docs, Document{ID: id, Text: "alpha fox"})
		}
		x := build(t, 1+i%5, docs...)
		if got := strings.Join(ids(rank(t, x, docs, "fox")), ""); got != "abcde" {
			t.Fatalf("build %d: order %s, want abcde", i, got)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEqualPassagesScoreEqual holds for questions of more than ten terms too,
// where bleve adds a passage's parts in the order of a heap.
func TestEqualPassagesScoreEqual(t *testing.T) {
	docs := generate(rand.New(rand.NewPCG(2, 2)), 200)
	text := map[string]string{}
	for _, d := range docs {
		text[d.ID] = content(d.Title, d.Text)
	}
	score := map[string]float64{}
	hits := rank(t, build(t, 17, docs...), docs, longQuestion)
	for _, h := range hits {
		if first, seen := score[text[h.ID]]; seen && first != h.Score {
			t.Errorf("%s scores %v, an equal passage %v", h.ID, h.Score, first)
		}
		score[text[h.ID]] = h.Score
	}
	if len(score) == len(hits) {
		t.Fatal("no two passages are equal: the test would show nothing")
	}
}

// TestScoresAreBleves compares with bleve's own match query, given the same
// totals: only the last bits may differ.
func TestScoresAreBleves(t *testing.T) {
	docs := generate(rand.New(rand.NewPCG(3, 3)), 80)
	x := build(t, len(docs), docs...)
	all := totals(docs)
	for _, q := range []string{"wordaa", "wordaa wordaa wordbb", longQuestion, "absent wordab", "The wordab of wordba"} {
		match := bleve.NewMatchQuery(q)
		match.SetField(field)
		ctx := context.WithValue(t.Context(), search.BM25StatsKey, &search.BM25Stats{
			DocCount: float64(all.Passages), FieldCardinality: map[string]int{field: all.Tokens},
		})
		found, err := x.bleve.SearchInContext(ctx, bleve.NewSearchRequestOptions(match, len(docs), 0, false))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{}
		for _, h := range found.Hits {
			want[h.ID] = h.Score
		}
		got := rank(t, x, docs, q)
		if len(got) == 0 || len(got) != len(want) {
			t.Fatalf("%q: %d hits, bleve has %d", q, len(got), len(want))
		}
		// A repeated term scales bleve's norm of the question, and with it
		// all scores alike.
		scale := got[0].Score / want[got[0].ID]
		for _, h := range got {
			if math.Abs(h.Score/want[h.ID]/scale-1) > 1e-9 {
				t.Errorf("%q: %s scores %v, bleve says %v (scale %v)", q, h.ID, h.Score, want[h.ID], scale)
			}
		}
	}
}

// TestTokens holds the count made at ingest to the length that bleve stores
// with a passage: the totals are only true if both are the same.
func TestTokens(t *testing.T) {
	length := regexp.MustCompile(`fieldLength=([0-9.]+)`)
	for _, tc := range []struct {
		name, title, text string
		want              int
	}{
		{"stop words do not count", "", "the fox and the hound fox", 3},
		{"title counts", "red fox", "hound fox", 4},
		{"no title", "", "fox", 1},
		{"possessive and punctuation", "", "the fox's den -- it isn't fox", 3},
		{"repeated", "", strings.Repeat("fox ", 1000), 1000},
		{"other scripts", "", "fox שלום 狐狸 🦊", 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := Document{ID: "d", Title: tc.title, Text: tc.text}
			x := build(t, 1, d)
			r, err := x.Search(t.Context(), Query{Text: "fox", K: 1, Totals: Totals{1, 1}, Explain: true})
			if err != nil || len(r.Hits) != 1 {
				t.Fatalf("%d hits, %v", len(r.Hits), err)
			}
			m := length.FindStringSubmatch(r.Hits[0].Explain)
			if m == nil {
				t.Fatalf("bleve does not say the length:\n%s", r.Hits[0].Explain)
			}
			stored, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if got := Tokens(tc.title, tc.text); got != tc.want || math.Round(stored) != float64(tc.want) {
				t.Errorf("Tokens = %d, bleve stores %v, want %d", got, stored, tc.want)
			}
		})
	}
}

func TestTotalsDecideTheAverage(t *testing.T) {
	docs := []Document{{ID: "long", Text: "fox fox " + strings.Repeat("hound ", 30)}, {ID: "short", Text: "fox"}}
	x := build(t, 2, docs...)
	for _, tc := range []struct {
		name  string
		all   Totals
		first string
	}{
		{"as they are", totals(docs), "short"},
		{"a collection of long passages", Totals{Passages: 2, Tokens: 2_000_000}, "long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := x.Search(t.Context(), Query{Text: "fox", K: 2, Totals: tc.all})
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(r.Hits); len(got) != 2 || got[0] != tc.first {
				t.Errorf("order %v, want %s first", got, tc.first)
			}
		})
	}
}

// Hostile questions: every one is valid, and a passage with the same text is
// found unless no term is left of it.
var hostile = []struct {
	text  string
	terms bool
}{
	{"multi-agent", true}, {"POL-358", true}, {"ubuntu 20.04", true}, {"C++", true}, {"a@b.org", true},
	{"fox AND", true}, {"-fox", true}, {"text:fox", true}, {"fox~2 fo* /f.x/", true}, {"(fox", true}, {`"fox`, true},
	{"fox^9", true}, {"+fox -hound", true}, {"_id:a", true}, {"{\"match_all\":{}}", true}, {"שלום עולם", true}, {"狐狸", true},
	{"x\x00y", true}, {"fox\xff", true}, {"🦊 fox", true},
	{"don't", false}, {"what is this?", false}, {`""`, false}, {"", false}, {"\x00", false}, {" \n\t", false}, {"*", false},
}

func TestHostileQuestions(t *testing.T) {
	for i, tc := range hostile {
		t.Run(fmt.Sprintf("%02d", i), func(t *testing.T) {
			docs := []Document{{ID: "a", Text: "unrelated words"}, {ID: "b", Title: "title", Text: tc.text}}
			x := build(t, 2, docs...)
			r, err := x.Search(t.Context(), Query{Text: tc.text, K: 10, Totals: totals(docs)})
			if err != nil {
				t.Fatalf("%q: %v", tc.text, err)
			}
			if got := r.Terms > 0; got != tc.terms {
				t.Fatalf("%q has %d terms, want any: %v", tc.text, r.Terms, tc.terms)
			}
			want := []string{}
			if tc.terms {
				want = []string{"b"}
			}
			if diff := cmp.Diff(want, ids(r.Hits)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tc.text, diff)
			}
		})
	}
}

func TestVeryLongQuestion(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	b.WriteString(strings.Repeat("fox ", 5000))
	docs := []Document{{ID: "a", Text: "fox"}, {ID: "b", Text: "w7 w8 w9 and w10"}, {ID: "c", Text: "hound"}}
	r, err := build(t, 3, docs...).Search(t.Context(), Query{Text: b.String(), K: 10, Totals: totals(docs)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Terms != 3001 || len(r.Hits) != 2 || r.Total != 2 {
		t.Errorf("%d terms, %d hits of %d, want 3001 and 2 of 2", r.Terms, len(r.Hits), r.Total)
	}
}

func TestAllowComesBeforeTheCut(t *testing.T) {
	docs := generate(rand.New(rand.NewPCG(4, 4)), 150)
	x := build(t, 40, docs...)
	all := rank(t, x, docs, longQuestion)
	for _, every := range []int{1, 2, 10, 49, 1000} {
		allowed := func(id string) bool { n, _ := strconv.Atoi(id[1:]); return n%every == 1%every }
		want := []Hit{}
		for _, h := range all {
			if allowed(h.ID) {
				want = append(want, h)
			}
		}
		total := len(want)
		want = want[:min(5, len(want))]
		r, err := x.Search(t.Context(), Query{Text: longQuestion, K: 5, Totals: totals(docs), Allow: allowed})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Hits); diff != "" || r.Total != total {
			t.Errorf("one in %d: total %d, want %d (-want +got):\n%s", every, r.Total, total, diff)
		}
	}
}

func TestExplainAndKChangeNoRanking(t *testing.T) {
	docs := generate(rand.New(rand.NewPCG(5, 5)), 100)
	x := build(t, 20, docs...)
	want := rank(t, x, docs, longQuestion)
	for _, k := range []int{1, 3, 10, 99} {
		for _, explain := range []bool{false, true} {
			r, err := x.Search(t.Context(), Query{Text: longQuestion, K: k, Totals: totals(docs), Explain: explain})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Hits {
				if got := r.Hits[i].Explain != ""; got != explain {
					t.Fatalf("explain %v, hit %d has one: %v", explain, i, got)
				}
				r.Hits[i].Explain = ""
			}
			if diff := cmp.Diff(want[:min(k, len(want))], r.Hits); diff != "" {
				t.Errorf("k %d, explain %v (-want +got):\n%s", k, explain, diff)
			}
		}
	}
}

func TestCancelledSearchFails(t *testing.T) {
	docs := generate(rand.New(rand.NewPCG(6, 6)), 10)
	x := build(t, 10, docs...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := x.Search(ctx, Query{Text: longQuestion, K: 5, Totals: totals(docs)}); !errors.Is(err, context.Canceled) {
		t.Errorf("%d hits, error %v, want %v", len(r.Hits), err, context.Canceled)
	}
}

func TestStateAndCountsSurviveReopening(t *testing.T) {
	x := create(t)
	if state, err := x.State(); state != "" || err != nil {
		t.Errorf("new index: state %q, %v", state, err)
	}
	docs := generate(rand.New(rand.NewPCG(7, 7)), 30)
	if err := errors.Join(x.Apply(docs, nil, "one"), x.Apply(docs[:5], []string{"d007", "absent"}, "two"), x.Close()); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		x, err := Open(x.path, readOnly)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		state, err := x.State()
		n, countErr := x.Count()
		seen := map[string]bool{}
		eachErr := x.Each(t.Context(), func(id string) error { seen[id] = true; return nil })
		if err := errors.Join(err, countErr, eachErr); err != nil {
			t.Fatal(err)
		}
		if state != "two" || n != 29 || len(seen) != 29 || seen["d007"] {
			t.Errorf("read-only %v: state %q, %d passages, %d enumerated", readOnly, state, n, len(seen))
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamage: an index that lost something is either refused, or does not
// claim to have seen the last write. bleve itself opens an index without its
// segment files, and goes back to an older snapshot.
func TestDamage(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, path string) error
	}{
		{"absent", func(t *testing.T, path string) error { return os.RemoveAll(path) }},
		{"nothing but the folder", func(t *testing.T, path string) error {
			return errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o755))
		}},
		{"a file in its place", func(t *testing.T, path string) error {
			return errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600))
		}},
		{"no store", func(t *testing.T, path string) error { return os.RemoveAll(filepath.Join(path, "store")) }},
		{"no meta file", func(t *testing.T, path string) error { return os.Remove(filepath.Join(path, "index_meta.json")) }},
		{"meta file is noise", func(t *testing.T, path string) error {
			return os.WriteFile(filepath.Join(path, "index_meta.json"), []byte("\x00{"), 0o600)
		}},
		{"no segment files", func(t *testing.T, path string) error {
			files, err := filepath.Glob(filepath.Join(path, "store", "*.zap"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%d segment files, %v", len(files), err)
			}
			for _, f := range files {
				err = errors.Join(err, os.Remove(f))
			}
			return err
		}},
		{"segment files cut short", func(t *testing.T, path string) error {
			files, err := filepath.Glob(filepath.Join(path, "store", "*.zap"))
			for _, f := range files {
				err = errors.Join(err, os.Truncate(f, 10))
			}
			return err
		}},
		{"root file is noise", func(t *testing.T, path string) error {
			return os.WriteFile(filepath.Join(path, "store", "root.bolt"), []byte(strings.Repeat("noise", 5000)), 0o600)
		}},
		{"another format", func(t *testing.T, path string) error {
			x, err := Open(path, false)
			if err != nil {
				return err
			}
			return errors.Join(x.bleve.SetInternal(formatKey, []byte("older")), x.Close())
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := build(t, 10, generate(rand.New(rand.NewPCG(8, 8)), 20)...)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			if err := tc.damage(t, x.path); err != nil {
				t.Fatal(err)
			}
			got, err := Open(x.path, false)
			if err == nil {
				state, err := got.State()
				if err != nil || state == "s" {
					t.Errorf("opened, at state %q, %v: want an earlier one", state, err)
				}
				if err := got.Close(); err != nil {
					t.Error(err)
				}
			} else if !errors.Is(err, ErrStale) {
				t.Errorf("Open: %v, want an error that wraps ErrStale", err)
			}
			again, err := Create(x.path)
			if err != nil {
				t.Fatalf("Create over it: %v", err)
			}
			if n, err := again.Count(); n != 0 || err != nil {
				t.Errorf("a new index holds %d passages, %v", n, err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestChangedBytes: no damage of a byte gets through to a search.
func TestChangedBytes(t *testing.T) {
	docs := generate(rand.New(rand.NewPCG(8, 8)), 100)
	x := build(t, len(docs), docs...)
	want := rank(t, x, docs, longQuestion)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	harmless := 0
	for i := range 60 {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(x.path)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "store", "*.zap"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d segment files, %v", len(files), err)
		}
		file := files[rng.IntN(len(files))]
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
		if err := errors.Join(os.Remove(file), os.WriteFile(file, data, 0o600)); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{true, false} {
			got, err := Open(dir, readOnly)
			if err == nil {
				// bleve went back to a snapshot without the file, or the file
				// was one that it no longer needs.
				if state, _ := got.State(); state == "s" {
					harmless++
					if diff := cmp.Diff(want, rank(t, got, docs, longQuestion)); diff != "" {
						t.Fatalf("round %d, read-only %v: another ranking:\n%s", i, readOnly, diff)
					}
				}
				if err := got.Close(); err != nil {
					t.Error(err)
				}
			} else if !errors.Is(err, ErrStale) {
				t.Fatalf("round %d, read-only %v: %v", i, readOnly, err)
			}
		}
	}
	if harmless > 60 {
		t.Errorf("%d of 120 openings met no damage: the test shows little", harmless)
	}
}

func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(1e-300, 1e300).Draw(t, "a")
		b := rapid.Float64Range(1e-300, 1e300).Draw(t, "b")
		if math.Abs(cut(a)/a-1) > math.Ldexp(1, -scoreBits) {
			t.Errorf("cut(%v) = %v is too far away", a, cut(a))
		}
		if cut(cut(a)) != cut(a) {
			t.Errorf("cut(%v) is not stable", a)
		}
		if a < b && cut(a) > cut(b) {
			t.Errorf("cut turns %v < %v around", a, b)
		}
	})
	next := math.Nextafter(1, 2)
	if cut(next) != cut(1) {
		t.Errorf("cut(%v) = %v: the last bit decides", next, cut(next))
	}
}

func FuzzSearch(f *testing.F) {
	for _, tc := range hostile {
		f.Add(tc.text)
	}
	docs := []Document{{ID: "a", Text: "fox"}, {ID: "b", Text: "multi-agent hound"}}
	x := build(f, 2, docs...)
	f.Fuzz(func(t *testing.T, question string) {
		r, err := x.Search(t.Context(), Query{Text: question, K: 10, Totals: totals(docs)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Total != len(r.Hits) || r.Total > len(docs) || r.Terms == 0 && r.Total > 0 {
			t.Errorf("%d terms, %d hits of %d", r.Terms, len(r.Hits), r.Total)
		}
		if strings.Contains(strings.ToLower(question), " fox ") && (r.Total == 0 || !slices.Contains(ids(r.Hits), "a")) {
			t.Errorf("%q does not find fox", question)
		}
	})
}
