package pack_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// long makes any comment long enough to be a document.
const long = "It goes on for a while so that the comment has the eighty characters that a document needs."

// godocTree writes a txtar archive to a folder and returns the folder of its
// go.mod and its module cache. "{long}" stands for long, "{cr}" for a carriage
// return.
func godocTree(t testing.TB, archive string) (dir, cache string) {
	t.Helper()
	root := t.TempDir()
	archive = strings.NewReplacer("{long}", long, "{cr}", "\r").Replace(archive)
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, f.Data, 0o644))
	}
	return filepath.Join(root, "pack"), filepath.Join(root, "cache")
}

const oneModule = `
-- pack/go.mod --
module corpus.test

go 1.26

require example.com/m v1.0.0
`

func TestLoadGodocRules(t *testing.T) {
	tests := []struct {
		name  string
		files string
		want  []string // "id: first line of the text", with aliases after "="
	}{
		{
			name: "each kind of symbol has its id",
			files: `
-- cache/example.com/m@v1.0.0/sub/a.go --
// Package sub is the package. {long}
package sub

// Limit is a const. {long}
const Limit = 1

// Default is a var. {long}
var Default = 1

// Tree is a type. {long}
type Tree struct{}

// Walk is a func. {long}
func Walk() {}

// Len is a method. {long}
func (t *Tree) Len() int { return 0 }
`,
			want: []string{
				"example.com/m/sub: Package sub is the package.",
				"example.com/m/sub.Default: Default is a var.",
				"example.com/m/sub.Limit: Limit is a const.",
				"example.com/m/sub.Tree: Tree is a type.",
				"example.com/m/sub.Tree.Len: Len is a method.",
				"example.com/m/sub.Walk: Walk is a func.",
			},
		},
		{
			name: "unexported names and methods of unexported types are left out",
			files: `
-- cache/example.com/m@v1.0.0/a.go --
package m

// tree is hidden. {long}
type tree struct{}

// Len is hidden with its type. {long}
func (t tree) Len() int { return 0 }

// Pair is a generic type. {long}
type Pair[K, V any] struct{}

// Swap has a generic receiver. {long}
func (p *Pair[K, V]) Swap() {}

// List is a generic type of one parameter. {long}
type List[T any] struct{}

// Push has a receiver in parentheses. {long}
func (l *(List[T])) Push(v T) {}

// drop is hidden. {long}
func (p Pair[K, V]) drop() {}
`,
			want: []string{
				"example.com/m.List: List is a generic type of one parameter.",
				"example.com/m.List.Push: Push has a receiver in parentheses.",
				"example.com/m.Pair: Pair is a generic type.",
				"example.com/m.Pair.Swap: Swap has a generic receiver.",
			},
		},
		{
			name: "folders and files that are not the module's public code are left out",
			files: `
-- cache/example.com/m@v1.0.0/testdata/a.go --
// Package a is test data. {long}
package a
-- cache/example.com/m@v1.0.0/x/internal/a.go --
// Package internal is private. {long}
package internal
-- cache/example.com/m@v1.0.0/vendor/v/a.go --
// Package v is vendored. {long}
package v
-- cache/example.com/m@v1.0.0/_old/a.go --
// Package old is ignored by the go command. {long}
package old
-- cache/example.com/m@v1.0.0/.git/a.go --
// Package git is hidden. {long}
package git
-- cache/example.com/m@v1.0.0/nested/go.mod --
module example.com/m/nested
-- cache/example.com/m@v1.0.0/nested/a.go --
// Package nested is another module. {long}
package nested
-- cache/example.com/m@v1.0.0/cmd/a.go --
// Command cmd is a program. {long}
package main
-- cache/example.com/m@v1.0.0/a_test.go --
// Package m is a test. {long}
package m
-- cache/example.com/m@v1.0.0/_a.go --
// Package m is ignored by the go command. {long}
package m
-- cache/example.com/m@v1.0.0/README.md --
Not Go.
-- cache/example.com/m@v1.0.0/internals/a.go --
// Package internals only looks private. {long}
package internals
`,
			want: []string{"example.com/m/internals: Package internals only looks private."},
		},
		{
			name: "a name in a group has its own comment or that of the group",
			files: `
-- cache/example.com/m@v1.0.0/a.go --
package m

// The colours. {long}
const (
	Green = iota
	Blue
	// Red is not like the others. {long}
	Red
	hidden
)

// Small and Large are limits. {long}
var Small, Large = 1, 2
`,
			want: []string{
				"example.com/m.Blue: The colours. =example.com/m.Green",
				"example.com/m.Large: Small and Large are limits. =example.com/m.Small",
				"example.com/m.Red: Red is not like the others.",
			},
		},
		{
			name: "the first file in byte order counts whatever its build constraint",
			files: `
-- cache/example.com/m@v1.0.0/open_windows.go --
package m

// Open is for Windows. {long}
func Open() {}
-- cache/example.com/m@v1.0.0/open_Plan9.go --
package m

//go:noinline
func Open() {}
-- cache/example.com/m@v1.0.0/open_linux.go --
//go:build linux

package m

// Open is for Linux. {long}
func Open() {}
`,
			want: []string{"example.com/m.Open: Open is for Linux."},
		},
		{
			name: "generated duplicates are one document across packages",
			files: `
-- cache/example.com/m@v1.0.0/b64/a.go --
package b64

// Scale multiplies. {long}
func Scale() {}
-- cache/example.com/m@v1.0.0/b32/a.go --
// Code generated by gen. DO NOT EDIT.

package b32

// Scale multiplies. {long}
func Scale() {}
-- cache/example.com/m@v1.0.0/c128/a.go --
package c128

// Scale multiplies. {long}
func Scale() {}
`,
			want: []string{"example.com/m/b32.Scale: Scale multiplies. =example.com/m/b64.Scale example.com/m/c128.Scale"},
		},
		{
			name: "licence headers and short comments are left out",
			files: `
-- cache/example.com/m@v1.0.0/a.go --
// Copyright 2020 The Authors. {long}
package m

// Short says little.
func Short() {}
`,
		},
		{
			name: "CRLF files read as LF files",
			files: `
-- cache/example.com/m@v1.0.0/a.go --
package m{cr}
{cr}
// Lines has two lines. {long}{cr}
// This is the second.{cr}
func Lines() {}{cr}
`,
			want: []string{"example.com/m.Lines: Lines has two lines."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, cache := godocTree(t, oneModule+tt.files)
			docs, err := pack.LoadGodoc(dir, cache)
			require.NoError(t, err)
			var got []string
			for _, d := range docs {
				require.NotContains(t, d.Text, "\r")
				line, _, _ := strings.Cut(d.Text, "\n")
				line = d.ID + ": " + strings.TrimSpace(strings.TrimSuffix(line, long))
				if a := d.Meta[pack.MetaAliases]; a != "" {
					line += " =" + a
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGodocCommentText(t *testing.T) {
	tests := []struct{ name, comment, want string }{
		{"one space after the marker goes", "// A.\n//  B.\n//\tC.\n//D.", "A.\n B.\n\tC.\nD."},
		{"blank lines stay inside and go at the ends", "//\n// A.\n//\n//\n// B.\n//", "A.\n\n\nB."},
		{"spaces at line ends go", "// A. \t\n// B.", "A.\nB."},
		{"directives go", "// A.\n//go:noinline\n//nolint:all\n//export Name\n//line a.go:1\n// B.", "A.\nB."},
		{"prose with a colon stays", "// A.\n//Note: b\n// go:build is a directive\n//see https://x", "A.\nNote: b\ngo:build is a directive\nsee https://x"},
		{"block comment", "/*\nA.\n  B.\n*/", "A.\n  B."},
		{"block comment on one line", "/* A. */", " A."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := tt.comment
			if strings.HasPrefix(body, "/*") {
				body = strings.TrimSuffix(body, "*/") + "\n" + long + "*/"
			} else {
				body += "\n// " + long
			}
			dir, cache := godocTree(t, oneModule+"-- cache/example.com/m@v1.0.0/a.go --\npackage m\n\n"+body+"\nfunc F() {}\n")
			docs, err := pack.LoadGodoc(dir, cache)
			require.NoError(t, err)
			require.Len(t, docs, 1)
			got := strings.TrimRight(strings.TrimSuffix(docs[0].Text, long), "\n")
			require.Equal(t, tt.want, got)
		})
	}
}

func TestGodocTitlesAndMeta(t *testing.T) {
	dir, cache := godocTree(t, `
-- pack/go.mod --
module corpus.test
require example.com/Upper/m/v2 v2.1.0
-- cache/example.com/!upper/m/v2@v2.1.0/go-sub/a.go --
// Package sub has another name than its folder. {long}
package sub

type T struct{}

// M is a method. {long}
func (T) M() {}
`)
	docs, err := pack.LoadGodoc(dir, cache)
	require.NoError(t, err)
	meta := func(kind string) map[string]string {
		return map[string]string{"module": "example.com/Upper/m/v2", "package": "example.com/Upper/m/v2/go-sub", "kind": kind}
	}
	want := []pack.Document{
		{ID: "example.com/Upper/m/v2/go-sub", Title: "sub", Text: "Package sub has another name than its folder. " + long, Meta: meta("package")},
		{ID: "example.com/Upper/m/v2/go-sub.T.M", Title: "sub.T.M", Text: "M is a method. " + long, Meta: meta("method")},
	}
	if diff := cmp.Diff(want, docs); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestLoadGodocRefuses(t *testing.T) {
	source := "\n-- cache/example.com/m@v1.0.0/a.go --\npackage m\n"
	tests := []struct{ name, archive, want string }{
		{"no go.mod", "-- cache/x --\n", "go.mod"},
		{"replace", oneModule + "replace example.com/m => ../m\n" + source, `go.mod:6: found directive "replace"`},
		{"block of another directive", oneModule + "tool (\n\texample.com/m/cmd\n)\n" + source, `go.mod:6: found directive "tool"`},
		{"module twice", oneModule + "require example.com/m v1.0.1\n" + source, "go.mod:6: module example.com/m is required twice"},
		{"nothing required", "-- pack/go.mod --\nmodule corpus.test\n", "requires no module"},
		{"syntax", oneModule + "require (\n", "go.mod:7: syntax error"},
		{"a path out of the cache", "-- pack/go.mod --\nmodule corpus.test\nrequire ../../etc v1.0.0\n", "malformed"},
		{"not UTF-8", oneModule + source + "\n// \xff\n", "a.go:3: found bytes that are not UTF-8"},
		{"not Go", oneModule + source + "\nfunc (\n", "a.go:3:8: expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, cache := godocTree(t, tt.archive)
			docs, err := pack.LoadGodoc(dir, cache)
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, docs)
			var missing *pack.MissingModulesError
			require.False(t, errors.As(err, &missing), "a bad pack is not a pack that could not be measured")
		})
	}
}

func TestMissingModules(t *testing.T) {
	dir, cache := godocTree(t, `
-- pack/go.mod --
module corpus.test
require (
	example.com/there v1.0.0
	example.com/Cut v1.0.0
	example.com/absent v1.2.3
)
-- cache/example.com/there@v1.0.0/a.go --
package there
-- cache/example.com/!cut@v1.0.0/a.go --
package cut
-- cache/cache/download/example.com/!cut/@v/v1.0.0.partial --
`)
	_, err := pack.LoadGodoc(dir, cache)
	var missing *pack.MissingModulesError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{"example.com/Cut@v1.0.0", "example.com/absent@v1.2.3"}, missing.Modules)
	require.ErrorContains(t, err, "example.com/Cut@v1.0.0, example.com/absent@v1.2.3")
	require.ErrorContains(t, err, missing.Command())
	require.Equal(t, "cd '/a b/it'\\''s' && go mod download", (&pack.MissingModulesError{Dir: "/a b/it's"}).Command())
}

func TestModuleCache(t *testing.T) {
	home := t.TempDir()
	saved := filepath.Join(home, "goenv")
	require.NoError(t, os.WriteFile(saved, []byte("GOPROXY=direct\nGOMODCACHE=/saved/mod\n"), 0o644))
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"GOMODCACHE first", map[string]string{"GOMODCACHE": "/mods", "GOPATH": "/gopath", "GOENV": saved}, "/mods"},
		{"then what go env -w wrote", map[string]string{"GOPATH": "/gopath", "GOENV": saved}, "/saved/mod"},
		{"then the first folder of GOPATH", map[string]string{"GOPATH": "/one" + string(os.PathListSeparator) + "/two"}, "/one/pkg/mod"},
		{"then the home folder", nil, filepath.Join(home, "go", "pkg", "mod")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("HOME", home)
			for _, key := range []string{"GOMODCACHE", "GOPATH"} {
				t.Setenv(key, "")
			}
			t.Setenv("GOENV", "off")
			for key, value := range tt.env {
				t.Setenv(key, value)
			}
			got, err := pack.ModuleCache()
			require.NoError(t, err)
			require.Equal(t, filepath.FromSlash(tt.want), got)
		})
	}
}

