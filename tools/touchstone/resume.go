package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// takeUp makes e the continuation of an interrupted run: of the same sources,
// by the same tool, with the same arguments of go test. What else must be equal
// the suites hold their records to, key by key.
func (e *evaluation) takeUp(dir, inventoryPath string, args []string) error {
	if len(args) > 0 {
		return usage("eval: --resume takes the arguments of go test from the run; give none")
	}
	folder, err := record.ReadFolder(dir)
	if err != nil {
		return refused(err)
	}
	if folder.By != "touchstone eval" || len(folder.Args) < len(goTest) || !slices.Equal(folder.Args[:len(goTest)], goTest) {
		return refused(fmt.Errorf("%s: the run was made by %s; only a run of touchstone eval can be resumed", dir, folder.By))
	}
	var keys []string
	here := record.CurrentIdentity()
	for _, k := range []struct {
		name      string
		then, now string
	}{{"tool", folder.Identity.Tool, here.Tool}, {"go", folder.Identity.Go, here.Go}, {"class", folder.Identity.Class, here.Class}} {
		if k.then != k.now {
			keys = append(keys, fmt.Sprintf("%s (%s, now %s)", k.name, k.then, k.now))
		}
	}
	if tree := record.Tree("."); !record.SameTree(tree, folder.Tree) {
		keys = append(keys, fmt.Sprintf("tree (%.12s, now %.12s)", folder.Tree, tree))
	}
	if len(keys) > 0 {
		return refused(fmt.Errorf("%s: cannot be resumed, it differs in %s; run anew", dir, strings.Join(keys, ", ")))
	}
	unlock, err := folder.Lock()
	if err != nil {
		return refused(err)
	}
	folder.Resumed = append(folder.Resumed, time.Now().UTC())
	err = folder.Write()
	unlock() // run takes it again
	if err != nil {
		return refused(err)
	}
	e.folder, e.args = folder, folder.Args
	// Patterns of the inventory are relative to it, those of a user to where
	// the run was started, which is the working folder again.
	if given, ok := cutTail(folder.Args[len(goTest):], e.inventory.Packages); ok && !slices.ContainsFunc(given, isPattern) {
		e.dir = filepath.Dir(inventoryPath)
	}
	return nil
}

func cutTail(s, tail []string) ([]string, bool) {
	n := len(s) - len(tail)
	if n < 0 || !slices.Equal(s[n:], tail) {
		return s, false
	}
	return s[:n], true
}
