package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/engine/folder"
)

//go:embed engine_page.html
var pageHTML string

//go:embed engine_page.css
var pageCSS []byte

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"millis": func(micros int64) string { return strconv.FormatFloat(float64(micros)/1000, 'f', 1, 64) },
	"score":  func(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) },
}).Parse(pageHTML))

// Bounds of a request. The engine reads questions of any length, but an
// address does not.
const (
	maxQuestion    = 10_000 // bytes
	searchTime     = 20 * time.Second
	searchesAtOnce = 4
	defaultHits    = 10
)

// searcher is what the page asks.
type searcher interface {
	Search(context.Context, folder.Question) (*folder.Answer, error)
}

// searchServer answers "/", "/search.json" and the style sheet.
type searchServer struct {
	index     searcher
	name      string // of the folder
	documents int
	slots     chan struct{} // bounds the searches at once
	mux       *http.ServeMux
}

func newSearchServer(index searcher, name string, documents int) *searchServer {
	s := &searchServer{index: index, name: name, documents: documents, slots: make(chan struct{}, searchesAtOnce), mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /{$}", s.page)
	s.mux.HandleFunc("GET /search.json", s.json)
	s.mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(pageCSS) // who went away gets nothing
	})
	return s
}

func (s *searchServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !localHost(r) {
		http.Error(w, "this page is served to localhost only", http.StatusMisdirectedRequest)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// localHost says whether a request was addressed to this machine. A page of
// elsewhere whose name was made to resolve to 127.0.0.1 (DNS rebinding) sends
// its own name.
func localHost(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, "80"
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if _, want, err := net.SplitHostPort(local.String()); err != nil || port != want {
			return false
		}
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// statusError is an error with the status that it is answered with.
type statusError struct {
	status int
	error
}

// search reads a request's question, and answers it.
func (s *searchServer) search(r *http.Request) (*folder.Answer, error) {
	query := r.URL.Query()
	q := folder.Question{Text: query.Get("q"), K: defaultHits}
	if len(q.Text) > maxQuestion {
		return nil, &statusError{http.StatusBadRequest, fmt.Errorf("q: a question of %d bytes; at most %d are read", len(q.Text), maxQuestion)}
	}
	if k := query.Get("k"); k != "" {
		n, err := strconv.Atoi(k)
		if err != nil || n < 1 || n > maxHits {
			return nil, &statusError{http.StatusBadRequest, fmt.Errorf("k: %.20q; want 1 to %d", k, maxHits)}
		}
		q.K = n
	}
	ctx, cancel := context.WithTimeout(r.Context(), searchTime)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, &statusError{http.StatusServiceUnavailable, errors.New("too many searches at once; try again")}
	}
	return s.index.Search(ctx, q)
}

func statusOf(err error) int {
	var s *statusError
	if errors.As(err, &s) {
		return s.status
	}
	return http.StatusInternalServerError
}

func (s *searchServer) json(w http.ResponseWriter, r *http.Request) {
	var body any
	status := http.StatusOK
	if !r.URL.Query().Has("q") {
		status, body = http.StatusBadRequest, map[string]string{"error": "q is missing: /search.json?q=QUESTION"}
	} else if a, err := s.search(r); err != nil {
		status, body = statusOf(err), map[string]string{"error": err.Error()}
	} else {
		body = a
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who went away gets nothing
}

func (s *searchServer) page(w http.ResponseWriter, r *http.Request) {
	data := struct {
		Name      string
		Documents int
		Question  string
		Answer    *folder.Answer
		Error     string
		Micros    int64
	}{Name: s.name, Documents: s.documents, Question: r.URL.Query().Get("q")}
	status := http.StatusOK
	if strings.TrimSpace(data.Question) != "" {
		start := time.Now()
		a, err := s.search(r)
		if data.Answer, data.Micros = a, time.Since(start).Microseconds(); err != nil {
			status, data.Error = statusOf(err), err.Error()
		}
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, data); err != nil {
		http.Error(w, "the page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // who went away gets nothing
}
