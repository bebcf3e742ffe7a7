package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

//go:embed peers.py
var peersScript []byte

// peer is a Python package that measures runs.
type peer struct{ name, task, module string }

var peers = []peer{
	{"pytrec-eval-terrier", "terrier", "pytrec_eval"},
	{"ranx", "ranx", "ranx"},
}

// tools are the programs of a benchmark.
type tools struct {
	dir      string // for what they write
	self     string
	trecEval string
	order    trec.Order // of trec_eval's version
	python   string
	script   string
	has      map[string]bool // Python modules
}

func (c config) findTools() (tools, error) {
	t := tools{dir: c.dir, trecEval: c.trecEval, order: trec.Trec, python: c.python, has: make(map[string]bool)}
	var err error
	if t.self, err = os.Executable(); err != nil {
		return t, err
	}
	if t.trecEval != "" {
		out, err := exec.Command(t.trecEval, "--version").CombinedOutput()
		if err != nil {
			return t, fmt.Errorf("TREC_EVAL=%s: %w: want a trec_eval binary", t.trecEval, err)
		}
		if strings.Contains(string(out), "version 9") {
			t.order = trec.Trec9
		}
	}
	if t.python == "" {
		return t, nil
	}
	t.script = filepath.Join(c.dir, "peers.py")
	if err := os.WriteFile(t.script, peersScript, 0o600); err != nil {
		return t, err
	}
	if err := exec.Command(t.python, t.script, "has").Run(); err != nil {
		return t, fmt.Errorf("BENCH_PYTHON=%s: %w: want a Python 3", t.python, err)
	}
	for _, module := range []string{"numpy", peers[0].module, peers[1].module} {
		t.has[module] = exec.Command(t.python, t.script, "has", module).Run() == nil
	}
	return t, nil
}

// notRun says why a Python package does not run.
func (t tools) notRun(name string) string {
	if t.python == "" {
		return fmt.Sprintf("not run: %s (set BENCH_PYTHON)", name)
	}
	return fmt.Sprintf("not run: %s (BENCH_PYTHON does not have it)", name)
}
