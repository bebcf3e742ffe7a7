package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Sentences are what a report says in words of a treatment. Each is made of the
// figures of its table, and the table is made of the cases.
func Sentences(c *Comparison, t *Treatment) []string {
	f := t.Primary
	out := []string{
		fmt.Sprintf("%s better, %s worse and %s equal: net %+d.", number(f.Wins, "case is", "cases are"),
			number(f.Losses, "is", "are"), number(f.Ties, "is", "are"), f.Wins-f.Losses),
		fmt.Sprintf("%s broke and %s mended.", number(len(t.Broken()), "case", "cases"), number(len(t.Fixed()), "was", "were")),
		fmt.Sprintf("%s goes from %.4f to %.4f over %d pairs, by %+.4f (%s).", f.Measure, f.Base, f.Treatment, f.N, f.Mean, f.interval()),
		t.significance(c.Rule),
	}
	if t.TOST != nil {
		word := "is not shown to be"
		if t.Equivalent {
			word = "is"
		}
		out = append(out, fmt.Sprintf("The difference %s within the margin of %.4g (two one-sided tests, p = %.3g, interval %+.4f to %+.4f).", word, t.TOST.Margin, t.TOST.P, t.TOST.Lo, t.TOST.Hi))
	}
	if t.Completed != nil {
		out = append(out, fmt.Sprintf("Over the %d pairs that both runs completed it is %+.4f; failed and timed-out cases have the worst value above (%d in the base, %d in the treatment).", t.Completed.N, t.Completed.Mean, t.Worst[0], t.Worst[1]))
	}
	return append(out, t.because(c))
}

// number is a count with its word in the singular or the plural.
func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// interval is the interval in words: one pair has none.
func (f Figure) interval() string {
	if f.N < 2 {
		return "one pair has no interval"
	}
	return fmt.Sprintf("95 %% interval %+.4f to %+.4f", f.Lo, f.Hi)
}

// significance is the sentence on the test that decides. Without significance
// it says what this run could have seen.
func (t *Treatment) significance(rule record.Decision) string {
	s := fmt.Sprintf("The sign-flip test gives p = %.3g", t.P)
	if t.FamilySize > 1 {
		s += fmt.Sprintf(", %.3g over a family of %d (%s)", t.Adjusted, t.FamilySize, rule.Correction)
	}
	if t.Significant {
		return s + fmt.Sprintf(": significant at %.4g.", rule.Q)
	}
	return s + fmt.Sprintf(": not significant at %.4g; %s.", rule.Q, t.Detectable)
}

// because is the sentence on the verdict.
func (t *Treatment) because(c *Comparison) string {
	floor := "floor 0 by proof"
	if c.Floor.Source == FloorAA {
		floor = fmt.Sprintf("floor %.4f of %d A/A runs", c.Floor.Value, len(c.Floor.Runs))
	}
	a := t.Attribution
	touched := fmt.Sprintf("%s touched %d of %d moved cases", strings.Join(a.Channels, " or "), a.Touched, a.Moved)
	if !a.Known {
		touched = "what moved the cases is not known: " + a.Why
	}
	why := ""
	switch t.Verdict {
	case FloorSrc:
		why = "it is a run of the base's own treatment, which the floor is measured by"
	case NoFloor:
		why = "there is no floor: " + c.Floor.Problem
	case NoiseFloor:
		why = fmt.Sprintf("a mean difference of %+.4f is within the %s", t.Primary.Mean, floor)
	case WrongDir:
		why = fmt.Sprintf("the mean fell by %.4f, past the %s", -t.Primary.Mean, floor)
	case Unattributed:
		why = fmt.Sprintf("%s, under %.0f %%", touched, 100*LeastAttribution)
	case Signal, Weak:
		why = fmt.Sprintf("%+.4f is past the %s; %s", t.Primary.Mean, floor, touched)
	}
	return fmt.Sprintf("%s: %s.", t.Words(), why)
}

