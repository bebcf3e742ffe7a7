package report

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Depth within which a user is taken to look.
const shownDepth = 10

// broken lists the cases a reader should see: what broke against the golden or
// the baseline first, then what failed, then answerable cases with nothing
// relevant in the first ten.
func broken(f *record.File) []Broken {
	type ranked struct {
		Broken
		class int
	}
	var list []ranked
	broke := brokeAgainst(f.Gates)
	for _, r := range f.Cases() {
		b := Broken{
			Case: r.Case, Question: r.Question, Outcome: r.Outcome.State, Reason: r.Outcome.Reason,
			Rerun: Rerun(f.Run, r.Case),
		}
		class := 0
		if x, ok := broke[r.Case]; ok {
			class, b.Broke = x.class, x.text
		}
		switch r.Outcome.State {
		case record.Failed, record.TimedOut:
		case record.Scored:
			if b.Broke == "" && (!r.Ranked() || goldRank(r.Ranking, r.Gold) <= shownDepth) {
				continue
			}
			if b.Broke == "" {
				class = 1
			}
			b.Expected = expected(r.Gold)
			ids, _, _ := record.Documents(r.Ranking)
			b.Got = ids[:min(3, len(ids))]
			b.Lost = lost(r)
			if at := goldRank(r.Ranking, r.Gold); b.Broke != "" && at <= shownDepth {
				b.Lost = "first relevant at rank " + rankText(at)
			}
		default:
			continue
		}
		list = append(list, ranked{b, class})
	}
	if len(list) == 0 && f.Verdict != nil && f.Verdict.Verdict != gate.PASS {
		// In a small corpus everything is within the first ten: show what is
		// not at the top.
		for _, r := range f.Cases() {
			if r.Outcome.State != record.Scored || !r.Ranked() || goldRank(r.Ranking, r.Gold) == 1 {
				continue
			}
			ids, _, _ := record.Documents(r.Ranking)
			list = append(list, ranked{Broken{
				Case: r.Case, Question: r.Question, Outcome: r.Outcome.State, Rerun: Rerun(f.Run, r.Case),
				Expected: expected(r.Gold), Got: ids[:min(3, len(ids))],
				Lost: "first relevant at rank " + rankText(goldRank(r.Ranking, r.Gold)),
			}, -goldRank(r.Ranking, r.Gold)})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].class < list[j].class })
	out := make([]Broken, len(list))
	for i, b := range list {
		out[i] = b.Broken
	}
	return out
}

// brokenCase is a case that lost against what the run is held to.
type brokenCase struct {
	class int // below 0, the worst first
	text  string
}

// brokeAgainst collects the cases that gates name, in their order.
func brokeAgainst(gates []record.Gate) map[string]brokenCase {
	out := map[string]brokenCase{}
	for _, g := range gates {
		for i, m := range g.Broke {
			if _, known := out[m.Case]; known {
				continue
			}
			word := "worse"
			if m.Wrong {
				word = "broke"
			}
			out[m.Case] = brokenCase{i - 2*len(g.Broke), fmt.Sprintf("%s: %.4f before, %.4f now (gate %s)", word, m.Before, m.Now, g.Name)}
		}
	}
	return out
}

// goldRank is the rank of the first relevant document, or one past the end of
// everything.
func goldRank(entries []record.Entry, gold map[string]int) int {
	ids, _, _ := record.Documents(entries)
	for i, id := range ids {
		if gold[id] > 0 {
			return i + 1
		}
	}
	return 1 << 30
}

func expected(gold map[string]int) []string {
	var ids []string
	for id, g := range gold {
		if g > 0 {
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, j int) bool {
		if gold[ids[i]] != gold[ids[j]] {
			return gold[ids[i]] > gold[ids[j]]
		}
		return ids[i] < ids[j]
	})
	return ids
}

// lost names the first stage that a relevant document did not survive within
// the depth that users see.
func lost(r record.Row) string {
	best, where := 1<<30, ""
	var at []string
	for _, s := range r.Stages {
		if s.State != record.Executed {
			continue
		}
		rank := goldRank(s.Entries, r.Gold)
		at = append(at, fmt.Sprintf("%s %s", s.Name, rankText(rank)))
		if rank <= shownDepth && rank < best {
			best, where = rank, s.Name
		}
	}
	switch {
	case len(at) == 0:
		return ""
	case where == "":
		any := false
		for _, s := range r.Stages {
			any = any || goldRank(s.Entries, r.Gold) < 1<<30
		}
		if !any {
			return "never retrieved"
		}
		return fmt.Sprintf("never in the first %d (%s)", shownDepth, strings.Join(at, ", "))
	}
	after := false
	for _, s := range r.Stages {
		if s.Name == where {
			after = true
			continue
		}
		if after && s.State == record.Executed && !arm(s.Name) && goldRank(s.Entries, r.Gold) > shownDepth {
			return fmt.Sprintf("at %s (%s)", s.Name, strings.Join(at, ", "))
		}
	}
	return fmt.Sprintf("after %s (%s)", where, strings.Join(at, ", "))
}

// arm tells the parallel sources of candidates from the steps that follow.
func arm(stage string) bool { return stage == "vector" || stage == "lexical" }

func rankText(rank int) string {
	if rank == 1<<30 {
		return "-"
	}
	return fmt.Sprint(rank)
}

func anchored(element string) string {
	return "^" + regexp.QuoteMeta(record.SubtestName(element)) + "$"
}

// shell quotes s for a POSIX shell.
func shell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./~][A-Za-z0-9_./~@:+-]*$`)

// word is s as one word of a POSIX shell, quoted only where it must be.
func word(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return shell(s)
}
