package compare

import (
	"fmt"
	"math"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Verdict is what the significance protocol says of a treatment.
type Verdict string

// The verdicts, in the order in which they are tried.
const (
	FloorSrc     Verdict = "FLOOR-SRC"    // it is the A/A run
	NoFloor      Verdict = "NO-FLOOR"     // no valid A/A, so nobody knows what noise does
	NoiseFloor   Verdict = "NOISE-FLOOR"  // two runs of one treatment differ as much
	WrongDir     Verdict = "WRONG-DIR"    // the mean fell
	Unattributed Verdict = "UNATTRIBUTED" // what moved was not touched by what was changed
	Signal       Verdict = "SIGNAL"       // significant over the family
	Weak         Verdict = "WEAK"         // above the floor, and not significant
)

// Verdicts lists them in the order in which they are tried.
func Verdicts() []Verdict {
	return []Verdict{FloorSrc, NoFloor, NoiseFloor, WrongDir, Unattributed, Signal, Weak}
}

// Facts are what a verdict rests on.
type Facts struct {
	IsFloor     bool // the treatment is one of the A/A runs
	Floor       Floor
	Mean        float64 // difference, above 0 for better
	Attribution Attribution
	Significant bool // by the paired test, adjusted over the family
}

// Judge gives the first verdict that matches, and whether attribution is
// unknown, which a star shows.
func Judge(f Facts) (v Verdict, star bool) {
	switch {
	case f.IsFloor:
		return FloorSrc, false
	case !f.Floor.Valid():
		return NoFloor, false
	case math.Abs(f.Mean) <= f.Floor.Value:
		return NoiseFloor, false
	case f.Mean < 0:
		return WrongDir, false
	case f.Attribution.Known && f.Attribution.Share() < LeastAttribution:
		return Unattributed, false
	case f.Significant:
		return Signal, !f.Attribution.Known
	}
	return Weak, !f.Attribution.Known
}

// Outcomes of a comparison as a gate.
const (
	GatePass      = "PASS"
	GateRegressed = "REGRESSED"
	GateCNM       = "COULD-NOT-MEASURE"
)

// gate maps a treatment to the outcome of a gate: a significant loss is
// regressed whatever the floor says, since a wide floor must not hide it. A
// loss that timeouts alone make is not measured.
func (t *Treatment) gate(rule record.Decision) {
	t.Gate = GatePass
	switch {
	case t.Verdict == FloorSrc:
		t.GateWhy = "an A/A run is no change"
	case t.Lost(rule.Alpha) && t.Timeouts > 0 && !t.lostWithout:
		t.Gate, t.GateWhy = GateCNM, fmt.Sprintf("worse with %d timeouts as the worst value, not without them; find out what hangs", t.Timeouts)
	case t.Lost(rule.Alpha):
		t.Gate, t.GateWhy = GateRegressed, fmt.Sprintf("a loss of %.4f with p = %.3g, under %v", -t.Primary.Mean, t.P, rule.Alpha)
	case t.Verdict == NoFloor && rule.Ship == record.ShipSignal:
		t.Gate, t.GateWhy = GateCNM, "the suite ships on a SIGNAL, and there is no floor to tell one from noise"
	}
}

// Lost reports a significant loss by the paired test, not adjusted: a gate asks
// about this change alone.
func (t *Treatment) Lost(alpha float64) bool { return t.Primary.Mean < 0 && t.P < alpha }

// Recommendations.
const (
	FlipOn   = "flip on"
	KeepOff  = "keep off"
	Either   = "either will do"
	NoAdvice = "no recommendation"
)

// recommend follows from verdict, gate and equivalence, and from nothing else,
// so that it cannot contradict them.
func (t *Treatment) recommend(rule record.Decision) {
	few := t.Pairs < t.Planned && float64(t.Pairs) < LeastOverlap*float64(t.Planned)
	switch {
	case t.Verdict == FloorSrc:
		t.Advice = NoAdvice
	case t.Gate == GatePass && (few || t.Skew != nil && t.Skew.Capped):
		t.Advice = NoAdvice // part of the cases, or others than the pack has: a direction at most
	case t.Gate == GateCNM:
		t.Advice = NoAdvice
	case t.Gate == GateRegressed:
		t.Advice = KeepOff
	case t.Verdict == Signal && !t.Star:
		t.Advice = FlipOn
	case t.Verdict == Signal:
		t.Advice = NoAdvice // better, and nobody knows by what
	case t.Equivalent && rule.Ship == record.ShipEquivalent:
		t.Advice = Either
	case t.Verdict == NoFloor:
		t.Advice = NoAdvice
	default:
		t.Advice = KeepOff
	}
}
