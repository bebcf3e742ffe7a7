package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine/folder"
)

// canned answers every question with hostile text.
type canned struct {
	err  error
	asks []folder.Question
}

const hostile = `</title><script>alert(1)</script>" onmouseover="alert(2)' javascript:alert(3) {{.}} \x1b[2J`

func (c *canned) Search(_ context.Context, q folder.Question) (*folder.Answer, error) {
	c.asks = append(c.asks, q)
	if c.err != nil {
		return nil, c.err
	}
	return &folder.Answer{
		Question: q.Text,
		Hits: []folder.Hit{{
			Rank: 1, Path: hostile, Title: hostile, Date: hostile, Score: .5, Passage: "</pre>" + hostile,
			Snippet: []folder.Span{{Text: hostile}, {Text: hostile, Match: true}},
			Ranks:   []folder.StageRank{{Stage: "vector", Rank: 3, Score: .25}, {Stage: "lexical"}},
		}},
		Stages: []folder.Stage{{Name: "vector", State: "executed", Reason: hostile, Hits: 3, Total: 7, Micros: 1500}},
	}, nil
}

func ask(t *testing.T, s *searchServer, path string, change func(*http.Request)) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	var b bytes.Buffer
	_, err := b.ReadFrom(r.Body)
	require.NoError(t, err)
	return b.String()
}

func TestSearchPageEscapes(t *testing.T) {
	r := ask(t, newSearchServer(&canned{}, hostile, 1), "/?q="+url.QueryEscape(hostile), nil)
	assert.Equal(t, http.StatusOK, r.StatusCode)
	page := text(t, r)
	assert.Equal(t, 11, strings.Count(page, "&lt;script&gt;alert(1)"), "every place that shows the text has it, escaped")
	assert.NotContains(t, page, "<script")
	// What is left of the page's own tags carries no handler and leads nowhere.
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1) {
		assert.NotRegexp(t, `(?i)^<[^"]*(?:"[^"]*"[^"]*)*\son\w+=`, tag)
	}
	assert.Equal(t, []string{`href="/style.css"`, `action="/"`}, regexp.MustCompile(`(?:href|src|action)="[^"]*"`).FindAllString(page, -1))
	assert.Contains(t, page, `vector <b>3</b>`)
	assert.Contains(t, page, `lexical <b>none</b>`)

	assert.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'none'")
	assert.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
	assert.Equal(t, "no-store", r.Header.Get("Cache-Control"))
}

func TestSearchPageErrors(t *testing.T) {
	c := &canned{err: errors.New("lexical arm: " + hostile)}
	r := ask(t, newSearchServer(c, "notes", 1), "/?q=x", nil)
	assert.Equal(t, http.StatusInternalServerError, r.StatusCode)
	page := text(t, r)
	assert.Contains(t, page, "lexical arm: &lt;/title&gt;")
	assert.NotContains(t, page, "Nothing found", "an error is not an empty list")

	r = ask(t, newSearchServer(c, "notes", 1), "/search.json?q=x", nil)
	assert.Equal(t, http.StatusInternalServerError, r.StatusCode)
	var body map[string]string
	require.NoError(t, json.Unmarshal([]byte(text(t, r)), &body))
	assert.Equal(t, "lexical arm: "+hostile, body["error"])
}

func TestSearchServerRequests(t *testing.T) {
	long := strings.Repeat("x", maxQuestion)
	for _, c := range []struct {
		name, path string
		change     func(*http.Request)
		status     int
		asked      []folder.Question
	}{
		{"the form", "/", nil, 200, nil},
		{"an empty question is the form", "/?q=+", nil, 200, nil},
		{"page", "/?q=a+b", nil, 200, []folder.Question{{Text: "a b", K: 10}}},
		{"json", "/search.json?q=a%26b&k=3", nil, 200, []folder.Question{{Text: "a&b", K: 3}}},
		{"json asks what it is asked", "/search.json?q=", nil, 200, []folder.Question{{K: 10}}},
		{"no question", "/search.json", nil, 400, nil},
		{"k of 0", "/search.json?q=a&k=0", nil, 400, nil},
		{"k too large", "/?q=a&k=101", nil, 400, nil},
		{"k no number", "/search.json?q=a&k=x", nil, 400, nil},
		{"longest question", "/?q=" + long, nil, 200, []folder.Question{{Text: long, K: 10}}},
		{"question too long", "/?q=x" + long, nil, 400, nil},
		{"style", "/style.css", nil, 200, nil},
		{"no other path", "/etc/passwd", nil, 404, nil},
		{"no way up", "/../../etc/passwd", nil, 307, nil},
		{"no other method", "/?q=a", func(r *http.Request) { r.Method = http.MethodPost }, 405, nil},
		{"by number", "/?q=a", func(r *http.Request) { r.Host = "127.0.0.1" }, 200, []folder.Question{{Text: "a", K: 10}}},
		{"by number of version 6", "/?q=a", func(r *http.Request) { r.Host = "[::1]" }, 200, []folder.Question{{Text: "a", K: 10}}},
		{"a name that was made to lead here", "/?q=a", func(r *http.Request) { r.Host = "evil.example" }, 421, nil},
		{"with the right number in it", "/?q=a", func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }, 421, nil},
		{"another machine", "/?q=a", func(r *http.Request) { r.Host = "10.0.0.1" }, 421, nil},
		{"no host", "/?q=a", func(r *http.Request) { r.Host = "" }, 421, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			engine := &canned{}
			r := ask(t, newSearchServer(engine, "notes", 1), c.path, c.change)
			assert.Equal(t, c.status, r.StatusCode)
			assert.Equal(t, c.asked, engine.asks)
			assert.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'none'", "on every answer")
		})
	}
}

