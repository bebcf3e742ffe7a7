package gate

import (
	"fmt"
	"math"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Spec is one [[gate]] of suite.toml: a threshold on the mean of a measure,
// on the count of cases that ended in a state, or on a quantile of the
// latencies. It is kept in the record, so that its verdict can be computed
// again.
type Spec record.GateSpec

// Name is the gate as reports print it, for instance "lexical nDCG@10
// [paraphrase]".
func (s Spec) Name() string {
	name := s.Measure
	switch {
	case s.Count != "":
		name = "count " + s.Count
	case s.Latency != "":
		name = "latency " + s.Latency
	}
	if s.Stage != "" && s.Stage != record.Final {
		name = s.Stage + " " + name
	}
	if s.Stratum != "" {
		name += " [" + s.Stratum + "]"
	}
	return name
}

// Validate refuses a gate that could not fail or would mean nothing.
func (s Spec) Validate() error {
	kinds := 0
	for _, kind := range []string{s.Measure, s.Count, s.Latency} {
		if kind != "" {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("gate %q: give one of measure, count and latency", s.Name())
	}
	if s.Floor == nil && s.Ceiling == nil && s.Target == nil {
		return fmt.Errorf("gate %q: no floor, ceiling or target", s.Name())
	}
	for _, v := range []*float64{s.Floor, s.Ceiling, s.Target} {
		if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
			return fmt.Errorf("gate %q: threshold %v is not finite", s.Name(), *v)
		}
	}
	if s.Min < 0 {
		return fmt.Errorf("gate %q: min %d is negative", s.Name(), s.Min)
	}
	if s.Blocking && s.Latency == "" {
		return fmt.Errorf("gate %q: blocking is for latencies; every other gate blocks", s.Name())
	}
	if s.Certainty && s.Measure == "" {
		return fmt.Errorf("gate %q: certainty is for measures", s.Name())
	}
	if s.Certainty && s.Floor == nil && s.Ceiling == nil {
		return fmt.Errorf("gate %q: certainty needs a floor or a ceiling to be certain of", s.Name())
	}
	if s.Latency != "" {
		return s.validateLatency()
	}
	if s.Count != "" {
		if s.Count != string(record.Failed) && s.Count != string(record.TimedOut) {
			return fmt.Errorf("gate %q: count %q; want failed or timed_out", s.Name(), s.Count)
		}
		if s.Ceiling == nil || s.Floor != nil || s.Stage != "" {
			return fmt.Errorf("gate %q: a count takes a ceiling, no floor and no stage", s.Name())
		}
		if *s.Ceiling < 0 {
			return fmt.Errorf("gate %q: ceiling %v; want at least 0", s.Name(), *s.Ceiling)
		}
		return nil
	}
	m, err := metric.Parse(s.Measure)
	if err != nil {
		return fmt.Errorf("gate %q: %w", s.Name(), err)
	}
	if !m.Bounded() || !m.HigherIsBetter() {
		return fmt.Errorf("gate %q: %s is not bounded with higher better, so a failed case has no worst value", s.Name(), m)
	}
	if s.Floor != nil && (*s.Floor <= 0 || *s.Floor > 1) {
		return fmt.Errorf("gate %q: floor %v; want above 0, at most 1", s.Name(), *s.Floor)
	}
	if s.Ceiling != nil && (*s.Ceiling < 0 || *s.Ceiling >= 1) {
		return fmt.Errorf("gate %q: ceiling %v; want at least 0, below 1", s.Name(), *s.Ceiling)
	}
	if s.Floor != nil && s.Ceiling != nil && *s.Floor > *s.Ceiling {
		return fmt.Errorf("gate %q: floor %v is above ceiling %v", s.Name(), *s.Floor, *s.Ceiling)
	}
	return nil
}
