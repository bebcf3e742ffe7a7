package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/report"
)

// packFolders lists the folders with a pack.toml below the module and below
// the cache.
func packFolders(cache string) ([]string, error) {
	root, ok := record.ModuleRoot(".")
	if !ok {
		root = "."
	}
	var out []string
	for _, top := range []string{root, filepath.Join(cache, "packs")} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path == top {
				return filepath.SkipAll
			}
			if err != nil {
				return err
			}
			name := d.Name()
			if d.IsDir() && path != top && (strings.HasPrefix(name, ".") || name == "vendor" || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			if name == pack.ManifestFile && !d.IsDir() && !slices.Contains(out, filepath.Dir(path)) {
				out = append(out, filepath.Dir(path))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

type packRow struct {
	Folder   string       `json:"folder"`
	Name     string       `json:"name"`
	Version  string       `json:"version"`
	Format   string       `json:"format"`
	Role     string       `json:"role"`
	Authored string       `json:"authored"`
	Counts   *pack.Counts `json:"counts,omitempty"` // as pinned
	Here     bool         `json:"here"`             // the content is on this machine
	State    string       `json:"state"`
}

func packListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the packs of this module and of the cache",
		Example: "  touchstone pack list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, err := evaltests.ParseEnv(os.Environ())
			if err != nil {
				return &exit{exitUsage, err}
			}
			folders, err := packFolders(env.Cache)
			if err != nil {
				return refused(err)
			}
			rows := []packRow{}
			for _, dir := range folders {
				rows = append(rows, listPack(dir, env.Packs))
			}
			if asJSON {
				return refused(report.JSON(cmd.OutOrStdout(), rows))
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tFORMAT\tROLE\tAUTHORED\tDOCUMENTS\tCASES\tSTATE\tFOLDER")
			for _, r := range rows {
				documents, cases := "-", "-"
				if r.Counts != nil {
					documents, cases = fmt.Sprint(r.Counts.Documents), fmt.Sprint(r.Counts.Cases)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Format, r.Role, r.Authored, documents, cases, r.State, shown(r.Folder))
			}
			return refused(w.Flush())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// listPack says what a folder holds without loading its content.
func listPack(dir, packs string) packRow {
	m, err := pack.ReadManifest(dir)
	r := packRow{Folder: dir, Name: m.Name, Version: m.Version, Format: m.Format, Role: m.Role, Authored: m.Authored, Here: true}
	if err != nil {
		r.Name, r.State = filepath.Base(dir), "broken: "+strings.SplitN(err.Error(), "\n", 2)[0]
		return r
	}
	if l, err := pack.ReadLock(dir); err == nil {
		r.Counts, r.State = &l.Counts, "pinned"
	} else {
		r.State = "not pinned"
	}
	if m.External {
		folder := m.Name
		if m.Folder != "" {
			folder = m.Folder
		}
		if info, err := os.Stat(filepath.Join(packs, folder)); packs == "" || err != nil || !info.IsDir() {
			r.Here = false
			r.State += ", not here (EVAL_PACKS)"
		}
	}
	return r
}

func packShowCommand() *cobra.Command {
	var asJSON bool
	var format string
	c := &cobra.Command{
		Use:     "show PACK [CASE]",
		Short:   "Show what a pack holds, or one case with its gold",
		Example: "  touchstone pack show fixtures/godoc\n  touchstone pack show fixtures/locomo10 conv-26/q0",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := loadPack(args[0], format)
			if err != nil {
				return err
			}
			exposed, err := pack.ReadExposure(p.Dir)
			if err != nil {
				return refused(err)
			}
			if len(args) == 1 {
				return showPack(cmd, p, exposed, asJSON)
			}
			for _, k := range p.Cases {
				if k.Question.ID == args[1] {
					return showCase(cmd, p, k, exposed.Times(k.Question.ID), asJSON)
				}
			}
			return usage("pack show: %s has no case %q", p.Manifest.Name, args[1])
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	rawFormat(c, &format)
	return c
}

func showPack(cmd *cobra.Command, p *pack.Pack, exposed pack.Exposure, asJSON bool) error {
	strata, groups, contested := map[string]int{}, map[string]bool{}, []string{}
	broken, overdue := []string{}, []string{}
	unjudged := 0
	for _, k := range p.Cases {
		strata[k.Stratum]++
		groups[k.Group] = true
		if k.Contested != "" {
			contested = append(contested, k.Question.ID)
		}
		if b := k.KnownBroken; b != nil {
			broken = append(broken, k.Question.ID)
			if b.Overdue(time.Now()) {
				overdue = append(overdue, fmt.Sprintf("%s (%s, until %s)", k.Question.ID, b.Owner, b.Until))
			}
		}
		if k.Unjudged != "" {
			unjudged++
		}
	}
	n := p.Counts()
	if asJSON {
		return refused(report.JSON(cmd.OutOrStdout(), map[string]any{
			"name": p.Manifest.Name, "version": p.Manifest.Version, "format": p.Manifest.Format, "role": p.Manifest.Role, "authored": p.Manifest.Authored,
			"unit": p.Manifest.Unit, "loader": p.Loader, "counts": n, "strata": strata, "groups": len(groups), "unjudged": unjudged,
			"contested": contested, "defects": pack.Count(p.Defects), "exposed": exposed.Cases(),
			"known_broken": broken, "overdue": len(overdue),
		}))
	}
	w := cmd.OutOrStdout()
	m := p.Manifest
	title := m.Name + " " + m.Version
	if m.Description != "" {
		title += ": " + m.Description
	}
	fmt.Fprintln(w, harmless(title))
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-12s %s\n", key, harmless(value))
		}
	}
	line("loader", p.Loader)
	line("role", fmt.Sprintf("%s, authored %s", m.Role, m.Authored))
	line("unit", m.Unit)
	line("language", m.Language)
	line("licence", m.Licence)
	line("source", m.Source)
	line("selection", m.Selection)
	line("documents", fmt.Sprint(n.Documents))
	line("cases", fmt.Sprintf("%d, %d answerable, %d without a relevant document, %d contested", n.Cases, n.Answerable, unjudged, len(contested)))
	line("judgements", fmt.Sprint(n.Judgements))
	if len(broken) > 0 {
		line("known broken", fmt.Sprintf("%d: %s", len(broken), strings.Join(broken, ", ")))
	}
	if len(overdue) > 0 {
		line("overdue", strings.Join(overdue, ", "))
	}
	if len(groups) > 1 {
		line("groups", fmt.Sprint(len(groups)))
	}
	for _, s := range sortedKeys(strata) {
		line("stratum", fmt.Sprintf("%s: %d", s, strata[s]))
	}
	defects := pack.Count(p.Defects)
	for _, rule := range sortedKeys(defects) {
		line("defect", fmt.Sprintf("%s: %d", rule, defects[rule]))
	}
	if cases := exposed.Cases(); cases > 0 {
		line("exposure", fmt.Sprintf("%d cases were used for tuning, at most %d times", cases, exposed.Most()))
	}
	return nil
}

func showCase(cmd *cobra.Command, p *pack.Pack, k pack.Case, exposed int, asJSON bool) error {
	if asJSON {
		return refused(report.JSON(cmd.OutOrStdout(), map[string]any{"case": k, "exposed": exposed}))
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s: %s\n", k.Question.ID, harmless(k.Question.Text))
	line := func(key, format string, args ...any) {
		fmt.Fprintf(w, "  %-12s %s\n", key, harmless(fmt.Sprintf(format, args...)))
	}
	line("stratum", "%s", k.Stratum)
	if k.Group != "" {
		line("group", "%s", k.Group)
	}
	if len(k.Tags) > 0 {
		line("tags", "%s", strings.Join(k.Tags, ", "))
	}
	if k.Question.AsOf != "" {
		line("as of", "%s", k.Question.AsOf)
	}
	for _, f := range sortedKeys(k.Question.Filters) {
		line("filter", "%s = %s", f, k.Question.Filters[f])
	}
	line("answerable", "%t", k.Gold.Answerable)
	for _, e := range k.Gold.Expected {
		line("expected", "%q", e)
	}
	for _, e := range k.Gold.Patterns {
		line("pattern", "%s", e)
	}
	documents := map[string]pack.Document{}
	for _, d := range p.Documents {
		documents[d.ID] = d
	}
	for _, id := range sortedKeys(k.Gold.Grades) {
		line("gold", "%s grade %d: %.100q", id, k.Gold.Grades[id], strings.TrimSpace(documents[id].Title+" "+documents[id].Text))
	}
	for _, e := range k.Gold.Evidence {
		line("evidence", "%s %s %.100q", e.Document, e.Section, e.Text)
	}
	if k.Unjudged != "" {
		line("unjudged", "%s", k.Unjudged)
	}
	if b := k.KnownBroken; b != nil {
		late := ""
		if b.Overdue(time.Now()) {
			late = ", overdue"
		}
		line("known broken", "%s: %s, until %s%s", b.Reason, b.Owner, b.Until, late)
	}
	if k.Contested != "" {
		line("contested", "%s", k.Contested)
	}
	line("exposed", "%d times used for tuning", exposed)
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func packLintCommand() *cobra.Command {
	var asJSON bool
	var format string
	var rules []string
	c := &cobra.Command{
		Use:   "lint PACK",
		Short: "Look for what is likely wrong with a pack's answer key",
		Long: `Look for what is likely wrong with a pack's answer key, and show what its
loader noted. The exit code is 0 if nothing was found, else 1.`,
		Example: "  touchstone pack lint fixtures/godoc\n  touchstone pack lint fixtures/locomo10 --rule no-evidence,audited-error",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := loadPack(args[0], format)
			if err != nil {
				return err
			}
			found, err := pack.Lint(p)
			if err != nil {
				return refused(err)
			}
			for _, r := range rules {
				if !slices.Contains(pack.LoaderRules(), r) && !slices.ContainsFunc(pack.LintRules(), func(l pack.LintRule) bool { return l.Name == r }) {
					return usage("pack lint: --rule %s: no such rule; docs/packs.md lists them, and loaders note %s", r, strings.Join(pack.LoaderRules(), ", "))
				}
			}
			if len(rules) > 0 {
				found = slices.DeleteFunc(found, func(f pack.Finding) bool { return !slices.Contains(rules, f.Rule) })
			}
			counts := pack.Count(found)
			if asJSON {
				if found == nil {
					found = []pack.Finding{}
				}
				err = report.JSON(cmd.OutOrStdout(), map[string]any{"pack": p.Manifest.Name, "counts": counts, "findings": found})
			} else {
				for _, f := range found {
					fmt.Fprintln(cmd.OutOrStdout(), harmless(f.String()))
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d findings", p.Manifest.Name, len(found))
				for _, rule := range pack.Rules(found) {
					fmt.Fprintf(cmd.OutOrStdout(), "; %s %d", rule, counts[rule])
				}
				fmt.Fprintln(cmd.OutOrStdout())
			}
			if err != nil {
				return refused(err)
			}
			if len(found) > 0 {
				return &exit{code: 1}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	rawFormat(c, &format)
	c.Flags().StringSliceVar(&rules, "rule", nil, "only findings of these rules")
	return c
}
