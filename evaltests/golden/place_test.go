package golden_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
)

func TestPlace(t *testing.T) {
	event := filepath.Join(t.TempDir(), "event.json")
	require.NoError(t, os.WriteFile(event, []byte(`{"repository":{"default_branch":"trunk"}}`), 0o644))
	for _, tc := range []struct {
		name  string
		env   map[string]string
		allow bool
		want  string // of the refusal; empty: may write
	}{
		{"at home", nil, false, ""},
		{"CI says no", map[string]string{"CI": "false"}, false, ""},
		{"CI", map[string]string{"CI": "true"}, false, "CI never writes goldens"},
		{"CI by another value", map[string]string{"CI": "woodpecker"}, false, "CI never writes goldens"},
		{"a CI that unset CI", map[string]string{"GITHUB_ACTIONS": "true", "CI": ""}, false, "CI never writes goldens"},
		{"branch unknown", map[string]string{"CI": "1", "CI_DEFAULT_BRANCH": "main"}, true, "the branch is unknown"},
		{"a tag is no branch", map[string]string{"CI": "1", "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1", "CI_DEFAULT_BRANCH": "main"}, true, "the branch is unknown"},
		{"default unknown", map[string]string{"CI": "1", "GITHUB_REF_NAME": "topic"}, true, "the default branch is unknown"},
		{"default branch", map[string]string{"CI": "1", "GITHUB_REF_NAME": "trunk", "GITHUB_EVENT_PATH": event}, true, "this is the default branch, trunk"},
		{"topic branch", map[string]string{"CI": "1", "GITHUB_REF_NAME": "topic", "GITHUB_EVENT_PATH": event}, true, ""},
		{"pull request", map[string]string{"CI": "1", "GITHUB_REF_NAME": "12/merge", "GITHUB_HEAD_REF": "topic", "GITHUB_BASE_REF": "trunk", "GITHUB_EVENT_PATH": event}, true, ""},
		{"pull request from a branch of that name", map[string]string{"CI": "1", "GITHUB_HEAD_REF": "trunk", "GITHUB_EVENT_PATH": event}, true, "this is the default branch"},
		{"another system", map[string]string{"GITLAB_CI": "true", "CI_COMMIT_BRANCH": "topic", "CI_DEFAULT_BRANCH": "main"}, true, ""},
		{"two names for the branch", map[string]string{"CI": "1", "CI_COMMIT_BRANCH": "topic", "BRANCH_NAME": "main", "CI_DEFAULT_BRANCH": "main"}, true, "this is the default branch, main"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := golden.Here(t.TempDir(), func(name string) string { return tc.env[name] }).MayWrite(tc.allow)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// Where no variable tells, git does.
func TestPlaceByGit(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "-b", "topic"},
		{"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	p := golden.Here(dir, func(name string) string { return map[string]string{"CI": "true"}[name] })
	assert.Equal(t, golden.Place{CI: true, Branches: []string{"topic"}, Default: "main"}, p)
	require.NoError(t, p.MayWrite(true))
}
