package seed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// make fills a folder beside dir, under the exclusive lock, and moves it into
// place when it is whole: a process that dies leaves either what was there or
// all of the new store. It returns what it did, or nil when another process
// had done it.
func (b *builder) make(dir string, before Found) (made *Decision, err error) {
	lock, err := take(b.ctx, dir+LockSuffix, true, b.Flags)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	// Another process may have been quicker.
	s, _, err := b.look(dir)
	if err != nil {
		return nil, err
	}
	switch s.Decision.Action {
	case ToReuse:
		return nil, nil
	case ToRefuse:
		return nil, &RefusedError{Reason: dir + ": " + s.Decision.Reason, Action: s.Decision.Do}
	}
	staging := dir + StagingSuffix
	if err := removeOurs(staging); err != nil { // what a killed process left
		return nil, err
	}
	if err := os.Mkdir(staging, 0o755); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeOurs(staging))
		}
	}()
	fresh := &Seed{Dir: staging, Key: b.key, Parts: b.parts}
	from := ""
	if s.Decision.Action == ToMigrate {
		if from = dir; !before.Exists {
			if from, _, err = b.stale(dir); err != nil {
				return nil, err
			}
		}
	}
	if err := b.fill(fresh, "seed", &from); err != nil {
		return nil, err
	}
	if s.Decision.Action == ToWipe || s.Decision.Action == ToMigrate && from == dir {
		if err := removeOurs(dir); err != nil {
			return nil, err
		}
	}
	return &s.Decision, os.Rename(staging, dir)
}

// fill makes the empty folder of s a store that is fit to be measured: mark,
// documents (or a copy of the store in *from, brought up to date), contract,
// stamp.
func (b *builder) fill(s *Seed, made string, from *string) error {
	start := time.Now()
	s.Mark = Mark{Made: made, Of: b.name(), Key: b.key}
	if err := WriteMark(s.Dir, s.Mark); err != nil {
		return err
	}
	s.Mark.Fill = &Filled{Concurrency: b.Concurrency, How: "built"}
	timed := func(name string, step func() error) error {
		begin := time.Now()
		err := step()
		s.Mark.Fill.Steps = append(s.Mark.Fill.Steps, Step{Name: name, Micros: time.Since(begin).Microseconds(), Concurrency: 1})
		return err
	}
	var err error
	if from != nil && *from != "" {
		s.Mark.Fill.How = "migrated"
		err = timed("copy", func() error { return copyStore(s.Dir, *from) })
		if err == nil {
			err = timed("backfill", func() error { return b.engine.Backfill(b.ctx, s.Dir) })
		}
	} else {
		var report Report
		source := func(d pack.Document) (string, string) { return StoredAs(b.Pack, d) }
		report, err = b.engine.Fill(b.ctx, s.Dir, source, b.Documents, b.Concurrency)
		s.Mark.Fill.Steps, s.Mark.Skip = report.Steps, report.Skipped
		if err == nil && report.Documents != len(b.Documents) {
			err = fmt.Errorf("the engine took %d of %d documents", report.Documents, len(b.Documents))
		}
	}
	if err != nil {
		return err
	}
	if err := timed("check", func() error { return b.check(s) }); err != nil {
		return err
	}
	if b.key != "" {
		err := timed("stamp", func() error {
			content, err := b.engine.Content(b.ctx, s.Dir)
			if err != nil {
				return err
			}
			text, err := Stamp{V: stampVersion, Key: b.key, Parts: b.parts, Content: content}.Text()
			if err != nil {
				return err
			}
			return b.engine.WriteStamp(b.ctx, s.Dir, text)
		})
		if err != nil {
			return err
		}
	}
	s.Mark.Fill.Micros = time.Since(start).Microseconds()
	return WriteMark(s.Dir, s.Mark)
}

// copyStore copies a store into the folder dir, which is there, without its
// mark.
func copyStore(dir, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, dest := filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())
		switch {
		case e.Name() == MarkFile:
		case e.IsDir():
			err = os.CopyFS(dest, os.DirFS(source))
		default:
			var data []byte
			if data, err = os.ReadFile(source); err == nil {
				err = os.WriteFile(dest, data, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeOurs removes a folder that has the mark. One that is absent, or that
// was made and not yet marked, is nothing to be lost.
func removeOurs(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 && !(len(entries) == 1 && entries[0].Name() == MarkFile+".tmp") {
		if err := RequireMark(dir); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// stale finds a seed beside dir that EVAL_MIGRATE_STALE lets be brought up to
// date. Of several it takes the first by name.
func (b *builder) stale(dir string) (from string, ok bool, err error) {
	if !b.Flags.MigrateStale {
		return "", false, nil
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(dir), e.Name())
		if !e.IsDir() || other == dir || strings.Contains(e.Name(), ".") {
			continue
		}
		found, _, err := b.find(other)
		if err != nil {
			return "", false, err
		}
		if found.Ours && found.Stamp != nil && Decide(b.parts, found, b.Flags).Action == ToMigrate {
			return other, true, nil
		}
	}
	return "", false, nil
}
