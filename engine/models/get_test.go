package models

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// toy is a model of two small files, and their content.
func toy(sources ...Source) (Model, map[string][]byte) {
	weights := make([]byte, 300_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range weights {
		weights[i] = byte(rng.Uint32()) // does not compress
	}
	content := map[string][]byte{"model.onnx": weights, "tokenizer.json": []byte(`{"model":{}}`)}
	m := Model{
		Name: "toy", Kind: Embedder, Pooling: "mean", Dim: 2, MaxTokens: 8, Sources: sources,
		Files: []File{file("model.onnx", weights), file("tokenizer.json", content["tokenizer.json"])},
	}
	return m, content
}

func file(name string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{Name: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

func put(t *testing.T, dir string, content map[string][]byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, data := range content {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
}

// nothingBut holds the models' folder to what should be in it.
func nothingBut(t *testing.T, dir string, names ...string) {
	t.Helper()
	var got []string
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != ".partial" {
			got = append(got, e.Name())
		}
	}
	assert.ElementsMatch(t, names, got)
	left, err := filepath.Glob(filepath.Join(dir, ".partial", "toy-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "what was staged is left")
}

func TestGetFromAFolder(t *testing.T) {
	m, content := toy(Source{Kind: Local})
	for name, sub := range map[string]string{"below its name": "toy", "its files": "."} {
		t.Run(name, func(t *testing.T) {
			from, dir := t.TempDir(), filepath.Join(t.TempDir(), "models")
			put(t, filepath.Join(from, sub), content)
			g := Getter{Dir: dir, From: []string{t.TempDir(), from}}
			got, err := g.Get(t.Context(), m)
			require.NoError(t, err)
			assert.Equal(t, Got{Source: "local", Folder: filepath.Join(dir, "toy")}, got)
			require.NoError(t, Verify(dir, m))
			nothingBut(t, dir, "toy")

			again, err := Getter{Dir: dir}.Get(t.Context(), m) // with no source at all
			require.NoError(t, err)
			assert.Empty(t, again.Source, "it was in place")
		})
	}
}

// TestGetRefuses: what is not the lock's never appears, and what was in place
// stays as it was.
func TestGetRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(content map[string][]byte)
		want   string
	}{
		{"a changed byte", func(c map[string][]byte) { c["model.onnx"][7] ^= 1 }, "model.onnx: SHA-256 "},
		{"a byte too many", func(c map[string][]byte) { c["model.onnx"] = append(c["model.onnx"], 0) }, "more than 300000 bytes, want 300000"},
		{"a byte too few", func(c map[string][]byte) { c["model.onnx"] = c["model.onnx"][1:] }, "299999 bytes, want 300000"},
		{"a file is missing", func(c map[string][]byte) { delete(c, "tokenizer.json") }, "tokenizer.json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, content := toy(Source{Kind: Local})
			tc.change(content)
			from, dir := t.TempDir(), t.TempDir()
			put(t, from, content)
			_, err := Getter{Dir: dir, From: []string{from}}.Get(t.Context(), m)
			require.ErrorContains(t, err, tc.want)
			assert.ErrorContains(t, err, "none of its 1 sources serves it")
			nothingBut(t, dir)
		})
	}
}

func TestGetRepairs(t *testing.T) {
	m, content := toy(Source{Kind: Local})
	from, dir := t.TempDir(), t.TempDir()
	put(t, from, content)
	put(t, filepath.Join(dir, "toy"), map[string][]byte{"model.onnx": []byte("half")})
	_, err := Getter{Dir: dir, From: []string{from}}.Get(t.Context(), m)
	require.NoError(t, err)
	require.NoError(t, Verify(dir, m))
	nothingBut(t, dir, "toy")

	// A folder with more than the lock knows is someone's work.
	put(t, filepath.Join(dir, "toy"), map[string][]byte{"model.onnx": []byte("mine"), "notes.txt": []byte("mine")})
	_, err = Getter{Dir: dir, From: []string{from}}.Get(t.Context(), m)
	require.ErrorContains(t, err, "holds notes.txt, which the lock does not know")
	kept, err := os.ReadFile(filepath.Join(dir, "toy", "model.onnx"))
	require.NoError(t, err)
	assert.Equal(t, "mine", string(kept))
}

func TestSourcesInOrder(t *testing.T) {
	m, content := toy(Source{Kind: Local}, Source{Kind: Hub, Repo: "o/toy", Revision: strings.Repeat("a", 40), Paths: map[string]string{"model.onnx": "onnx/model.onnx"}})
	var asked []string
	hub := func(_ context.Context, to, repo, revision string, paths []string) (string, error) {
		asked = append(asked, repo+"@"+revision)
		asked = append(asked, paths...)
		put(t, filepath.Join(to, "o_toy"), content)
		return filepath.Join(to, "o_toy"), nil
	}
	dir := t.TempDir()
	got, err := Getter{Dir: dir, Hub: hub}.Get(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, "hub o/toy", got.Source)
	assert.Equal(t, []string{"local: no folder was given: not tried"}, got.Skipped)
	assert.Equal(t, []string{"o/toy@" + strings.Repeat("a", 40), "onnx/model.onnx", "tokenizer.json"}, asked)
	nothingBut(t, dir, "toy")

	content["model.onnx"][0] ^= 1 // a hub that serves something else
	_, err = Getter{Dir: t.TempDir(), Hub: hub}.Get(t.Context(), m)
	require.ErrorContains(t, err, "hub o/toy: ")
	require.ErrorContains(t, err, "SHA-256")
}

// repository serves the toy's jar, and does what its fields say.
type repository struct {
	*httptest.Server
	jar    []byte
	dieAt  []int // of the nth answer: bytes sent until the connection breaks; none of it for later answers
	ranges bool
	status int

	mu    sync.Mutex
	asked []string // Range headers
}

const jarName = "/org/example/toy/1.0/toy-1.0.jar"

func newRepository(t *testing.T, content map[string][]byte) (*repository, Source) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"model.onnx", "tokenizer.json"} {
		w, err := z.Create("toy-" + name)
		require.NoError(t, err)
		_, err = w.Write(content[name])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	r := &repository{jar: b.Bytes(), ranges: true}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	jar := file("jar", r.jar)
	return r, Source{
		Kind: Maven, Artifact: "org.example:toy:1.0", SHA256: jar.SHA256, Size: jar.Size,
		Paths: map[string]string{"model.onnx": "toy-model.onnx", "tokenizer.json": "toy-tokenizer.json"},
	}
}

func (r *repository) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	n := len(r.asked)
	r.asked = append(r.asked, req.Header.Get("Range"))
	r.mu.Unlock()
	if req.URL.Path != "/repo"+jarName {
		http.NotFound(w, req)
		return
	}
	if r.status != 0 {
		w.WriteHeader(r.status)
		return
	}
	rest := r.jar
	start := 0
	if _, err := fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-", &start); err == nil && r.ranges {
		rest = rest[start:]
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(r.jar)-1, len(r.jar)))
		w.Header().Set("Content-Length", fmt.Sprint(len(rest)))
		w.WriteHeader(http.StatusPartialContent)
	} else {
		w.Header().Set("Content-Length", fmt.Sprint(len(rest)))
	}
	if n < len(r.dieAt) {
		_, _ = w.Write(rest[:min(r.dieAt[n], len(rest))])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(rest)
}

