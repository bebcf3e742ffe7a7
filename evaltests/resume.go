package evaltests

import (
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// resumes reports whether the run folder is one that was taken up again.
func (x *session) resumes() bool { return len(x.suite.folder.Resumed) > 0 }

// resume looks for what an interrupted process left of this suite. A record
// that it completed stands; of one that it did not the cases are kept.
func (x *session) resume() error {
	w, f, err := record.Resume(x.suite.folder.Dir, x.run)
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if f == nil {
		return nil
	}
	if f.State == record.Complete {
		x.ended = f
		// What filling the subject would tell (hashes, configuration) is taken
		// from the record: to ingest again only to compare would cost what
		// resuming saves.
		return x.differs(f.Run, "plan", "whole_plan", "unit", "pack", "runner", "scope", "hashes", "config")
	}
	x.writer = w
	if len(f.Rows) == 0 && f.Lines == 0 {
		return nil
	}
	x.kept = map[string]record.Row{}
	for _, r := range f.Rows {
		x.kept[r.Identity()] = r
	}
	x.earlier = &f.Run
	return nil
}

// sameRun holds the run that goes on to the one that was interrupted, key by
// key: figures of two configurations must not meet in one record.
func (x *session) sameRun() error { return x.differs(*x.earlier) }

func (x *session) differs(earlier record.Run, but ...string) error {
	keys, err := record.Differing(earlier, x.run, but...)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		return fmt.Errorf("resume: the interrupted run differs in %s; run with what it had, or anew", strings.Join(keys, ", "))
	}
	return nil
}

// asRecorded is the finished run of a record that was complete before.
func (x *session) asRecorded() *Run {
	s, f := x.suite, x.ended
	run := &Run{Suite: s, Folder: s.folder, Path: f.Path, Line: f.Run, Rows: f.Rows, Gates: f.Gates, Verdict: *f.Verdict}
	if s.Golden != nil && len(f.Gates) > 0 {
		run.Drift = golden.CheckSuite(s.GoldenDir, s.Name, *s.Golden, f.Run, f.Rows)
	}
	return run
}
