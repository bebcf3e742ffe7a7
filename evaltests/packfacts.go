package evaltests

import (
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// excluded is why a case enters no ranking measure, if that is not told by its
// gold alone.
func excluded(c pack.Case) string {
	switch {
	case c.Contested != "":
		return "contested: " + c.Contested
	case c.Unjudged != "":
		return "not judged: " + c.Unjudged
	}
	return ""
}

// packFacts writes what the suite says of its pack into the run line.
func (x *session) packFacts() error {
	s := x.suite
	x.run.PoolLimit = s.PoolLimit
	for _, c := range s.Cases {
		if b := c.KnownBroken; b != nil {
			x.run.Broken = append(x.run.Broken, record.KnownBroken{
				Case: c.Question.ID, Reason: b.Reason, Owner: b.Owner, Until: b.Until, Overdue: b.Overdue(s.folder.Started),
			})
		}
	}
	for _, r := range s.References {
		x.run.References = append(x.run.References, record.Reference{
			Measure: r.Measure, Stage: r.Stage, Value: r.Value, Source: r.Source, Unequal: r.Unequal(s.Pack),
		})
	}
	if s.MaxExposure == nil {
		return nil
	}
	e, err := pack.ReadExposure(s.Pack.Dir)
	if err != nil {
		return err
	}
	x.run.Exposure = &record.Exposure{Allowed: *s.MaxExposure, Beyond: e.Beyond(s.Cases, *s.MaxExposure)}
	return nil
}

// setPackKeys reads the keys that are about the pack.
func (s *Suite) setPackKeys(f suiteFile) error {
	if f.PoolLimit < 0 {
		return fmt.Errorf("pool_limit = %d; want at least 1", f.PoolLimit)
	}
	if f.MaxExposure != nil && *f.MaxExposure < 0 {
		return fmt.Errorf("max_exposure = %d; want at least 0", *f.MaxExposure)
	}
	s.PoolLimit, s.MaxExposure = f.PoolLimit, f.MaxExposure
	for i, r := range f.References {
		m, err := metric.Parse(r.Measure)
		if err != nil {
			return fmt.Errorf("reference[%d]: %w", i, err)
		}
		r.Measure = m.String()
		if r.Output == "" || r.Split == "" || r.Unit == "" || r.Source == "" {
			return fmt.Errorf("reference[%d]: want output, split, unit and source: a value without them cannot be compared", i)
		}
		among := s.Measures
		if r.Stage != "" && r.Stage != record.Final {
			among = s.StageMeasures
		}
		if !slices.ContainsFunc(among, func(have metric.Measure) bool { return have.String() == r.Measure }) {
			return fmt.Errorf("reference[%d]: %s is not among the suite's measures", i, r.Measure)
		}
		s.References = append(s.References, r)
	}
	return nil
}
