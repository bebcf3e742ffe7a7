package report

import (
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// resamples of the interval of a headline.
const resamples = 2000

// confidence of the intervals.
const confidence = 0.95

// Run is what is shown of a run folder.
type Run struct {
	Dir     string   `json:"dir"`
	Tier    string   `json:"tier"`
	Verdict string   `json:"verdict"`
	Reasons []string `json:"reasons,omitempty"`
	Suites  []Suite  `json:"suites"`
}

// Suite is what is shown of one suite invocation.
type Suite struct {
	Suite    string               `json:"suite"`
	Arm      string               `json:"arm"`
	Verdict  string               `json:"verdict"`
	Reasons  []string             `json:"reasons,omitempty"`
	Record   string               `json:"record,omitempty"`
	Pack     record.PackID        `json:"pack"`
	Planned  int                  `json:"planned"`
	Outcomes map[record.State]int `json:"outcomes,omitempty"`
	LeftOut  map[string]int       `json:"left_out,omitempty"`
	Headline []Figure             `json:"headline,omitempty"`
	Strata   []Stratum            `json:"strata,omitempty"`
	Stages   []StageFigures       `json:"stages,omitempty"`
	Gates    []record.Gate        `json:"gates,omitempty"`
	Latency  *Latency             `json:"latency,omitempty"`
	// LatencyWhy says why the latencies mean nothing; then none are shown.
	LatencyWhy string           `json:"latency_unusable,omitempty"`
	Seeding    *Seeding         `json:"seeding,omitempty"`
	RunTwice   *record.RunTwice `json:"run_twice,omitempty"`
	Broken     []Broken         `json:"broken,omitempty"`
	Breaks     []string         `json:"breaks,omitempty"` // measurement breaks that the figures are from before
	Notes      []string         `json:"notes,omitempty"`  // cases that are not in the headlines although they could be, or should not be
	Beside     []string         `json:"beside,omitempty"` // what is to be known beside the headlines; shown when all is
	Use        string           `json:"use,omitempty"`
	UseWhy     string           `json:"use_why,omitempty"`
	Wall       float64          `json:"wall_seconds,omitempty"`
}

// Figure is a mean over the cases that count, with its interval: failed and
// timed-out cases are in it with the worst value.
type Figure struct {
	Measure string  `json:"measure"`
	Mean    float64 `json:"mean"`
	Lo      float64 `json:"lo"`
	Hi      float64 `json:"hi"`
	N       int     `json:"n"`       // answerable cases in the mean
	Planned int     `json:"planned"` // answerable cases planned and reached
}

// Stratum is the headline of one stratum.
type Stratum struct {
	Name    string   `json:"name"`
	Figures []Figure `json:"figures"`
}

// StageFigures are the means of one stage over the cases in which it ran.
type StageFigures struct {
	Stage   string             `json:"stage"`
	Ran     int                `json:"ran"`
	Of      int                `json:"of"`
	Skipped string             `json:"skipped,omitempty"` // why it did not run
	Means   map[string]float64 `json:"means,omitempty"`
}

// Latency of the calls, in microseconds, by nearest rank.
type Latency struct {
	P50 int64 `json:"p50_us"`
	P95 int64 `json:"p95_us"`
	Max int64 `json:"max_us"`
}

// Broken is a case that a reader should look at.
type Broken struct {
	Case     string       `json:"case"`
	Question string       `json:"question"`
	Outcome  record.State `json:"outcome"`
	Reason   string       `json:"reason,omitempty"`
	Expected []string     `json:"expected,omitempty"` // gold, best grade first
	Got      []string     `json:"got,omitempty"`      // the first three
	Lost     string       `json:"lost,omitempty"`     // where the gold was lost
	Broke    string       `json:"broke,omitempty"`    // what it was in the run that this one is held to
	Rerun    string       `json:"rerun,omitempty"`
}

// Build computes what is shown of a run from its records and its verdict.
func Build(dir, tier string, v gate.RunVerdict) (Run, error) {
	out := Run{Dir: dir, Tier: tier, Verdict: v.Verdict, Reasons: v.Reasons}
	for _, sv := range v.Suites {
		s, err := buildSuite(sv)
		if err != nil {
			return Run{}, fmt.Errorf("suite %s: %w", sv.Suite, err)
		}
		out.Suites = append(out.Suites, s)
	}
	return out, nil
}

func buildSuite(sv gate.SuiteVerdict) (Suite, error) {
	s := Suite{Suite: sv.Suite, Arm: sv.Arm, Verdict: sv.Verdict, Reasons: sv.Reasons}
	f := sv.File
	if f == nil {
		return s, nil
	}
	s.Record, s.Pack, s.Planned, s.LeftOut = f.Path, f.Run.Pack, len(f.Run.Plan), f.Run.LeftOut
	s.Outcomes = f.Counts()
	if sv.Unsound || f.State != record.Complete || f.Verdict == nil || f.Run.NotRun != "" {
		return s, nil
	}
	s.Gates, s.Use, s.UseWhy, s.Wall = f.Gates, f.Verdict.Use, f.Verdict.UseWhy, f.End.Wall
	var err error
	if s.Headline, err = figures(f, ""); err != nil {
		return s, err
	}
	cases := f.Cases()
	for _, name := range strata(cases) {
		fs, err := figures(f, name)
		if err != nil {
			return s, err
		}
		if len(fs) > 0 {
			s.Strata = append(s.Strata, Stratum{name, fs})
		}
	}
	if len(s.Strata) < 2 {
		s.Strata = nil
	}
	s.Stages = stages(cases)
	if s.LatencyWhy = f.Verdict.Latency; s.LatencyWhy == "" {
		s.Latency = latency(f.Rows)
	}
	s.RunTwice = f.Verdict.RunTwice
	s.Seeding = seeding(f.Run)
	s.Broken = broken(f)
	s.Notes, s.Beside = notes(f), beside(f)
	return s, nil
}

// figures are the headline measures over a stratum ("" is all). The mean is
// gate's, so a table and a gate cannot disagree.
func figures(f *record.File, stratum string) ([]Figure, error) {
	var out []Figure
	for _, name := range f.Run.Headline {
		m, err := metric.Parse(name)
		if err != nil {
			return nil, err
		}
		values, planned, err := values(f.Cases(), m.String(), stratum)
		if err != nil {
			return nil, err
		}
		if len(values) == 0 {
			continue
		}
		mean, err := m.Aggregate(values)
		if err != nil {
			return nil, err
		}
		fig := Figure{Measure: m.String(), Mean: mean, Lo: mean, Hi: mean, N: len(values), Planned: planned}
		if len(values) > 1 {
			b, err := stat.BootstrapMean(values, resamples, stat.NewStream(1, f.Run.Suite, f.Run.Arm, stratum))
			if err != nil {
				return nil, err
			}
			in, err := b.Percentile(confidence)
			if err != nil {
				return nil, err
			}
			fig.Lo, fig.Hi = in.Lo, in.Hi
		}
		out = append(out, fig)
	}
	return out, nil
}

func values(rows []record.Row, measure, stratum string) (vs []float64, planned int, err error) {
	for _, r := range rows {
		if !r.Ranked() || stratum != "" && r.Stratum != stratum {
			continue
		}
		planned++
		switch r.Outcome.State {
		case record.Scored:
			v, ok := r.Measures[measure]
			if !ok {
				return nil, 0, fmt.Errorf("case %s: no %s in the row; add it to measures in the suite file", r.Case, measure)
			}
			vs = append(vs, v)
		case record.Failed, record.TimedOut:
			vs = append(vs, 0)
		}
	}
	return vs, planned, nil
}

// strata lists the strata in the order of their first case.
func strata(rows []record.Row) []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range rows {
		if !seen[r.Stratum] {
			seen[r.Stratum] = true
			names = append(names, r.Stratum)
		}
	}
	return names
}

