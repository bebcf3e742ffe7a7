package report

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/compare"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
)

// MarkBreaks takes the standing from figures that were measured before a defect
// of the measurement was mended: they may be shown, and not quoted. goldens is
// the folder of the suites' goldens, where the breaks are listed. Whether a
// record is sound that nobody can tell is not.
func (r *Run) MarkBreaks(v gate.RunVerdict, goldens string, after compare.Ancestry) error {
	for i, sv := range v.Suites {
		if sv.File == nil || i >= len(r.Suites) {
			continue
		}
		breaks, err := compare.ReadBreaks(goldens, sv.Suite)
		if err != nil {
			return err
		}
		run := sv.File.Run
		for _, b := range breaks {
			if !b.Affects(run.Arm, run.Headline...) {
				continue
			}
			sound, err := b.Sound(run, after)
			if sound {
				continue
			}
			text := fmt.Sprintf("measurement break: %s; figures from before commit %.12s are not to be quoted", b.Defect, b.FirstSound)
			if err != nil {
				text = fmt.Sprintf("measurement break: %s; whether these figures are from before commit %.12s cannot be told: %v", b.Defect, b.FirstSound, err)
			}
			s := &r.Suites[i]
			s.Breaks = append(s.Breaks, text)
			s.Use, s.UseWhy = gate.Wiring, text
		}
	}
	return nil
}
