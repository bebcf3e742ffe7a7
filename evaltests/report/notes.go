package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// mostNamed cases are named in a note; the record has them all.
const mostNamed = 5

// notes name the cases that are in no headline because of their key, those
// that were used for tuning too often, and those that are known to fail.
func notes(f *record.File) []string {
	var out []string
	why := map[string][]string{}
	var reasons []string
	for _, r := range f.Cases() {
		if r.Excluded != "" {
			kind, _, _ := strings.Cut(r.Excluded, ": ")
			if why[kind] == nil {
				reasons = append(reasons, kind)
			}
			why[kind] = append(why[kind], r.Case)
		}
	}
	slices.Sort(reasons)
	for _, kind := range reasons {
		out = append(out, fmt.Sprintf("%d %s, in no ranking measure: %s", len(why[kind]), kind, some(why[kind])))
	}
	if e := f.Run.Exposure; e != nil && len(e.Beyond) > 0 {
		out = append(out, fmt.Sprintf("%d cases were used for tuning more than %d times: %s", len(e.Beyond), e.Allowed, some(e.Beyond)))
	}
	return append(out, knownBroken(f.Run.Broken)...)
}

// knownBroken names the cases whose failure somebody has taken on. They are in
// every figure; those that are overdue are named each, with who sees to them.
func knownBroken(cases []record.KnownBroken) []string {
	var out, ids []string
	for _, k := range cases {
		if k.Overdue {
			out = append(out, fmt.Sprintf("known broken and overdue: %s, %s was to mend it by %s: %s", k.Case, k.Owner, k.Until, k.Reason))
			continue
		}
		ids = append(ids, fmt.Sprintf("%s (%s, until %s)", k.Case, k.Owner, k.Until))
	}
	if len(ids) > 0 {
		out = append(out, fmt.Sprintf("%d known broken, asked and counted as any other: %s", len(ids), some(ids)))
	}
	return out
}

// beside is what puts the headlines into place: the cases that no ranking
// measure is about, the pool, and the values of others.
func beside(f *record.File) []string {
	var out []string
	cases := f.Cases()
	unanswerable := 0
	for _, r := range cases {
		if !r.Answer {
			unanswerable++
		}
	}
	if unanswerable > 0 {
		out = append(out, fmt.Sprintf("%d of %d cases are unanswerable: asked, and in no ranking measure", unanswerable, len(cases)))
	}
	if n := f.Run.PoolLimit; n > 0 {
		out = append(out, fmt.Sprintf("pool limit %d: %d documents, the cases' own and distractors", n, f.Run.Pack.Documents))
	}
	for _, r := range f.Run.References {
		name := r.Measure
		if r.Stage != "" {
			name += " " + r.Stage
		}
		if r.Unequal != "" {
			out = append(out, fmt.Sprintf("reference %s of %s is not comparable: %s", name, r.Source, r.Unequal))
			continue
		}
		got := "not measured"
		if mean, n := referenceMean(cases, r); n > 0 {
			got = fmt.Sprintf("here %.4f over %d", mean, n)
		}
		out = append(out, fmt.Sprintf("reference %s %.4g (%s): %s", name, r.Value, r.Source, got))
	}
	return out
}

// referenceMean is the mean over the cases that count, failed ones with 0, as
// headlines have it.
func referenceMean(cases []record.Row, r record.Reference) (float64, int) {
	sum, n := 0.0, 0
	for _, row := range cases {
		if !row.Ranked() || !row.Outcome.State.Counts() {
			continue
		}
		n++
		if row.Outcome.State != record.Scored {
			continue
		}
		name := r.Stage
		if name == "" {
			name = record.Final
		}
		if stage, ok := row.Stage(name); ok {
			sum += stage.Measures[r.Measure]
		}
	}
	if n == 0 {
		return 0, 0
	}
	return sum / float64(n), n
}

func some(ids []string) string {
	if len(ids) <= mostNamed {
		return strings.Join(ids, ", ")
	}
	return strings.Join(ids[:mostNamed], ", ") + fmt.Sprintf(" and %d more", len(ids)-mostNamed)
}
