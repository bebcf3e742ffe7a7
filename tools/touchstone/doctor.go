package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/engine/models"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

func doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what an evaluation needs, and say how to mend it",
		Long: `Check what an evaluation needs, and say how to mend it: toolchain, environment,
inventory, suites and packs, models, seeds, runs that did not end or have no
line of progress, goldens, free disk. It changes nothing. Exit code 2 if
something would keep an evaluation from being measured, else 0.`,
		Example: "  touchstone doctor\n  touchstone doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := examine()
			if asJSON {
				if err := report.JSON(cmd.OutOrStdout(), d); err != nil {
					return refused(err)
				}
			} else {
				d.text(cmd.OutOrStdout())
			}
			if !d.Fit {
				return &exit{code: exitRefused}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// States of a finding.
const (
	well    = "ok"
	note    = "note" // worth knowing; it stops nothing
	unwell  = "bad"  // it keeps an evaluation from being measured
	noSight = "unknown"
)

// finding is one thing that was looked at.
type finding struct {
	What   string `json:"what"`
	State  string `json:"state"`
	Found  string `json:"found"`
	Action string `json:"action,omitempty"`
}

// diagnosis is what doctor found.
type diagnosis struct {
	Fit      bool      `json:"fit"`
	Findings []finding `json:"findings"`
}

func (d *diagnosis) add(what, state, found, action string) {
	d.Findings = append(d.Findings, finding{what, state, found, action})
	d.Fit = d.Fit && state != unwell
}

func (d *diagnosis) text(w io.Writer) {
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%-7s %-12s %s\n", f.State, f.What, printable(f.Found))
		if f.Action != "" && f.State != well {
			fmt.Fprintf(w, "%-7s %-12s do: %s\n", "", "", printable(f.Action))
		}
	}
}

func examine() *diagnosis {
	d := &diagnosis{Fit: true}
	d.toolchain()
	env, err := evaltests.ParseEnv(os.Environ())
	if err != nil {
		d.add("environment", unwell, err.Error(), "correct or unset the variables")
		return d
	}
	d.add("environment", well, env.Banner(), "")
	root, ok := record.ModuleRoot(".")
	if !ok {
		d.add("module", unwell, "no go.mod here or above", "run in the checkout of the suites")
		return d
	}
	d.inventory(root)
	d.suites(root, env)
	d.models(root)
	d.seeds(env.Cache)
	d.runs(record.Base("."))
	d.progress(record.Base("."), root)
	d.goldens()
	for _, place := range []string{root, os.TempDir()} {
		d.disk(place)
	}
	return d
}

func (d *diagnosis) toolchain() {
	out, err := exec.Command("go", "env", "GOVERSION", "CGO_ENABLED", "CC").Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 3 {
		d.add("go", unwell, fmt.Sprintf("the go command does not answer: %v", err), "install Go and put it in PATH")
		return
	}
	d.add("go", well, fields[0], "")
	switch _, err := exec.LookPath(fields[2]); {
	case fields[1] != "1":
		d.add("c compiler", unwell, "CGO_ENABLED=0, and the store needs cgo", "set CGO_ENABLED=1")
	case err != nil:
		d.add("c compiler", unwell, fields[2]+" is not in PATH, and the store needs it", "install a C compiler, or set CC")
	default:
		d.add("c compiler", well, fields[2], "")
	}
}

func (d *diagnosis) inventory(root string) {
	path := filepath.Join(root, gate.InventoryFile)
	inv, err := gate.ReadInventory(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add("inventory", note, "no "+gate.InventoryFile+", so `touchstone eval` refuses to run", "list the suites that a run must contain: docs/packs.md")
	case err != nil:
		d.add("inventory", unwell, err.Error(), "correct the file")
	default:
		d.add("inventory", well, fmt.Sprintf("%d suites", len(inv.Suites)), "")
	}
}

func (d *diagnosis) suites(root string, env evaltests.Env) {
	files, err := evaltests.SuiteFiles(root)
	if err != nil {
		d.add("suites", unwell, err.Error(), "correct the file")
		return
	}
	for _, f := range files {
		if f.Aside() {
			continue
		}
		what := "suite " + f.Name
		s, err := evaltests.LoadSuite(f.Path, env)
		if err != nil {
			d.add(what, unwell, err.Error(), "correct the suite file")
			continue
		}
		switch r := s.Ready(); {
		case r.Problem != "":
			d.add(what, unwell, r.Problem, r.Action)
		case r.NotRun != "":
			d.add(what, note, "not run: "+r.NotRun, "")
		default:
			cases, calls := s.Planned()
			d.add(what, well, fmt.Sprintf("%d cases, %d calls", cases, calls), "")
		}
	}
}

func (d *diagnosis) models(root string) {
	lock, err := models.ReadLock(filepath.Join(root, "models.lock.json"))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		d.add("models", unwell, err.Error(), "restore models.lock.json")
		return
	}
	dir := models.Dir()
	for _, m := range lock.Models {
		switch s, _ := stateOf(dir, m); s.State {
		case "absent":
			d.add("model "+m.Name, note, "not in "+shown(dir)+"; the default model is built in", "run touchstone models get "+m.Name)
		case "changed":
			d.add("model "+m.Name, unwell, s.Detail, "run touchstone models get "+m.Name)
		default:
			d.add("model "+m.Name, well, "in place, digest as locked", "")
		}
	}
}

