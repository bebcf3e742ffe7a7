package gate

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// resamples and confidence of the interval that certainty asks for.
const (
	resamples  = 2000
	confidence = 0.95
)

// certain judges a gate by the bootstrap interval of its mean instead of the
// point: a subject that varies, or questions that are a sample of more, need
// it. An interval with the threshold inside it is inconclusive.
func certain(s Spec, g record.Gate, values []float64) record.Gate {
	if len(values) < 2 {
		return unmeasured(g, "inconclusive: one case has no interval", "add cases")
	}
	b, err := stat.BootstrapMean(values, resamples, stat.NewStream(1, "gate", s.Name()))
	if err != nil {
		return unmeasured(g, err.Error(), "see the cases")
	}
	in, err := b.Percentile(confidence)
	if err != nil {
		return unmeasured(g, err.Error(), "see the cases")
	}
	g.Lo, g.Hi = &in.Lo, &in.Hi
	straddles := func(name string, at *float64) bool {
		if at == nil || in.Lo >= *at == (in.Hi >= *at) {
			return false
		}
		g = unmeasured(g, fmt.Sprintf("inconclusive: the interval [%.4f, %.4f] of %.4f holds the %s %.4f", in.Lo, in.Hi, *g.Value, name, *at),
			"add cases or repeats until the interval is clear of it")
		return true
	}
	if !straddles("floor", s.Floor) {
		straddles("ceiling", s.Ceiling)
	}
	return g
}