func (r *repository) getter(dir string) Getter {
	return Getter{Dir: dir, Maven: MavenConfig{Base: r.URL + "/repo/"}, pause: time.Millisecond}
}

// TestDownloadGoesOn: a server that dies half way costs only the rest.
func TestDownloadGoesOn(t *testing.T) {
	_, content := toy()
	for _, tc := range []struct {
		name   string
		dieAt  []int
		ranges bool
		want   []string
	}{
		{"at once", nil, true, []string{""}},
		{"dies half way", []int{100_000}, true, []string{"", "bytes=100000-"}},
		{"dies again and again", []int{100_000, 50_000, 0, 0, 7}, true,
			[]string{"", "bytes=100000-", "bytes=150000-", "bytes=150000-", "bytes=150000-", "bytes=150007-"}},
		{"knows no ranges", []int{100_000}, false, []string{"", "bytes=100000-"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, source := newRepository(t, content)
			r.dieAt, r.ranges = tc.dieAt, tc.ranges
			m, _ := toy(source)
			dir := t.TempDir()
			got, err := r.getter(dir).Get(t.Context(), m)
			require.NoError(t, err)
			assert.Equal(t, "maven org.example:toy:1.0", got.Source)
			require.NoError(t, Verify(dir, m))
			assert.Equal(t, tc.want, r.asked)
			nothingBut(t, dir, "toy")
		})
	}
}

