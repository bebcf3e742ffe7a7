package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// served are the servers of the scripts, by script.
type served struct {
	cmd *exec.Cmd
	log strings.Builder
}

// serveInBackground starts a search page on a free port and sets URL to its
// address: serve DIR [flags...].
func serveInBackground(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: serve DIR [flags...]")
	}
	self, err := os.Executable()
	ts.Check(err)
	s := &served{}
	// The test binary is the command when it is called by that name.
	s.cmd = &exec.Cmd{Path: self, Args: append([]string{"touchstone", "engine", "serve", "--addr", "127.0.0.1:0"}, args...), Dir: ts.Getenv("WORK"), Stderr: &s.log}
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	ts.Defer(func() { _ = s.cmd.Process.Kill() }) // already stopped in a script that passes
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case url := <-line:
		if !strings.HasPrefix(url, "http://127.0.0.1:") {
			ts.Fatalf("serve printed %q, want its address", url)
		}
		ts.Setenv("URL", url)
	case <-time.After(time.Minute):
		ts.Fatalf("serve printed no address within a minute")
	}
	servers[ts] = s
}

var servers = map[*testscript.TestScript]*served{}

// unserve interrupts the server and demands that it ends well.
func unserve(ts *testscript.TestScript, neg bool, args []string) {
	s := servers[ts]
	if neg || len(args) != 0 || s == nil {
		ts.Fatalf("usage: unserve, after serve")
	}
	delete(servers, ts)
	ts.Check(s.cmd.Process.Signal(os.Interrupt))
	if err := s.cmd.Wait(); err != nil {
		ts.Fatalf("serve ended with %v\n%s", err, s.log.String())
	}
}

// get prints what an address answers with, after its status: get URL [HOST].
func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: get URL [HOST]")
	}
	r, err := http.NewRequest(http.MethodGet, args[0], nil)
	ts.Check(err)
	if len(args) == 2 {
		r.Host = args[1]
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	fmt.Fprintln(ts.Stdout(), answer.Status)
	_, err = io.Copy(ts.Stdout(), answer.Body)
	ts.Check(err)
}
