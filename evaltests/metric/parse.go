package metric

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a measure's name: NAME, then parameters in parentheses, then @
// and a cut-off, for example nDCG(dcg='exp-log2')@10, P(rel=2)@5, IPrec@0.1,
// RBP(p=0.9), nDCG(gains={1:3, 2:7})@10. An unknown name is an error that
// lists near ones.
func Parse(s string) (Measure, error) {
	m, err := parse(s)
	if err != nil {
		return Measure{}, fmt.Errorf("measure %q: %w", s, err)
	}
	return m, nil
}

// ParseAll reads several measures, and refuses one that is given twice.
func ParseAll(names []string) ([]Measure, error) {
	ms := make([]Measure, 0, len(names))
	for _, name := range names {
		m, err := Parse(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(ms, m) {
			return nil, fmt.Errorf("measure %q: given twice (canonical name %v)", name, m)
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// Names lists the canonical names of all measures, sorted.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

func parse(s string) (Measure, error) {
	rest := strings.TrimSpace(s)
	name, params, cut := rest, "", ""
	hasCut := false
	if i := strings.IndexAny(rest, "(@"); i >= 0 {
		name, rest = rest[:i], rest[i:]
		if rest[0] == '(' {
			end := strings.LastIndexByte(rest, ')')
			if end < 0 {
				return Measure{}, fmt.Errorf("the parenthesis is not closed")
			}
			params, rest = rest[1:end], rest[end+1:]
		}
		if rest != "" {
			if rest[0] != '@' {
				return Measure{}, fmt.Errorf("%q follows the parameters, want @ and a cut-off or nothing", rest)
			}
			cut, hasCut = rest[1:], true
		}
	}
	if full, ok := aliases[name]; ok {
		name = full
	}
	k, ok := kinds[name]
	if !ok {
		return Measure{}, fmt.Errorf("unknown name %q, near names: %s", name, strings.Join(near(name), ", "))
	}
	m := k.defaults()
	if err := m.setParams(params); err != nil {
		return Measure{}, err
	}
	return m, m.setCut(cut, hasCut)
}

func (m *Measure) setCut(cut string, given bool) error {
	switch {
	case !given && (m.kind.cut == noCut || m.kind.cut == mayCut):
		return nil
	case !given || m.kind.cut == noCut:
		return fmt.Errorf("%s takes %v", m.kind.name, m.kind.cut)
	case m.kind.cut == recallCut:
		x, err := strconv.ParseFloat(cut, 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return fmt.Errorf("recall level %q: want a number from 0 to 1", cut)
		}
		m.recall = math.Abs(x) // -0 and 0 are one measure
		return nil
	}
	n, err := strconv.Atoi(cut)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return fmt.Errorf("cut-off %q: want a whole number from 1", cut)
	}
	m.cut = n
	return nil
}

func (k *kind) takes(param string) bool { return slices.Contains(strings.Fields(k.params), param) }

func (m *Measure) setParams(params string) error {
	if strings.TrimSpace(params) == "" {
		return nil
	}
	seen := make(map[string]bool)
	for _, param := range splitParams(params) {
		key, value, ok := strings.Cut(param, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			return fmt.Errorf("parameter %q: want name=value", strings.TrimSpace(param))
		}
		if !m.kind.takes(key) {
			return fmt.Errorf("%s has no parameter %q (it takes: %s)", m.kind.name, key, cmp.Or(strings.Join(strings.Fields(m.kind.params), ", "), "none"))
		}
		if seen[key] {
			return fmt.Errorf("parameter %q is given twice", key)
		}
		seen[key] = true
		if err := m.setParam(key, value); err != nil {
			return fmt.Errorf("parameter %s: %w", key, err)
		}
	}
	return nil
}

// splitParams splits at the commas that are not inside braces.
func splitParams(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, s[start:])
}

func (m *Measure) setParam(key, value string) error {
	switch key {
	case "rel":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("%q: want a grade from 0", value)
		}
		m.rel = n
	case "max":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 1000 {
			return fmt.Errorf("%q: want the highest grade of the scale, from 1 to 1000", value)
		}
		m.maxGrade = n
	case "p":
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0 && x < 1) {
			return fmt.Errorf("%q: want a number above 0 and below 1", value)
		}
		m.p = x
	case "beta":
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0 && x < 1e6) {
			return fmt.Errorf("%q: want a number above 0", value)
		}
		m.beta = x
	case "judged_only":
		switch value {
		case "True", "true":
			m.judgedOnly = true
		case "False", "false":
			m.judgedOnly = false
		default:
			return fmt.Errorf("%q: want True or False", value)
		}
	case "dcg":
		switch strings.Trim(value, `'"`) {
		case "log2":
			m.exp = false
		case "exp-log2":
			m.exp = true
		default:
			return fmt.Errorf("%s: want 'log2' (gain g) or 'exp-log2' (gain 2^g-1)", value)
		}
	case "gains":
		if len(value) < 2 || value[0] != '{' || value[len(value)-1] != '}' {
			return fmt.Errorf("%q: want {grade:gain, ...}", value)
		}
		gains, err := parseGains(value[1:len(value)-1], ":")
		if err != nil {
			return err
		}
		m.gains = gains.String()
	}
	return nil
}

// near lists up to four names that resemble s.
func near(s string) []string {
	type candidate struct {
		name string
		dist int
	}
	var cs []candidate
	for name := range kinds {
		cs = append(cs, candidate{name, editDistance(strings.ToLower(s), strings.ToLower(name))})
	}
	for alias, name := range aliases {
		if d := editDistance(strings.ToLower(s), strings.ToLower(alias)); d < 2 {
			cs = append(cs, candidate{name, d})
		}
	}
	slices.SortFunc(cs, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range cs {
		if len(names) == 4 {
			break
		}
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// editDistance is the Levenshtein distance of the first 40 bytes.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 40)], b[:min(len(b), 40)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
