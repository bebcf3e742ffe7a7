package pack

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// caseFile is a TOML file of case fixtures. docs/packs.md lists the keys.
type caseFile struct {
	Cases []caseFixture `toml:"case"`
}

type caseFixture struct {
	ID       string            `toml:"id"`
	Query    string            `toml:"query"`
	Stratum  string            `toml:"stratum"`
	Tags     []string          `toml:"tags"`
	AsOf     string            `toml:"as_of"`
	Filters  map[string]string `toml:"filters"`
	Entities []string          `toml:"entities"`
	Expected []string          `toml:"expected"`
	EmptySet bool              `toml:"empty_set"`
	Seeds    []caseSeed        `toml:"seed"`
	Negative []caseSeed        `toml:"negative"`
}

type caseSeed struct {
	ID    string            `toml:"id"`
	Title string            `toml:"title"`
	Text  string            `toml:"text"`
	Date  string            `toml:"date"`
	Meta  map[string]string `toml:"meta"`
	Grade *int              `toml:"grade"`
}

// Case fixtures are TOML files, each with [[case]] tables: a query with the
// seeds that make its store, each with a grade of 0 to 3, and the negative
// seeds, which must not be returned. A case is a group of its own. A case with
// empty_set = true has no right result, and no seed above grade 0. A seed
// without an id gets one by content, so that the order of the file tells
// nothing.
func readCases(c *content) error {
	files, err := c.glob(func(file string) bool {
		return strings.HasSuffix(file, ".toml") && file != ManifestFile && file != ContestedFile && file != "suite.toml" && file != "contract.toml"
	})
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: found no *.toml with cases", c.dir)
	}
	for _, file := range files {
		data, err := c.open(file)
		if err != nil {
			return err
		}
		var f caseFile
		if err := strict.TOML(c.file(file), data, &f); err != nil {
			return err
		}
		at := strict.TOMLLines(data, "case")
		for i, k := range f.Cases {
			line := 1
			if i < len(at) {
				line = at[i]
			}
			place := c.place(file, line)
			if err := c.caseFixture(place, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *content) caseFixture(place string, k caseFixture) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: case %q: %w", place, k.ID, fmt.Errorf(format, args...))
	}
	if err := dateOrTime(k.AsOf); err != nil {
		return fail("as_of: %w", err)
	}
	out := Case{
		Question: Question{ID: k.ID, Text: k.Query, AsOf: k.AsOf, Filters: k.Filters},
		Stratum:  k.Stratum, Tags: k.Tags, Group: SourceID(k.ID),
		Gold: Gold{Answerable: !k.EmptySet, EmptySet: k.EmptySet, Expected: k.Expected, Entities: k.Entities},
	}
	if len(k.Seeds)+len(k.Negative) == 0 {
		return fail("no seeds; its store would be empty")
	}
	add := func(kind string, i int, s caseSeed) (string, error) {
		where := kind + "[" + strconv.Itoa(i) + "]"
		if strings.TrimSpace(s.Text) == "" {
			return "", fail("%s: want a value for text", where)
		}
		if err := dateOrTime(s.Date); err != nil {
			return "", fail("date of %s: %w", where, err)
		}
		id := s.ID
		if id == "" {
			id = ContentID(s.Title, s.Text)
		}
		id = SourceID(k.ID, id)
		return id, c.addDocument(place, Document{ID: id, Title: s.Title, Text: s.Text, Group: out.Group, Date: s.Date, Meta: s.Meta})
	}
	for i, s := range k.Seeds {
		if s.Grade == nil || *s.Grade < 0 || *s.Grade > 3 {
			return fail("seed[%d]: want a grade of 0 to 3", i)
		}
		if k.EmptySet && *s.Grade > 0 {
			return fail("seed[%d] has grade %d, but empty_set says that nothing is right", i, *s.Grade)
		}
		id, err := add("seed", i, s)
		if err != nil {
			return err
		}
		c.addGold(place, k.ID, id, *s.Grade)
	}
	for i, s := range k.Negative {
		if s.Grade != nil {
			return fail("negative[%d]: a negative seed has no grade", i)
		}
		id, err := add("negative", i, s)
		if err != nil {
			return err
		}
		out.Gold.Negative = append(out.Gold.Negative, id)
		c.addGold(place, k.ID, id, 0)
	}
	return c.addCase(place, out)
}