func TestAliases(t *testing.T) {
	docs := []pack.Document{
		{ID: "a", Meta: map[string]string{pack.MetaAliases: "b c"}},
		{ID: "d"},
	}
	require.Equal(t, map[string]string{"b": "a", "c": "a"}, pack.Aliases(docs))
}

// Each symbol with a long enough comment is found exactly once, as a document
// or as an alias, under the smallest id of its text, in whichever order the
// modules are required.
func TestGodocFoldsEachSymbolOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp("", "godoc")
		require.NoError(rt, err)
		defer os.RemoveAll(root)
		smallest := map[string]string{} // text -> id
		texts := map[string]string{}    // id -> text
		modules := rapid.Permutation([]string{"a.test", "b.test", "c.test"}).Draw(rt, "modules")
		gomod := "module corpus.test\n"
		for _, m := range modules {
			gomod += "require " + m + " v1.0.0\n"
			src := "package p\n"
			for i, n := range rapid.SliceOfN(rapid.IntRange(0, 4), 0, 5).Draw(rt, m) {
				id, text := fmt.Sprintf("%s.F%d", m, i), fmt.Sprintf("Text %d. %s", n, long)
				src += fmt.Sprintf("\n// %s\nfunc F%d() {}\n", text, i)
				texts[id] = text
				if s, ok := smallest[text]; !ok || id < s {
					smallest[text] = id
				}
			}
			folder := filepath.Join(root, m+"@v1.0.0")
			require.NoError(rt, os.MkdirAll(folder, 0o755))
			require.NoError(rt, os.WriteFile(filepath.Join(folder, "p.go"), []byte(src), 0o644))
		}
		require.NoError(rt, os.WriteFile(filepath.Join(root, "go.mod"), []byte(gomod), 0o644))
		docs, err := pack.LoadGodoc(root, root)
		require.NoError(rt, err)
		found := pack.Aliases(docs)
		for i, d := range docs {
			require.True(rt, i == 0 || docs[i-1].ID < d.ID, "order")
			require.NotContains(rt, found, d.ID)
			found[d.ID] = d.ID
		}
		require.Len(rt, found, len(texts))
		for id, text := range texts {
			require.Equal(rt, smallest[text], found[id])
		}
	})
}

