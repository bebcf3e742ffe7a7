package evaltests

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// Merge joins the shards of a run (EVAL_SHARD=i/n) into the run folder out,
// and evaluates the gates, which a shard cannot. It refuses, by name, a shard
// that is missing or there twice, a record that is not whole, and records that
// are not of one run: other sources, questions, configuration, platform. The
// suite files and goldens are those of the checkout at hand, whose tree id is
// tree: it must be the shards' own. Of env only EVAL_BASELINE counts.
func Merge(dirs []string, out, tree string, env Env) (*record.Folder, []*Run, error) {
	parts, err := readParts(dirs)
	if err != nil {
		return nil, nil, err
	}
	if of := parts[0].folder.Tree; !record.SameTree(tree, of) {
		return nil, nil, fmt.Errorf("%s: the run is of tree %.12s, the checkout is %.12s; merge where the shards were run", dirs[0], of, tree)
	}
	groups := map[string][]part{}
	for _, p := range parts {
		key := p.file.Run.Suite + "/" + p.file.Run.Arm + "/" + p.file.Run.Mode
		groups[key] = append(groups[key], p)
	}
	// All is checked before anything is written.
	keys := slices.Sorted(maps.Keys(groups))
	for _, key := range keys {
		if err := whole(groups[key]); err != nil {
			return nil, nil, fmt.Errorf("suite %s: %w", strings.TrimSuffix(key, "/default"), err)
		}
	}
	var from []string
	for _, dir := range dirs {
		f, err := record.ReadFolder(dir)
		if err != nil {
			return nil, nil, err
		}
		from = append(from, fmt.Sprintf("%s %s", filepath.Base(filepath.Clean(dir)), f.Nonce))
	}
	folder, err := record.NewMerged(out, tree, from)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil, fmt.Errorf("%s: is there already; name a folder that is not", out)
	}
	if err != nil {
		return nil, nil, err
	}
	var runs []*Run
	for _, key := range keys {
		run, err := join(folder, groups[key], env)
		if err != nil {
			return nil, nil, fmt.Errorf("suite %s: %w", key, err)
		}
		runs = append(runs, run)
	}
	for _, dir := range dirs {
		if err := copyArtifacts(folder.Dir, dir); err != nil {
			return nil, nil, err
		}
	}
	return folder, runs, nil
}

// part is one record of one shard.
type part struct {
	folder *record.Folder
	file   *record.File
}

func readParts(dirs []string) ([]part, error) {
	var parts []part
	for _, dir := range dirs {
		folder, err := record.ReadFolder(dir)
		if err != nil {
			return nil, err
		}
		files, err := record.ReadAll(dir)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: the run holds no record", dir)
		}
		for _, s := range gate.Judge(folder, files, nil, "", record.Class()).Suites {
			if s.Unsound {
				return nil, fmt.Errorf("%s: suite %s: %s; resume the run, or run the shard again", dir, s.Suite, strings.Join(s.Reasons, "; "))
			}
			if s.File.Run.Shard == "" {
				return nil, fmt.Errorf("%s: suite %s: the run is no shard; there is nothing to join", dir, s.Suite)
			}
			parts = append(parts, part{folder, s.File})
		}
	}
	first := parts[0]
	for _, p := range parts {
		switch {
		case p.folder.Tree == record.UnknownTree:
			return nil, fmt.Errorf("%s: the run was made outside a git checkout, so nobody can tell of which sources it is; run the shards in one", p.folder.Dir)
		case p.folder.Tree != first.folder.Tree:
			return nil, fmt.Errorf("%s: the run is of tree %.12s, %s of %.12s; merge runs of the same sources", p.folder.Dir, p.folder.Tree, first.folder.Dir, first.folder.Tree)
		case p.folder.Identity != first.folder.Identity:
			return nil, fmt.Errorf("%s: the run was made by %+v, %s by %+v", p.folder.Dir, p.folder.Identity, first.folder.Dir, first.folder.Identity)
		}
	}
	return parts, nil
}

// whole refuses parts that are not the shards of one run, each once.
func whole(parts []part) error {
	at := map[Shard]part{}
	first := parts[0]
	n := 0
	for _, p := range parts {
		sh, err := ParseShard(p.file.Run.Shard)
		if err != nil {
			return fmt.Errorf("%s: shard %w", p.file.Path, err)
		}
		if other, twice := at[sh]; twice {
			return fmt.Errorf("shard %s is there twice: %s and %s; give each once", sh, other.folder.Dir, p.folder.Dir)
		}
		at[sh] = p
		if n != 0 && sh.N != n {
			return fmt.Errorf("%s is shard %s, %s is %s; merge shards of one division", p.folder.Dir, sh, first.folder.Dir, first.file.Run.Shard)
		}
		n = sh.N
	}
	var missing []string
	for i := 1; i <= n; i++ {
		if _, ok := at[Shard{i, n}]; !ok {
			missing = append(missing, Shard{i, n}.String())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing shards: %s; run them with EVAL_SHARD, then merge all %d", strings.Join(missing, ", "), n)
	}
	but := []string{"shard", "plan"}
	if severalStores(first.file.Run) {
		but = append(but, "hashes.seed_key") // each shard made the stores of its own cases
	}
	for _, p := range parts[1:] {
		keys, err := record.Differing(first.file.Run, p.file.Run, but...)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			return fmt.Errorf("%s and %s differ in %s; shards of one run are equal in all but their cases", first.folder.Dir, p.folder.Dir, strings.Join(keys, ", "))
		}
	}
	for sh, p := range at {
		want := slices.DeleteFunc(slices.Clone(p.file.Run.Whole), func(id string) bool { return !sh.Has(id) })
		if !slices.Equal(want, p.file.Run.Plan) && p.file.Run.NotRun == "" {
			return fmt.Errorf("%s: the plan of shard %s is not that part of the whole plan", p.folder.Dir, sh)
		}
	}
	return nil
}

