package pack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// What is written as an own pack is the pack that was read.
func TestExportRoundTrip(t *testing.T) {
	for _, fixture := range []string{
		"beir", "cases", "clapnq", "hotpotqa", "jsonl", "locomo", "longmemeval", "manifest", "multihoprag", "own", "public", "qasper", "scifact", "smart", "squad2", "trec",
	} {
		t.Run(fixture, func(t *testing.T) {
			p := load(t, filepath.Join("testdata", fixture))
			dir := filepath.Join(t.TempDir(), "out")
			lock, err := p.Export(dir, "copy")
			require.NoError(t, err)
			got := load(t, dir)
			assert.Equal(t, p.Documents, got.Documents)
			assert.Equal(t, p.Cases, got.Cases)
			assert.Equal(t, "copy", lock.Name)
			require.NoError(t, got.Check())
			_, err = p.Export(dir, "copy")
			require.EqualError(t, err, dir+": not empty; give a new folder")
		})
	}
}

func TestExportRefuses(t *testing.T) {
	_, err := load(t, "testdata/folder").Export(t.TempDir(), "x")
	require.ErrorContains(t, err, "3 field and 2 type truths have no place in an own pack")
	_, err = load(t, "testdata/beir").Export(t.TempDir(), "../x")
	require.ErrorContains(t, err, `name "../x": want lower-case letters`)
}

func TestGenerate(t *testing.T) {
	for _, name := range pack.Templates() {
		t.Run(name, func(t *testing.T) {
			a, b, c := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "c")
			first, err := pack.Generate(name, 7, a)
			require.NoError(t, err)
			second, err := pack.Generate(name, 7, b)
			require.NoError(t, err)
			assert.Equal(t, first, second, "the same bytes")
			other, err := pack.Generate(name, 8, c)
			require.NoError(t, err)
			assert.NotEqual(t, first.Content, other.Content)
			p := load(t, a)
			require.NoError(t, p.Check())
			assert.Equal(t, int64(7), p.Manifest.Generator.Seed)
			untyped, unanswerable := 0, 0
			for _, d := range p.Types {
				if d.Expected == "" {
					untyped++
				}
			}
			for _, k := range p.Cases {
				if !k.Gold.Answerable {
					unanswerable++
				}
			}
			assert.Equal(t, 1, untyped, "a document that only looks so")
			assert.Positive(t, unanswerable)
			found, err := pack.Lint(p)
			require.NoError(t, err)
			assert.Empty(t, found)
		})
	}
	_, err := pack.Generate("letters", 1, t.TempDir())
	require.EqualError(t, err, `template "letters": none such; have forms, invoices, tables`)
}

func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		require.NoError(t, err)
		_, err = w.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func tarred(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		h.Mode = 0o644
		if h.Typeflag == tar.TypeReg {
			h.Size = 2
		}
		require.NoError(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := w.Write([]byte("hi"))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestFetch(t *testing.T) {
	bodies := map[string][]byte{
		"/good.zip":     zipped(t, "set/corpus.jsonl", "x", "set/deep/a.txt", "y"),
		"/mac.zip":      zipped(t, "set/a.txt", "x", "__MACOSX/set/._a.txt", "y"),
		"/flat.zip":     zipped(t, "a.txt", "x", "b.txt", "y"),
		"/slip.zip":     zipped(t, "a.txt", "x", "../evil.txt", "y"),
		"/root.zip":     zipped(t, "/etc/evil.txt", "y"),
		"/windows.zip":  zipped(t, `..\evil.txt`, "y"),
		"/twice.zip":    zipped(t, "a.txt", "x", "a.txt", "y"),
		"/bomb.zip":     zipped(t, "a.txt", string(make([]byte, 1<<20))),
		"/good.tar.gz":  tarred(t, tar.Header{Name: "set/", Typeflag: tar.TypeDir}, tar.Header{Name: "set/a.txt", Typeflag: tar.TypeReg}),
		"/slip.tgz":     tarred(t, tar.Header{Name: "x/../../evil.txt", Typeflag: tar.TypeReg}),
		"/link.tar.gz":  tarred(t, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, tar.Header{Name: "a/evil.txt", Typeflag: tar.TypeReg}),
		"/file.jsonl":   []byte("{}"),
		"/broken.zip":   []byte("no zip"),
		"/..%2fevil.md": []byte("x"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
			return
		}
		body, ok := bodies[r.URL.EscapedPath()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(body)
	}))
	defer server.Close()
	for _, tc := range []struct{ path, at, file, err string }{
		{"/good.zip", "set", "deep/a.txt", ""},
		{"/flat.zip", ".", "b.txt", ""},
		{"/mac.zip", "set", "a.txt", ""},
		{"/good.tar.gz", "set", "a.txt", ""},
		{"/file.jsonl", ".", "file.jsonl", ""},
		{"/slip.zip", "", "", `path "../evil.txt" leaves the folder`},
		{"/root.zip", "", "", `path "/etc/evil.txt" leaves the folder`},
		{"/windows.zip", "", "", `path "..\\evil.txt" leaves the folder`},
		{"/slip.tgz", "", "", `path "x/../../evil.txt" leaves the folder`},
		{"/link.tar.gz", "", "", `"a" is neither a file nor a folder`},
		{"/twice.zip", "", "", "file exists"},
		{"/bomb.zip", "", "", "it unpacks to more than --max-bytes"},
		{"/broken.zip", "", "", "not a valid zip file"},
		{"/none.zip", "", "", "404 Not Found"},
		{"/away", "", "", "want http or https"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			outer := t.TempDir()
			dir := filepath.Join(outer, "in")
			require.NoError(t, os.Mkdir(dir, 0o755))
			got, err := pack.Fetch(t.Context(), server.URL+tc.path, dir, 1<<16)
			if _, evil := os.Stat(filepath.Join(outer, "evil.txt")); evil == nil {
				t.Fatal("it wrote outside the folder")
			}
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(dir, tc.at), got.Dir)
			assert.FileExists(t, filepath.Join(got.Dir, tc.file))
			assert.Len(t, got.SHA256, 64)
		})
	}
	dir := t.TempDir()
	_, err := pack.Fetch(t.Context(), server.URL+"/flat.zip", dir, 10)
	require.ErrorContains(t, err, "more than 10 bytes")
	// A password or a token is used, and never written down.
	secret := strings.Replace(server.URL, "//", "//user:hidden@", 1)
	got, err := pack.Fetch(t.Context(), secret+"/file.jsonl?token=hidden", t.TempDir(), 10)
	require.NoError(t, err)
	assert.Equal(t, server.URL+"/file.jsonl", got.URL)
	for _, path := range []string{"/none?token=hidden", "/away?token=hidden", "/flat.zip?token=hidden"} {
		_, err = pack.Fetch(t.Context(), secret+path, t.TempDir(), 10)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "hidden")
	}
	for _, address := range []string{"file:///etc/passwd", "ftp://x/y.zip", "x.zip", "http://"} {
		_, err := pack.Fetch(t.Context(), address, dir, 10)
		require.ErrorContains(t, err, "want an http or https address")
	}
}