// Words is the verdict as it is printed: with a star where attribution is
// unknown, and with the equivalence that was shown.
func (t *Treatment) Words() string {
	s := string(t.Verdict)
	if t.Star {
		s += "*"
	}
	if t.Equivalent && t.Verdict != FloorSrc {
		s += ", EQUIVALENT"
	}
	return s
}

// Broken lists the cases that were right and are wrong, worst first; Fixed
// those that were wrong and are right, best first.
func (t *Treatment) Broken() []Case { return t.pick(Case.Broke, 1) }
func (t *Treatment) Fixed() []Case  { return t.pick(Case.Mended, -1) }

// Worse and Better list the other cases that moved: right, or wrong, in both.
func (t *Treatment) Worse() []Case {
	return t.pick(func(c Case) bool { return !c.Broke() && c.Diff() < 0 }, 1)
}
func (t *Treatment) Better() []Case {
	return t.pick(func(c Case) bool { return !c.Mended() && c.Diff() > 0 }, -1)
}

func (t *Treatment) pick(keep func(Case) bool, sign float64) []Case {
	var out []Case
	for _, c := range t.Cases {
		if keep(c) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Case) int {
		switch d := sign * (a.Diff() - b.Diff()); {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	return out
}

// Verify computes the tables of every treatment once more from its cases, and
// its sentences from the tables, and refuses any that disagree: a net of +3 is
// not "4 to 0".
func Verify(c *Comparison) error {
	for _, t := range c.Treatments {
		base, treated := t.values(nil)
		again, _, err := figure(record.Final, c.Rule.Primary, base, treated)
		if err != nil {
			return err
		}
		for _, x := range []struct {
			name     string
			is, want float64
		}{
			{"pairs", float64(t.Primary.N), float64(again.N)}, {"wins", float64(t.Primary.Wins), float64(again.Wins)},
			{"losses", float64(t.Primary.Losses), float64(again.Losses)}, {"ties", float64(t.Primary.Ties), float64(again.Ties)},
			{"base", t.Primary.Base, again.Base}, {"treatment", t.Primary.Treatment, again.Treatment},
			{"mean", t.Primary.Mean, again.Mean}, {"sign p", t.Primary.SignP, again.SignP},
		} {
			if math.Abs(x.is-x.want) > Epsilon {
				return fmt.Errorf("%s: the table says %s %v, its cases give %v", t.Subject.Label, x.name, x.is, x.want)
			}
		}
		if v, star := t.again(c); v != t.Verdict || star != t.Star {
			return fmt.Errorf("%s: the verdict is %s, its figures give %s", t.Subject.Label, t.Verdict, v)
		}
		if contradicts(t) {
			return fmt.Errorf("%s: the recommendation %q contradicts %s, %s", t.Subject.Label, t.Advice, t.Words(), t.Gate)
		}
		want := Sentences(c, t)
		for i := range max(len(want), len(t.Sentences)) {
			switch {
			case i >= len(t.Sentences):
				return fmt.Errorf("%s: a sentence is missing: %q", t.Subject.Label, want[i])
			case i >= len(want) || want[i] != t.Sentences[i]:
				return fmt.Errorf("%s: a sentence says %q, which its table does not", t.Subject.Label, t.Sentences[i])
			}
		}
	}
	return nil
}

// again is the verdict by the figures that are printed.
func (t *Treatment) again(c *Comparison) (Verdict, bool) {
	return Judge(Facts{IsFloor: t.Verdict == FloorSrc, Floor: c.Floor, Mean: t.Primary.Mean, Attribution: t.Attribution, Significant: t.Adjusted <= c.Rule.Q && t.FamilySize > 0})
}

// contradicts reports a recommendation that goes against the verdict.
func contradicts(t *Treatment) bool {
	switch t.Advice {
	case FlipOn:
		return t.Verdict != Signal || t.Star || t.Gate != GatePass
	case Either:
		return !t.Equivalent || t.Gate != GatePass
	case KeepOff:
		return t.Verdict == Signal && t.Gate == GatePass
	}
	return false
}