// seeds looks through the cache: what a killed process left, what is not ours,
// and what a process fills.
func (d *diagnosis) seeds(cache string) {
	places, err := filepath.Glob(filepath.Join(cache, "seeds", "*", "*", "*"))
	if err != nil {
		d.add("seeds", noSight, err.Error(), "")
		return
	}
	var sound int
	var left, unfinished, strange, busy []string
	var bytes int64
	for _, dir := range places {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue // a lock
		}
		n, err := sizeOf(dir)
		if err != nil {
			d.add("seeds", noSight, err.Error(), "")
			return
		}
		bytes += n
		place, staging := strings.CutSuffix(dir, seed.StagingSuffix)
		m, found, err := seed.ReadMark(dir)
		switch {
		case held(place + seed.LockSuffix):
			busy = append(busy, shown(place))
		case err != nil || !found:
			strange = append(strange, shown(dir))
		case staging:
			left = append(left, shown(dir))
		case m.Fill == nil:
			unfinished = append(unfinished, shown(dir))
		default:
			sound++
		}
	}
	d.add("seeds", well, fmt.Sprintf("%d in %s, %.1f MB", sound, shown(cache), float64(bytes)/1e6), "")
	if len(left) > 0 {
		d.add("seeds", note, "filling was interrupted: "+strings.Join(left, ", "), "nothing: the next run removes it and fills anew")
	}
	if len(unfinished) > 0 {
		d.add("seeds", note, "marked as ours, and not filled: "+strings.Join(unfinished, ", "), "build again with EVAL_ALLOW_WIPE=1, or remove the folders")
	}
	if len(strange) > 0 {
		d.add("seeds", note, "no sandbox mark, so runs that look here refuse: "+strings.Join(strange, ", "), "move them out of the cache")
	}
	if len(busy) > 0 {
		d.add("seeds", note, "a process fills it: "+strings.Join(busy, ", "), "wait for it")
	}
}

// held reports whether a process holds the lock. The system frees a lock with
// its process, so a lock file alone is never stale.
func held(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryRLock()
	if ok {
		l.Unlock()
	}
	return err == nil && !ok
}

func (d *diagnosis) runs(dir string) {
	runs, err := runFolders(dir)
	if err != nil {
		d.add("runs", noSight, err.Error(), "")
		return
	}
	var bytes int64
	for _, r := range runs {
		if n, err := sizeOf(r.Dir); err == nil {
			bytes += n
		}
		d.run(r)
	}
	const many = 50
	state, action := well, ""
	if len(runs) > many {
		state, action = note, "touchstone clean --keep 10"
	}
	d.add("runs", state, fmt.Sprintf("%d in %s, %.1f MB", len(runs), shown(dir), float64(bytes)/1e6), action)
}

// run names a run that did not end.
func (d *diagnosis) run(r *record.Folder) {
	name := shown(r.Dir)
	unlock, err := r.Lock()
	if err != nil {
		d.add("runs", note, name+" is going on", "")
		return
	}
	unlock()
	files, err := record.ReadAll(r.Dir)
	if err != nil {
		d.add("runs", note, err.Error(), "remove the run folder")
		return
	}
	again := "touchstone eval --resume " + name
	if r.By != "touchstone eval" {
		again = "run again"
	}
	if len(files) == 0 {
		d.add("runs", note, name+" holds no record", again+", or touchstone clean --keep N")
	}
	for _, f := range files {
		switch f.State {
		case record.Truncated:
			d.add("runs", note, fmt.Sprintf("%s: suite %s did not end: %s", name, f.Run.Suite, f.Detail), again)
		case record.Tampered:
			d.add("runs", note, fmt.Sprintf("%s: suite %s was edited: %s", name, f.Run.Suite, f.Detail), "run again; its figures are no evidence")
		}
	}
}

func (d *diagnosis) goldens() {
	lost, err := orphans(nil, nil)
	if err != nil {
		d.add("goldens", noSight, err.Error(), "")
		return
	}
	for _, name := range lost {
		d.add("goldens", note, fmt.Sprintf("goldens/%s is an orphan: no suite file has that name", name), "remove it, or restore its suite")
	}
	if len(lost) == 0 {
		d.add("goldens", well, "each belongs to a suite", "")
	}
}

// enough is the free space below which a run may break off.
const enough = 1 << 30

func (d *diagnosis) disk(place string) {
	free, err := freeBytes(place)
	switch {
	case err != nil:
		d.add("disk", noSight, fmt.Sprintf("%s: %v", place, err), "")
	case free < enough:
		d.add("disk", unwell, fmt.Sprintf("%.2f GB free in %s", float64(free)/1e9, place), "free some; touchstone clean --keep N removes old runs")
	default:
		d.add("disk", well, fmt.Sprintf("%.1f GB free in %s", float64(free)/1e9, place), "")
	}
}