// TestAnotherGetGoesOn: what one call got is not asked for by the next.
func TestAnotherGetGoesOn(t *testing.T) {
	_, content := toy()
	r, source := newRepository(t, content)
	m, _ := toy(source)
	dir := t.TempDir()
	r.dieAt = []int{200_000, 0, 0, 0, 0, 0}
	_, err := r.getter(dir).Get(t.Context(), m)
	require.ErrorContains(t, err, "brought nothing")
	nothingBut(t, dir)
	r.dieAt, r.asked = nil, nil
	_, err = r.getter(dir).Get(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, []string{"bytes=200000-"}, r.asked)
}

// TestSpoiltRemainderIsFetchedAgain: what was left from before is not what the
// server has; the whole is, so the whole is fetched.
func TestSpoiltRemainderIsFetchedAgain(t *testing.T) {
	_, content := toy()
	for name, left := range map[string][]byte{"other bytes": bytes.Repeat([]byte("x"), 1000), "too long": make([]byte, 900_000)} {
		t.Run(name, func(t *testing.T) {
			r, source := newRepository(t, content)
			m, _ := toy(source)
			dir := t.TempDir()
			put(t, filepath.Join(dir, ".partial"), map[string][]byte{source.SHA256 + ".jar": left})
			_, err := r.getter(dir).Get(t.Context(), m)
			require.NoError(t, err)
			require.NoError(t, Verify(dir, m))
			assert.Equal(t, "", r.asked[len(r.asked)-1], "the last request is for the whole")
		})
	}
}

func TestDownloadRefuses(t *testing.T) {
	_, content := toy()
	for _, tc := range []struct {
		name   string
		change func(*repository, *Source)
		want   string
		asks   int
	}{
		{"not found", func(r *repository, _ *Source) { r.status = http.StatusNotFound }, "404 Not Found", 1},
		{"asks for a password", func(r *repository, _ *Source) { r.status = http.StatusUnauthorized }, "401 Unauthorized", 1},
		{"out of order", func(r *repository, _ *Source) { r.status = http.StatusBadGateway }, "502 Bad Gateway", attempts},
		{"another jar", func(_ *repository, s *Source) { s.SHA256 = strings.Repeat("0", 64) }, "want " + strings.Repeat("0", 64), 1},
		{"longer than the lock says", func(_ *repository, s *Source) { s.Size -= 10 }, "the answer is longer", 1},
		{"shorter than the lock says", func(_ *repository, s *Source) { s.Size += 10 }, "", attempts + 1},
		{"a path the jar lacks", func(_ *repository, s *Source) { s.Paths["model.onnx"] = "other.onnx" }, "holds no other.onnx", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, source := newRepository(t, content)
			tc.change(r, &source)
			m, _ := toy(source)
			dir := t.TempDir()
			_, err := r.getter(dir).Get(t.Context(), m)
			require.ErrorContains(t, err, tc.want)
			if tc.want != "" {
				assert.Len(t, r.asked, tc.asks)
			}
			nothingBut(t, dir)
		})
	}
}

func TestPasswordsStayOutOfMessages(t *testing.T) {
	m, _ := toy(Source{Kind: Maven, Artifact: "org.example:toy:1.0", SHA256: strings.Repeat("0", 64), Size: 9})
	var log strings.Builder
	g := Getter{
		Dir: t.TempDir(), Maven: MavenConfig{Base: "http://me:secret@127.0.0.1:1"}, pause: time.Millisecond,
		Log: func(f string, a ...any) { fmt.Fprintf(&log, f+"\n", a...) },
	}
	_, err := g.Get(t.Context(), m)
	require.Error(t, err)
	assert.NotContains(t, err.Error()+log.String(), "secret")
	assert.Contains(t, err.Error(), "127.0.0.1:1")
}

