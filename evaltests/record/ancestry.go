package record

import (
	"errors"
	"fmt"
	"os/exec"
)

// After reports whether commit is first or comes after it in the history of
// the checkout that dir is in. What git cannot tell is an error.
func After(dir, first, commit string) (bool, error) {
	_, err := git(dir, "merge-base", "--is-ancestor", first, commit)
	var code *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &code) && code.ExitCode() == 1:
		return false, nil
	}
	return false, fmt.Errorf("git cannot tell whether commit %.12s is before %.12s", first, commit)
}
