package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// cost is what a process took.
type cost struct {
	Wall time.Duration
	Peak int64 // bytes
}

// command is a process to time.
type command struct {
	name string
	args []string
}

// start runs the command once and gives what it printed. A small process of
// its own starts it and measures: Linux counts the memory of the process that
// starts another towards the peak of that other, and this one grows.
func (t tools) start(ctx context.Context, c command) (cost, []byte, error) {
	report := filepath.Join(t.dir, "cost.json")
	cmd := interruptible(ctx, 4*time.Second, t.self, append([]string{"-cost", report, "--", c.name}, c.args...)...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Env = ownKernels(os.Environ())
	if err := cmd.Run(); err != nil {
		return cost{}, nil, fmt.Errorf("%s %s: %w: %s", c.name, strings.Join(c.args, " "), err, lastLine(complaint.String()))
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return cost{}, nil, err
	}
	var took cost
	return took, out.Bytes(), json.Unmarshal(data, &took)
}

// interruptible is a process that is asked to end when this one is, so that it
// can end its own, and is ended if it has not after a while.
func interruptible(ctx context.Context, patience time.Duration, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd
}

// measureCost runs a command, its output as it comes, and writes its cost.
func measureCost(ctx context.Context, report string, args []string) error {
	if len(args) == 0 {
		return errors.New("want a command")
	}
	cmd := interruptible(ctx, 2*time.Second, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	data, err := json.Marshal(cost{time.Since(begin), peakMemory(cmd.ProcessState)})
	if err != nil {
		return err
	}
	return os.WriteFile(report, data, 0o600)
}

// ownKernels leaves NumPy the choice of its matrix kernels, which a variable
// may have narrowed to slow ones.
func ownKernels(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, "OPENBLAS_CORETYPE=") && !strings.HasPrefix(v, "OPENBLAS_L2_SIZE=") {
			kept = append(kept, v)
		}
	}
	return kept
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// fastest runs commands in turn and gives the cheapest run of each, and what
// each printed last.
func (t tools) fastest(ctx context.Context, rounds int, commands ...command) ([]cost, [][]byte, error) {
	costs, outputs := make([]cost, len(commands)), make([][]byte, len(commands))
	for range rounds {
		for i, c := range commands {
			took, out, err := t.start(ctx, c)
			if err != nil {
				return nil, nil, err
			}
			if costs[i].Wall == 0 || took.Wall < costs[i].Wall {
				costs[i] = took
			}
			outputs[i] = out
		}
	}
	return costs, outputs, nil
}

// readAll is the time that reading a file takes, in this process.
func readAll(path string) (time.Duration, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	start := time.Now()
	var size int64
	for {
		n, err := f.Read(buf)
		size += int64(n)
		if err == io.EOF {
			return time.Since(start), size, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }
