package gate

import (
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// quantiles that a latency gate may name.
var quantiles = map[string]float64{"p50": 0.50, "p95": 0.95, "p99": 0.99, "max": 1}

// fewest calls that a latency gate judges.
const minLatencies = 10

func (s Spec) validateLatency() error {
	if _, ok := quantiles[s.Latency]; !ok {
		return fmt.Errorf("gate %q: latency %q; want p50, p95, p99 or max", s.Name(), s.Latency)
	}
	if s.Ceiling == nil || *s.Ceiling <= 0 || s.Floor != nil || s.Stage != "" {
		return fmt.Errorf("gate %q: a latency takes a ceiling in milliseconds above 0, no floor and no stage", s.Name())
	}
	return nil
}

// EvaluateLatency computes a gate on the latencies of the calls that were
// scored, every repeat a call of its own. Unless the gate asks to block it is
// advisory: machines differ and have other things to do. unusable says why the
// latencies of the run mean nothing, empty when they do.
func EvaluateLatency(s Spec, rows []record.Row, unusable string) record.Gate {
	g := blank(s)
	var ms []float64
	for _, r := range rows {
		if s.Stratum != "" && r.Stratum != s.Stratum {
			continue
		}
		g.Planned++
		if r.Outcome.State == record.Scored && !r.Unfit {
			ms = append(ms, float64(r.Micros)/1000)
		}
	}
	g.Denominator = len(ms)
	least := max(minLatencies, s.Min)
	if unusable == "" && len(ms) < least {
		unusable = fmt.Sprintf("%d latencies measured, at least %d needed", len(ms), least)
	}
	if unusable != "" {
		g = unmeasured(g, "latencies: "+unusable, "run again on a quiet machine, one case at a time")
		return s.advise(g)
	}
	v, err := stat.Quantile(ms, quantiles[s.Latency], stat.InverseECDF)
	if err != nil {
		return s.advise(unmeasured(g, err.Error(), "see the latencies in the record"))
	}
	g.Value = &v
	judge(&g)
	if s.Target != nil {
		met := v <= *s.Target // of latencies, lower is better
		g.TargetMet = &met
	}
	if g.Verdict == Regressed {
		g.Reason = fmt.Sprintf("%s %.1f ms is above the ceiling %.1f ms", s.Latency, v, *s.Ceiling)
		g.Action = "run again on a quiet machine; if it stays, profile the search"
	}
	return s.advise(g)
}

// advise keeps a latency gate from blocking unless it asks to.
func (s Spec) advise(g record.Gate) record.Gate {
	if !s.Blocking && g.Verdict != Pass {
		g.Reason = fmt.Sprintf("advisory (%s): %s", g.Verdict, g.Reason)
		g.Verdict, g.Action = NotApplicable, ""
	}
	return g
}

// latencyBlocks are the parts of a run whose mean latencies are compared.
const latencyBlocks = 5

// UnusableLatency says why the latencies of a run mean nothing, empty when
// they do: cases ran side by side, or the mean latency of some fifth of the
// run (first to last call) is further from that of the whole than the share
// that the suite states. A run whose machine turned busy half way has two
// distributions, and no quantile is of either.
func UnusableLatency(run record.Run, rows []record.Row) string {
	if run.Workers > 1 {
		return fmt.Sprintf("%d cases ran at a time; they count at one", run.Workers)
	}
	share := run.Limits.LatencyDrift
	if share <= 0 {
		return ""
	}
	var us []float64
	for _, r := range rows {
		if r.Outcome.State == record.Scored && !r.Unfit {
			us = append(us, float64(r.Micros))
		}
	}
	if len(us) < latencyBlocks*minLatencies {
		return "" // too few calls a block to tell drift from chance
	}
	all, worst := meanFloat(us), 0.0
	var blocks []float64
	for i := range latencyBlocks {
		b := meanFloat(us[i*len(us)/latencyBlocks : (i+1)*len(us)/latencyBlocks])
		blocks = append(blocks, b)
		if all > 0 {
			worst = max(worst, max(b-all, all-b)/all)
		}
	}
	if worst <= share {
		return ""
	}
	return fmt.Sprintf("they drift: fifths of the run took %.2f to %.2f ms a call, %.0f%% from the mean %.2f ms, at most %.0f%% are allowed",
		slices.Min(blocks)/1000, slices.Max(blocks)/1000, 100*worst, all/1000, 100*share)
}

func meanFloat(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}