func FuzzLoadGodoc(f *testing.F) {
	f.Add([]byte("// Package p. " + long + "\npackage p\n"))
	f.Add([]byte("package p\n\n/* F.\r\n" + long + " */\nfunc (*(T[int])) F() {}\n"))
	f.Add([]byte("package p\n//go:x\n// \xff\nvar A, b = 1, 2"))
	dir, cache := godocTree(f, oneModule+"-- cache/example.com/m@v1.0.0/a.go --\n")
	name := filepath.Join(cache, "example.com", "m@v1.0.0", "a.go")
	f.Fuzz(func(t *testing.T, src []byte) {
		require.NoError(t, os.WriteFile(name, src, 0o644))
		docs, err := pack.LoadGodoc(dir, cache)
		if err != nil {
			require.ErrorContains(t, err, name+":")
			return
		}
		seen := map[string]bool{}
		for _, d := range docs {
			require.True(t, d.ID == "example.com/m" || strings.HasPrefix(d.ID, "example.com/m."), d.ID)
			require.False(t, seen[d.ID], d.ID)
			seen[d.ID] = true
			require.True(t, utf8.ValidString(d.Text))
			require.GreaterOrEqual(t, utf8.RuneCountInString(d.Text), 80)
		}
	})
}

// godocFixture is the pack of the repository.
const godocFixture = "../../fixtures/godoc"

