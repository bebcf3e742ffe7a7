package report_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// hostileIDs are case ids that a shell, a regular expression or package
// testing would each read in its own way.
var hostileIDs = []string{
	"q1", "q17", "a b", "a  b", " lead", "it's", `say "x"`, "$(touch pwned)", "`touch pwned`", "; touch pwned", "a/b", "a//b", "/", "-v",
	"(x|y)", "[z]", ".*", "^$", "a+", `back\slash`, "tab\there", "new\nline", "rtl\u202eoverride", "\x1b[31m", "é☕", "\u00a0nbsp", "*", "~", "!", "#1",
}

// rerunTarget turns TestRerunTarget on, in the test binary that a rerun
// command starts.
const rerunTarget = "REPORT_TEST_RERUN_TARGET"

func TestRerunTarget(t *testing.T) {
	if os.Getenv(rerunTarget) == "" {
		t.Skip("only as the target of a rerun")
	}
	t.Run("sub", func(t *testing.T) { // as a suite that a table of suites runs
		for i, id := range hostileIDs {
			t.Run("suite=s/arm=base/case="+id, func(t *testing.T) { t.Logf("ran %d.", i) })
		}
	})
}

// The command is given to a real shell, in which `go` is this test binary:
// each runs the one case that it names.
func TestRerunRunsThatOneCase(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	bin := t.TempDir()
	script := "#!/bin/sh\nwhile [ $# -gt 0 ]; do\n  if [ \"$1\" = -run ]; then pattern=$2; fi\n  last=$1\n  shift\ndone\n" +
		"printf 'tier <%s> package <%s>\\n' \"$EVAL_TIER\" \"$last\"\nexec \"$TEST_BINARY\" -test.v -test.run \"$pattern\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755))
	ran := regexp.MustCompile(`ran (\d+)\.`)
	for i, id := range hostileIDs {
		cmd := exec.Command(sh, "-c", report.Rerun(record.Run{Suite: "s", Arm: "base", Tier: "full", Test: "TestRerunTarget/sub", Package: "example.org/m/evals"}, id))
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TEST_BINARY="+os.Args[0], rerunTarget+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%q: %s", id, out)
		assert.Contains(t, string(out), "tier <full> package <example.org/m/evals>")
		found := ran.FindAllStringSubmatch(string(out), -1)
		if assert.Len(t, found, 1, "%q: %s", id, out) {
			assert.Equal(t, hostileIDs[i], hostileIDs[atoi(found[0][1])])
		}
		left, err := os.ReadDir(cmd.Dir)
		require.NoError(t, err)
		assert.Empty(t, left, "%q ran something else", id)
	}
}

func atoi(s string) int {
	n := 0
	for _, d := range s {
		n = 10*n + int(d-'0')
	}
	return n
}

func TestRerun(t *testing.T) {
	run := record.Run{Suite: "s", Arm: "base", Tier: "smoke", Test: "TestX", Package: "example.org/m"}
	assert.Equal(t, `go test -tags eval -count=1 -v -run '^TestX$/^suite=s$/^arm=base$/^case=it'\''s$' example.org/m`, report.Rerun(run, "it's"))
	run.Tier, run.Package = "full; rm -rf ~", "m/$(x)"
	got := report.Rerun(run, "q")
	assert.True(t, strings.HasPrefix(got, "EVAL_TIER='full; rm -rf ~' go test "), got)
	assert.True(t, strings.HasSuffix(got, " 'm/$(x)'"), got)
	run.Tier = ""
	assert.True(t, strings.HasPrefix(report.Rerun(run, "q"), "go test "))
	run.Package = "-exec=rm"
	assert.Empty(t, report.Rerun(run, "q"), "a flag is no package")
	run.Package = "example.org/m"
	run.Test = ""
	assert.Empty(t, report.Rerun(run, "q"), "no Go test made the record")
}