// join writes one record of the parts and gives its verdict.
func join(folder *record.Folder, parts []part, env Env) (*Run, error) {
	line := parts[0].file.Run
	line.Shard, line.Plan, line.Whole, line.Nonce = "", line.Whole, nil, folder.Nonce
	if line.Plan == nil {
		line.Plan = []string{}
	}
	if err := joinSeeds(&line, parts); err != nil {
		return nil, err
	}
	suite, err := suiteOf(line, env)
	if err != nil {
		return nil, err
	}
	suite.folder = folder
	x := &session{suite: suite, run: line}
	x.run.Context.Command = "touchstone merge"
	var wall float64
	for _, p := range parts {
		x.rows = append(x.rows, p.file.Rows...)
		wall += p.file.End.Wall
		if p.file.Run.Context.DirtyFiles != 0 {
			x.run.Context.DirtyFiles = p.file.Run.Context.DirtyFiles
		}
	}
	x.wall = &wall
	if x.writer, err = record.Create(folder.Dir, line.Suite); err != nil {
		return nil, err
	}
	defer x.close()
	if err := x.writer.Run(x.run); err != nil {
		return nil, err
	}
	record.SortRows(x.run.Plan, x.rows)
	for _, r := range x.rows {
		if err := x.writer.Row(r); err != nil {
			return nil, err
		}
	}
	return x.finish(false)
}

func severalStores(line record.Run) bool {
	return line.Scope != "" && line.Scope != string(seed.BySuite)
}

// joinSeeds lists the stores of all shards. Two shards may have used the same
// one, and then its key is the same.
func joinSeeds(line *record.Run, parts []part) error {
	joinContracts(line, parts)
	if !severalStores(*line) {
		return nil
	}
	line.Seeds = nil
	keys := map[string]any{}
	for _, p := range parts {
		for _, s := range p.file.Run.Seeds {
			switch key, known := keys[s.Group]; {
			case known && key != s.Key:
				return fmt.Errorf("%s: the store of group %q has the key %.12s, that of another shard %.12s", p.folder.Dir, s.Group, s.Key, key)
			case !known:
				keys[s.Group] = s.Key
				line.Seeds = append(line.Seeds, s)
			}
		}
	}
	slices.SortFunc(line.Seeds, func(a, b record.Seed) int { return strings.Compare(a.Group, b.Group) })
	var err error
	if len(keys) > 0 {
		line.Hashes.SeedKey, err = seedsKey(keys)
	}
	return err
}

// joinContracts adds up the stores of the shards; a store that two of them
// used counts twice, on both sides.
func joinContracts(line *record.Run, parts []part) {
	if line.Contract == nil {
		return
	}
	all := *line.Contract
	for _, p := range parts[1:] {
		c := p.file.Run.Contract
		if c == nil {
			all.NotApplicable = "a shard was not held to it"
			continue
		}
		all.Stores, all.Held = all.Stores+c.Stores, all.Held+c.Held
		all.Reason, all.Action = cmp.Or(all.Reason, c.Reason), cmp.Or(all.Action, c.Action)
		all.NotApplicable = cmp.Or(all.NotApplicable, c.NotApplicable)
	}
	line.Contract = &all
}

// suiteOf is the suite that a run line is of, without its pack: from the suite
// file of that name, which must still say what the line says, or from the line
// alone where the suite was made in Go.
func suiteOf(line record.Run, env Env) (*Suite, error) {
	env = Env{Tier: line.Tier, Repeat: line.Repeats, Baseline: env.Baseline}
	root := goldenRoot(".")
	files, err := SuiteFiles(root)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Name != line.Suite || f.Aside() {
			continue
		}
		s, err := readSuite(f.Path, env)
		if err != nil {
			return nil, err
		}
		s.folder, s.Arm, s.notRun = &record.Folder{}, line.Arm, line.NotRun
		x := &session{suite: s, run: s.runLine(testName{})}
		if err := x.decide(); err != nil {
			return nil, err
		}
		again := x.run
		again.Identity, again.Workers, again.Timeout, again.LeftOut = line.Identity, line.Workers, line.Timeout, line.LeftOut
		keys, err := record.Differing(line, again, "plan", "unit", "pack", "hashes", "config", "test", "package", "shard", "whole_plan", "runner", "scope")
		if err != nil {
			return nil, err
		}
		if len(keys) > 0 {
			return nil, fmt.Errorf("%s differs from the run in %s; merge with the suite file of the run", f.Path, strings.Join(keys, ", "))
		}
		return s, nil
	}
	if line.GoldenK > 0 {
		return nil, fmt.Errorf("no suite file of this module has the name %s, and its drift gate needs one", line.Suite)
	}
	return &Suite{Name: line.Suite, Arm: line.Arm, Tier: line.Tier, Headline: line.Headline, Decision: line.Decision, env: env, notRun: line.NotRun}, nil
}

// copyArtifacts copies the artifacts of a run. Their names are digests, so
// equal names hold the same case.
func copyArtifacts(to, from string) error {
	files, err := filepath.Glob(filepath.Join(from, "artifacts", "*.txt"))
	if err != nil {
		return err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := filepath.Join(to, "artifacts")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