// fixtureCorpus skips the test if the pinned modules are not there.
func fixtureCorpus(t *testing.T) []pack.Document {
	t.Helper()
	docs, err := pack.LoadGodoc(godocFixture, "")
	var missing *pack.MissingModulesError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return docs
}

func TestGodocFixtureCorpus(t *testing.T) {
	docs := fixtureCorpus(t)
	const (
		count  = 3332
		digest = "b5def6507ee21fd5d6b2ccc0599db6e4045922151aab23389818d0b7e2c62bc7"
		first  = "github.com/blevesearch/bleve/v2"
		last   = "pgregory.net/rapid.T.SkipNow"
	)
	hash := sha256.New()
	enc := json.NewEncoder(hash)
	for _, d := range docs {
		require.NoError(t, enc.Encode(d))
	}
	require.GreaterOrEqual(t, len(docs), 3000)
	require.Equal(t, count, len(docs))
	require.Equal(t, first, docs[0].ID)
	require.Equal(t, last, docs[len(docs)-1].ID)
	require.Equal(t, digest, fmt.Sprintf("%x", hash.Sum(nil)), "the corpus is not the one that the questions were written for")
}

// Case ids must come out of -run as they went in: the testing package would
// rewrite a space, number a duplicate and read a slash as a subtest.
var godocCaseID = regexp.MustCompile(`^gd[0-9]{3}$`)

