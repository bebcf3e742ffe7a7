package record

import (
	"errors"
	"fmt"
)

// State is how a planned case ended. Every case ends in exactly one, and they
// sum to the plan.
type State string

// The states. NotReached is never written: it is what a case of the plan
// without a row is.
const (
	Scored     State = "scored"
	Failed     State = "failed"    // counts as the worst value
	TimedOut   State = "timed_out" // counts as the worst value
	Refused    State = "refused"   // could not be measured: carries reason and action
	Skipped    State = "skipped"   // not measured on purpose: carries reason and action
	NotReached State = "not_reached"
)

// States lists all states in the order they are reported.
func States() []State { return []State{Scored, Failed, TimedOut, Refused, Skipped, NotReached} }

// Counts reports whether a case in this state enters a headline: with its
// measures when scored, with the worst value when it failed or timed out.
func (s State) Counts() bool { return s == Scored || s == Failed || s == TimedOut }

// written reports whether s is a state that a row may carry.
func (s State) written() bool {
	return s == Scored || s == Failed || s == TimedOut || s == Refused || s == Skipped
}

// Outcome is a state with what a person needs to know about it.
type Outcome struct {
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
	Action string `json:"action,omitempty"` // what to do next, for instance "run make models"
}

// declined is the error behind Refuse and Skip.
type declined struct{ outcome Outcome }

func (d *declined) Error() string {
	text := fmt.Sprintf("%s: %s", d.outcome.State, d.outcome.Reason)
	if d.outcome.Action != "" {
		text += "; " + d.outcome.Action
	}
	return text
}

// Refuse is the error of a subject that cannot answer for a reason that is
// not its quality: a substrate is empty, a model is missing. action says what
// to do.
func Refuse(reason, action string) error {
	return &declined{Outcome{State: Refused, Reason: reason, Action: action}}
}

// Skip is the error of a subject that does not take part in a case.
func Skip(reason string) error { return &declined{Outcome{State: Skipped, Reason: reason}} }

// Declined returns the outcome that a subject asked for with [Refuse] or
// [Skip], if err is such an error.
func Declined(err error) (Outcome, bool) {
	var d *declined
	if errors.As(err, &d) {
		return d.outcome, true
	}
	return Outcome{}, false
}