func TestCancelledGet(t *testing.T) {
	_, content := toy()
	r, source := newRepository(t, content)
	m, _ := toy(source)
	ctx, cancel := context.WithCancel(t.Context())
	r.dieAt = []int{1000, 0, 0, 0, 0}
	g := r.getter(t.TempDir())
	g.pause = time.Hour
	g.Log = func(f string, _ ...any) {
		if strings.Contains(f, "once more") {
			cancel()
		}
	}
	_, err := g.Get(ctx, m)
	require.ErrorIs(t, err, context.Canceled)
	nothingBut(t, g.Dir)
}

// TestOneGetAtATime: of many calls one downloads, and all succeed.
func TestOneGetAtATime(t *testing.T) {
	_, content := toy()
	r, source := newRepository(t, content)
	m, _ := toy(source)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := r.getter(dir).Get(t.Context(), m)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Len(t, r.asked, 1)
	require.NoError(t, Verify(dir, m))
	nothingBut(t, dir, "toy")
}

func TestLocalRepositoryFirst(t *testing.T) {
	_, content := toy()
	r, source := newRepository(t, content)
	m, _ := toy(source)
	cache := t.TempDir()
	at := filepath.Join(cache, filepath.FromSlash(jarName))
	put(t, filepath.Dir(at), map[string][]byte{filepath.Base(at): r.jar})
	g := r.getter(t.TempDir())
	g.Maven.Cache = cache
	_, err := g.Get(t.Context(), m)
	require.NoError(t, err)
	assert.Empty(t, r.asked, "the local repository has it")
	assert.FileExists(t, at)

	put(t, filepath.Dir(at), map[string][]byte{filepath.Base(at): []byte("spoilt")})
	g.Dir = t.TempDir()
	_, err = g.Get(t.Context(), m)
	require.NoError(t, err)
	assert.Len(t, r.asked, 1)
}

// TestHugotDownload runs hugot's own download against a hub of our own.
func TestHugotDownload(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which runs short tests, reports the hub client's own progress counter")
	}
	m, content := toy(Source{Kind: Hub, Repo: "o/toy", Revision: strings.Repeat("a", 40), Paths: map[string]string{"model.onnx": "onnx/model.onnx"}})
	mux := http.NewServeMux()
	mux.HandleFunc("/api/models/o/toy/revision/"+m.Sources[0].Revision, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"id":"o/toy","sha":%q,"siblings":[{"rfilename":"onnx/model.onnx"},{"rfilename":"onnx/other.onnx"},{"rfilename":"tokenizer.json"}]}`, m.Sources[0].Revision)
	})
	mux.HandleFunc("/o/toy/resolve/"+m.Sources[0].Revision+"/{path...}", func(w http.ResponseWriter, req *http.Request) {
		data, ok := content[filepath.Base(req.PathValue("path"))]
		if !ok {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("ETag", `"`+file("", data).SHA256+`"`)
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(data))
	})
	hub := httptest.NewServer(mux)
	defer hub.Close()
	t.Setenv("HF_ENDPOINT", hub.URL)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	got, err := Getter{Dir: dir}.Get(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, "hub o/toy", got.Source)
	require.NoError(t, Verify(dir, m))
	nothingBut(t, dir, "toy")
}

func TestVerify(t *testing.T) {
	m, content := toy(Source{Kind: Local})
	dir := t.TempDir()
	var absent *AbsentError
	require.ErrorAs(t, Verify(dir, m), &absent)
	put(t, filepath.Join(dir, "toy"), content)
	require.NoError(t, Verify(dir, m))

	content["model.onnx"][123_456] ^= 0x10
	put(t, filepath.Join(dir, "toy"), content)
	require.NoError(t, os.Remove(filepath.Join(dir, "toy", "tokenizer.json")))
	var changed *ChangedError
	require.ErrorAs(t, Verify(dir, m), &changed)
	require.Len(t, changed.Files, 2, "all that differs is named")
	assert.Contains(t, changed.Files[0], filepath.Join("toy", "model.onnx")+": SHA-256 ")
	assert.Contains(t, changed.Files[1], "tokenizer.json: no such file")

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "toy")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "toy"), nil, 0o644))
	require.ErrorContains(t, Verify(dir, m), "is no folder")
	assert.False(t, errors.As(Verify(dir, m), &absent))
}