func stages(rows []record.Row) []StageFigures {
	type mean struct {
		sum float64
		n   int
	}
	var order []string
	at := map[string]*StageFigures{}
	sums := map[string]map[string]mean{}
	for _, r := range rows {
		if r.Outcome.State != record.Scored || !r.Ranked() {
			continue
		}
		for _, s := range r.Stages {
			fig, ok := at[s.Name]
			if !ok {
				fig = &StageFigures{Stage: s.Name, Means: map[string]float64{}}
				at[s.Name], sums[s.Name] = fig, map[string]mean{}
				order = append(order, s.Name)
			}
			fig.Of++
			if s.State != record.Executed {
				fig.Skipped = s.Reason
				continue
			}
			fig.Ran++
			for name, v := range s.Measures {
				m := sums[s.Name][name]
				sums[s.Name][name] = mean{m.sum + v, m.n + 1}
			}
		}
	}
	out := make([]StageFigures, 0, len(order))
	for _, name := range order {
		fig := at[name]
		for measure, m := range sums[name] {
			fig.Means[measure] = m.sum / float64(m.n)
		}
		out = append(out, *fig)
	}
	return out
}

func latency(rows []record.Row) *Latency {
	var us []float64
	for _, r := range rows {
		if r.Outcome.State == record.Scored && !r.Unfit {
			us = append(us, float64(r.Micros))
		}
	}
	if len(us) == 0 {
		return nil
	}
	at := func(q float64) int64 {
		v, err := stat.Quantile(us, q, stat.InverseECDF)
		if err != nil {
			return 0
		}
		return int64(v)
	}
	return &Latency{P50: at(0.5), P95: at(0.95), Max: at(1)}
}

// Rerun is the command that runs one case alone: each element anchored and
// quoted, since `case=q1` also matches `case=q17`. It is empty for a record
// that no Go test made.
func Rerun(run record.Run, caseID string) string {
	if run.Test == "" || run.Package == "" || run.Package[0] == '-' {
		return ""
	}
	var elements []string
	for _, e := range strings.Split(fmt.Sprintf("%s/suite=%s/arm=%s/case=%s", run.Test, run.Suite, run.Arm, caseID), "/") {
		elements = append(elements, anchored(e))
	}
	tier := ""
	if run.Tier != "" && run.Tier != "smoke" {
		tier = "EVAL_TIER=" + word(run.Tier) + " "
	}
	return fmt.Sprintf("%sgo test -tags eval -count=1 -v -run %s %s", tier, shell(strings.Join(elements, "/")), word(run.Package))
}