// The questions must fit the corpus: gold that names no document would count
// as a miss of every engine, for ever.
func TestGodocFixtureQuestions(t *testing.T) {
	fixtureCorpus(t)
	p, err := pack.Load(godocFixture, pack.Options{}) // refuses unknown gold, unknown cases and duplicate ids
	require.NoError(t, err)
	require.NoError(t, p.Check())
	require.GreaterOrEqual(t, len(p.Cases), 120)
	ids, texts, strata := map[string]bool{}, map[string]string{}, map[string]int{}
	for _, c := range p.Cases {
		id := c.Question.ID
		require.Regexp(t, godocCaseID, id)
		require.False(t, ids[id], "%s: twice", id)
		ids[id] = true
		text := strings.ToLower(strings.Join(strings.Fields(c.Question.Text), " "))
		require.Empty(t, texts[text], "%s: same question", id)
		texts[text] = id
		require.Contains(t, p.Manifest.Strata, c.Stratum, id)
		strata[c.Stratum]++
		require.Equal(t, c.Stratum != "unanswerable", c.Gold.Answerable, id)
		best := 0
		for doc, grade := range c.Gold.Grades {
			require.True(t, grade >= 1 && grade <= 3, "%s: grade %d of %s", id, grade, doc)
			best = max(best, grade)
		}
		if !c.Gold.Answerable {
			require.Empty(t, c.Gold.Grades, "%s: unanswerable with gold", id)
			continue
		}
		require.Equal(t, 3, best, "%s: an answerable question has a full answer", id)
		if c.Stratum == "multi" {
			require.GreaterOrEqual(t, c.Gold.Relevant(), 2, "%s: multi", id)
		}
	}
	for _, s := range p.Manifest.Strata {
		require.GreaterOrEqual(t, strata[s], 10, s)
	}
	require.GreaterOrEqual(t, strata["paraphrase"], len(p.Cases)*2/5)

	readme, err := os.ReadFile(filepath.Join(godocFixture, "README.md"))
	require.NoError(t, err)
	for _, s := range p.Manifest.Strata {
		require.Contains(t, string(readme), fmt.Sprintf("| `%s` | %d |", s, strata[s]))
	}
}

// What can be told without the modules: the three files speak of the same
// cases, and go.sum pins every module that go.mod requires.
func TestGodocFixtureFiles(t *testing.T) {
	read := func(name string) []string {
		data, err := os.ReadFile(filepath.Join(godocFixture, name))
		require.NoError(t, err)
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	queries, judged, answerable := []string{}, map[string]bool{}, map[string]bool{}
	for _, line := range read("queries.jsonl") {
		var q struct {
			ID string `json:"_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &q))
		queries = append(queries, q.ID)
	}
	for _, line := range read("qrels.tsv")[1:] {
		id, _, _ := strings.Cut(line, "\t")
		judged[id] = true
	}
	for i, line := range read("cases.jsonl") {
		var c struct {
			ID         string
			Answerable bool
		}
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		require.Less(t, i, len(queries), c.ID)
		require.Equal(t, queries[i], c.ID)
		if c.Answerable {
			answerable[c.ID] = true
		}
	}
	require.Equal(t, answerable, judged)

	sums := strings.Join(read("go.sum"), "\n")
	modules := 0
	for _, line := range read("go.mod") {
		if m := strings.Fields(line); len(m) == 2 && strings.Contains(m[0], ".") && strings.HasPrefix(m[1], "v") {
			modules++
			require.Contains(t, sums, m[0]+" "+m[1]+" h1:")
			require.Contains(t, sums, m[0]+" "+m[1]+"/go.mod h1:")
		}
	}
	require.Equal(t, 8, modules)
}

// Gold that does not count as a document of its own must not count twice: no
// case may judge a document and its alias.
func TestGodocFixtureQrels(t *testing.T) {
	alias := pack.Aliases(fixtureCorpus(t))
	data, err := os.ReadFile(filepath.Join(godocFixture, "qrels.tsv"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		require.Len(t, fields, 3, line)
		doc := fields[1]
		if kept, ok := alias[doc]; ok {
			doc = kept
		}
		require.False(t, seen[fields[0]+" "+doc], "%s: %s is judged twice", fields[0], doc)
		seen[fields[0]+" "+doc] = true
	}
	require.NotEmpty(t, seen)
}

func ExampleLoadGodoc() {
	dir, _ := os.MkdirTemp("", "godoc")
	defer os.RemoveAll(dir)
	gomod := "module corpus.test\n\nrequire example.com/m v1.0.0\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(gomod), 0o644); err != nil {
		panic(err)
	}
	_, err := pack.LoadGodoc(dir, filepath.Join(dir, "mods"))
	var missing *pack.MissingModulesError
	if errors.As(err, &missing) {
		fmt.Println("could not be measured without", missing.Modules)
	}
	// Output: could not be measured without [example.com/m@v1.0.0]
}
