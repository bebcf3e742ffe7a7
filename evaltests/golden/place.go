package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Place is where a golden would be written, as far as that decides whether it
// may be.
type Place struct {
	CI       bool
	Branches []string // that the checkout is said to be on; none: unknown
	Default  string   // the repository's default branch; empty: unknown
}

// Here tells the place of the checkout that dir is in, by the variables that
// CI systems set (getenv, usually os.Getenv) and by git.
func Here(dir string, getenv func(string) string) Place {
	var p Place
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "JENKINS_URL"} {
		p.CI = p.CI || !isNo(getenv(name))
	}
	if !p.CI {
		return p
	}
	add := func(branch string) {
		if branch != "" && !slices.Contains(p.Branches, branch) {
			p.Branches = append(p.Branches, branch)
		}
	}
	// In a pull request GITHUB_REF_NAME is "12/merge"; the head is what a push
	// would go to.
	if head := getenv("GITHUB_HEAD_REF"); head != "" {
		add(head)
	} else if getenv("GITHUB_REF_TYPE") != "tag" {
		add(getenv("GITHUB_REF_NAME"))
	}
	for _, name := range []string{"CI_COMMIT_BRANCH", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "BUILDKITE_BRANCH", "BRANCH_NAME"} {
		add(getenv(name))
	}
	add(git(dir, "symbolic-ref", "--quiet", "--short", "HEAD"))
	for _, name := range []string{"CI_DEFAULT_BRANCH", "BUILDKITE_PIPELINE_DEFAULT_BRANCH"} {
		if p.Default == "" {
			p.Default = getenv(name)
		}
	}
	if p.Default == "" {
		p.Default = eventDefault(getenv("GITHUB_EVENT_PATH"))
	}
	if p.Default == "" {
		p.Default = strings.TrimPrefix(git(dir, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"), "origin/")
	}
	return p
}

// isNo reports whether a variable says no by its value; a presence alone says
// nothing.
func isNo(value string) bool {
	return slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(strings.TrimSpace(value)))
}

// eventDefault is the default branch that the event of a GitHub workflow
// names.
func eventDefault(path string) string {
	if path == "" {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var event struct {
		Repository struct {
			DefaultBranch string `json:"default_branch"`
		} `json:"repository"`
	}
	if json.Unmarshal(data, &event) != nil {
		return ""
	}
	return event.Repository.DefaultBranch
}

// MayWrite refuses a place where no golden may be written: a CI job, unless
// that is allowed and the job is on a branch that is known and not the default
// one.
func (p Place) MayWrite(allowCI bool) error {
	switch {
	case !p.CI:
		return nil
	case !allowCI:
		return errors.New("CI never writes goldens (CI is set); accept the run folder of this job in a checkout, or give --allow-ci on a branch")
	case len(p.Branches) == 0:
		return errors.New("--allow-ci: the branch is unknown (no GITHUB_REF_NAME or its like, and HEAD is detached); check out a branch")
	case p.Default == "":
		return errors.New("--allow-ci: the default branch is unknown; run `git remote set-head origin --auto` first")
	case slices.Contains(p.Branches, p.Default):
		return fmt.Errorf("--allow-ci: this is the default branch, %s; bless on a branch and merge it", p.Default)
	}
	return nil
}

// Who is the name of the person at work, empty when nobody says.
func Who(dir string, getenv func(string) string) string {
	if actor := getenv("GITHUB_ACTOR"); actor != "" {
		return actor
	}
	return git(dir, "config", "user.name")
}

// git is the one line that a git command prints; empty when it fails. What
// counts is the checkout at dir, not the one that a hook's variables name.
func git(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_CONFIG")
	}), "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
