package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

//go:embed peer.py
var peerScript []byte

// peerFile is what peer.py writes.
type peerFile struct {
	Versions map[string]string
	Systems  []struct {
		Mode          string
		IndexSeconds  float64 `json:"index_seconds"`
		Bytes         int64
		SearchSeconds []float64 `json:"search_seconds"`
		Rankings      map[string][]string
	}
}

// peers times the Python side, in a process of its own.
func (b bench) peers(ctx context.Context) ([]System, string, error) {
	dir := filepath.Join(b.base, "python")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	corpus, questions := filepath.Join(dir, "corpus.jsonl"), filepath.Join(dir, "questions.jsonl")
	script, out := filepath.Join(dir, "peer.py"), filepath.Join(dir, "out.json")
	type document struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	var docs, asked []any
	for _, d := range b.pack.Documents {
		docs = append(docs, document{d.ID, d.Title, d.Text})
	}
	for _, c := range b.pack.Cases {
		asked = append(asked, document{ID: c.Question.ID, Text: c.Question.Text})
	}
	if err := errors.Join(writeLines(corpus, docs), writeLines(questions, asked), os.WriteFile(script, peerScript, 0o600)); err != nil {
		return nil, "", err
	}
	fmt.Fprintf(b.progress, "benchengine: Python: %s\n", b.python)
	cmd := exec.CommandContext(ctx, b.python, script, corpus, questions, b.model, dir,
		strconv.Itoa(depth), strconv.Itoa(embed.DefaultMaxTokens), strconv.Itoa(runtime.NumCPU()), out)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 4 * time.Second
	cmd.Env = append(ownKernels(os.Environ()), "PYTHONDONTWRITEBYTECODE=1")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return nil, "", fmt.Errorf("BENCH_PYTHON=%s: %w: %s; want a Python with tools/benchengine/requirements.txt", b.python, err, lines[len(lines)-1])
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, "", err
	}
	return b.readPeers(data)
}

// ownKernels leaves NumPy the choice of its matrix kernels, which a variable
// may have narrowed to slow ones.
func ownKernels(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "OPENBLAS_CORETYPE=") || strings.HasPrefix(v, "OPENBLAS_L2_SIZE=")
	})
}

func writeLines(path string, lines []any) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return w.Flush()
}

// readPeers turns what Python wrote into figures, its quality measured here.
func (b bench) readPeers(data []byte) ([]System, string, error) {
	var file peerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, "", fmt.Errorf("what Python wrote: %w", err)
	}
	want := []string{"BM25"}
	if b.model != "" {
		want = append(want, "dense", "hybrid")
	}
	var modes []string
	for _, p := range file.Systems {
		modes = append(modes, p.Mode)
	}
	if !slices.Equal(modes, want) {
		return nil, "", fmt.Errorf("what Python wrote holds figures of %q; want %q", modes, want)
	}
	known := map[string]bool{}
	for _, d := range b.pack.Documents {
		known[d.ID] = true
	}
	var systems []System
	for _, p := range file.Systems {
		if n := len(b.pack.Cases); len(p.SearchSeconds) != n {
			return nil, "", fmt.Errorf("python, %s: %d searches timed, want %d", p.Mode, len(p.SearchSeconds), n)
		}
		for _, x := range append([]float64{p.IndexSeconds}, p.SearchSeconds...) {
			if !(x > 0) {
				return nil, "", fmt.Errorf("python, %s: a time of %v s, want one above 0", p.Mode, x)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(p.Rankings)) {
			if i := slices.IndexFunc(p.Rankings[id], func(d string) bool { return !known[d] }); i >= 0 {
				return nil, "", fmt.Errorf("python, %s: case %s: document %q is not of the pack", p.Mode, id, p.Rankings[id][i])
			}
		}
		s := System{Name: python, Model: fullModel, Mode: p.Mode, Index: seconds(p.IndexSeconds), Bytes: p.Bytes}
		if p.Mode == "BM25" {
			s.Model = ""
		}
		for _, x := range p.SearchSeconds {
			s.Search = append(s.Search, seconds(x))
		}
		var err error
		if s.NDCG, err = ndcg(b.pack.Cases, p.Rankings); err != nil {
			return nil, "", fmt.Errorf("python, %s: %w", p.Mode, err)
		}
		systems = append(systems, s)
	}
	var versions []string
	for _, n := range slices.Sorted(maps.Keys(file.Versions)) {
		versions = append(versions, n+" "+file.Versions[n])
	}
	return systems, strings.Join(versions, ", "), nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