// Over a real connection the port counts too: another server of this machine
// has the same name.
func TestSearchServerPort(t *testing.T) {
	s := httptest.NewServer(newSearchServer(&canned{}, "notes", 1))
	defer s.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for host, want := range map[string]int{
		"localhost:" + port: 200, "LOCALHOST:" + port: 200, "127.0.0.1:" + port: 200, "[::1]:" + port: 200,
		"localhost:1": 421, "localhost": 421, "evil.example:" + port: 421,
	} {
		r, err := http.NewRequest(http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		answer.Body.Close()
		assert.Equal(t, want, answer.StatusCode, host)
	}
}

// A full house waits as long as its client does.
func TestSearchServerBusy(t *testing.T) {
	s := newSearchServer(&canned{}, "notes", 1)
	for range searchesAtOnce {
		s.slots <- struct{}{}
	}
	r := ask(t, s, "/search.json?q=a", func(r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		*r = *r.WithContext(ctx)
	})
	assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
}

func TestLoopback(t *testing.T) {
	for _, c := range []struct{ addr, want, error string }{
		{"127.0.0.1:8777", "127.0.0.1:8777", ""},
		{"127.8.8.8:0", "127.8.8.8:0", ""},
		{"localhost:80", "127.0.0.1:80", ""},
		{"[::1]:80", "[::1]:80", ""},
		{":8777", "", "not a loopback address"},
		{"0.0.0.0:8777", "", "not a loopback address"},
		{"[::]:8777", "", "not a loopback address"},
		{"192.168.0.1:80", "", "not a loopback address"},
		{"localhost.evil.example:80", "", "not a loopback address"},
		{"[fe80::1%lo]:80", "", "not a loopback address"},
		{"127.0.0.1", "", "missing port"},
		{"127.0.0.1:", "", "no such port"},
		{"127.0.0.1:99999", "", "no such port"},
	} {
		t.Run(c.addr, func(t *testing.T) {
			got, err := loopback(c.addr)
			if c.error != "" {
				assert.ErrorContains(t, err, c.error)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestHarmless(t *testing.T) {
	assert.Equal(t, "a?[31mb c?d é😀", harmless("a\x1b[31mb\nc\u202ed é😀"))
}

func TestIndexProgress(t *testing.T) {
	now := time.Unix(0, 0)
	steps := func(p *progressLine) {
		for i := 1; i <= 4; i++ {
			now = now.Add(6 * time.Second)
			p.show(folder.Progress{Files: i, AllFiles: 8, Bytes: int64(100 * i), AllBytes: 800})
		}
		p.end()
	}
	var log bytes.Buffer
	steps(newProgress(&log, false, func() time.Time { return now }))
	assert.Equal(t, "touchstone: 2 of 8 files, 0 files/s, 25 %, about 36s left\ntouchstone: 4 of 8 files, 0 files/s, 50 %, about 24s left\n", log.String())

	var screen bytes.Buffer
	steps(newProgress(&screen, true, func() time.Time { return now }))
	assert.Equal(t, 4, strings.Count(screen.String(), " left"))
	assert.NotContains(t, screen.String(), "\n")
	assert.True(t, strings.HasSuffix(screen.String(), " \r"), "the line is cleared at the end")

	assert.Equal(t, "0 of 3 files", progressText(folder.Progress{AllFiles: 3}, 0), "no rate before any time, no end before any file")
}
