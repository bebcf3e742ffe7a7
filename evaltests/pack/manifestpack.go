package pack

import (
	"path"
	"slices"
	"strings"
)

const fixtureManifest = "manifest.json"

// A manifest pack is a manifest.json beside its files: cases with category,
// query, patterns of accepted answers, expected sources and evidence; the
// files that a case brings (input_files); the pool that all cases share; and
// the licences of what it was made from (fixture_sources).
//
// All files that the pool or a case names are one pool of documents, so that
// every case is asked against the files of the others. Gold are the expected
// sources (expected_source and expected_sources, or, for a case that names
// several input files, those); a case whose expected_behavior is abstain is
// unanswerable. A file that only such a case names and that is not there is
// noted.
func readManifestPack(c *content) error {
	v, err := c.openJSON(fixtureManifest)
	if err != nil {
		return err
	}
	members, err := v.object(fixtureManifest)
	if err != nil {
		return err
	}
	var list jsonValue
	for _, m := range members {
		switch m.key {
		case "cases":
			list = m
		case "pool":
			var files []string
			if err = m.decode(&files); err == nil {
				for _, f := range files {
					if err = c.manifestFile(m, f, true); err != nil {
						return err
					}
				}
			}
		case "fixture_sources":
			err = c.each(m, manifestSource)
		}
		if err != nil {
			return err
		}
	}
	if list.raw == nil {
		return v.errorf("no key %q", "cases")
	}
	// Files first: the sources of one case may be those of another.
	var cases []manifestCase
	err = c.each(list, func(_ int, v jsonValue) error {
		k := manifestCase{place: v}
		if err := v.decode(&k); err != nil {
			return err
		}
		if err := required(
			field{"id", k.ID != nil}, field{"category", k.Category != nil}, field{"query", k.Query != nil}, field{"expected_behavior", k.Behavior != nil},
		); err != nil {
			return v.errorf("%w", err)
		}
		if *k.Behavior != "answer" && *k.Behavior != "abstain" {
			return v.errorf("expected_behavior %.40q of %q: want answer or abstain", *k.Behavior, *k.ID)
		}
		for _, f := range k.Files {
			if err := c.manifestFile(v, f, *k.Behavior == "answer"); err != nil {
				return err
			}
		}
		cases = append(cases, k)
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range cases {
		if err := c.manifestCase(k); err != nil {
			return err
		}
	}
	return nil
}

type manifestCase struct {
	place    jsonValue
	ID       *string         `json:"id"`
	Category *string         `json:"category"`
	Query    *string         `json:"query"`
	Behavior *string         `json:"expected_behavior"`
	Patterns []string        `json:"expected_answer_patterns"`
	Source   *manifestFile   `json:"expected_source"`
	Sources  []manifestFile  `json:"expected_sources"`
	Evidence []manifestQuote `json:"expected_evidence"`
	Files    []string        `json:"input_files"`
	Tags     []string        `json:"tags"`
	AsOf     string          `json:"as_of"`
}

type manifestFile struct {
	Name string `json:"filename"`
}

type manifestQuote struct {
	Section string `json:"section"`
	Excerpt string `json:"excerpt"`
}

func manifestSource(_ int, v jsonValue) error {
	var s struct {
		Name    *string `json:"name"`
		Licence *string `json:"license"`
	}
	if err := v.decode(&s); err != nil {
		return err
	}
	if err := required(field{"name", s.Name != nil}, field{"license", s.Licence != nil}); err != nil {
		return v.errorf("%w", err)
	}
	return nil
}

// manifestFile adds a file that the manifest names by its path or by one that
// starts higher up, as manifests that were moved do.
func (c *content) manifestFile(v jsonValue, name string, needed bool) error {
	parts := strings.Split(path.Clean(name), "/")
	if path.IsAbs(name) || slices.Contains(parts, "..") {
		return v.errorf("file %.60q leaves the pack", name)
	}
	for i := range parts {
		file := strings.Join(parts[i:], "/")
		if !c.exists(file) {
			continue
		}
		if _, known := c.docIndex[SourceID(parts[i:]...)]; known {
			return nil
		}
		if _, err := c.textDocument(file, nil); err != nil {
			return v.errorf("%w", err)
		}
		return nil
	}
	if needed {
		return v.errorf("file %q is not in the pack", name)
	}
	c.note("missing-file", v.place(), "", "", "file %q, which an abstention case names, is not in the pack", name)
	return nil
}

func (c *content) manifestCase(k manifestCase) error {
	v := k.place
	if err := patterns(k.Patterns); err != nil {
		return v.errorf("expected_answer_%w", err)
	}
	if err := dateOrTime(k.AsOf); err != nil {
		return v.errorf("as_of of %q: %w", *k.ID, err)
	}
	out := Case{
		Question: Question{ID: *k.ID, Text: *k.Query, AsOf: k.AsOf}, Stratum: *k.Category, Tags: k.Tags,
		Gold: Gold{Answerable: *k.Behavior == "answer", Patterns: distinct(k.Patterns)},
	}
	if out.Gold.Answerable {
		names := slices.Clone(k.Files)
		for _, s := range k.Sources {
			names = append(names, s.Name)
		}
		if k.Source != nil {
			names = append(names, k.Source.Name)
		}
		gold, err := c.namedAll(names)
		if err != nil {
			return v.errorf("sources of %q: %w", *k.ID, err)
		}
		if len(gold) == 0 {
			return v.errorf("case %q names no source", *k.ID)
		}
		out.Gold.Sources = gold
		for _, id := range gold {
			c.addGold(v.place(), *k.ID, id, 1)
		}
	} else if len(k.Patterns) > 0 {
		return v.errorf("case %q should abstain, but has answer patterns", *k.ID)
	}
	for i, e := range k.Evidence {
		if strings.TrimSpace(e.Excerpt) == "" {
			return v.errorf("expected_evidence[%d] of %q: want a value for excerpt", i, *k.ID)
		}
		doc := ""
		if len(out.Gold.Sources) == 1 {
			doc = out.Gold.Sources[0]
		}
		out.Gold.Evidence = append(out.Gold.Evidence, Evidence{Document: doc, Section: e.Section, Text: e.Excerpt})
	}
	return c.addCase(v.place(), out)
}
