package seed

import "fmt"

// Flags are what a person allows: EVAL_ALLOW_WIPE, EVAL_MIGRATE_STALE and
// EVAL_PARALLEL_OK.
type Flags struct {
	AllowWipe    bool
	MigrateStale bool
	ParallelOK   bool
}

// Action is what is done about the folder of a seed.
type Action string

// The actions.
const (
	ToBuild   Action = "build"   // nothing is there
	ToReuse   Action = "reuse"   // what is there is what is wanted
	ToMigrate Action = "migrate" // a copy of what is there is brought up to date
	ToWipe    Action = "wipe"    // what is there is removed, then built
	ToRefuse  Action = "refuse"
)

// Found is what lies in a folder.
type Found struct {
	Exists bool   // a folder is there
	Ours   bool   // it has the sandbox mark
	Stamp  *Stamp // nil: none, or none that can be believed
	Why    string // why there is no stamp, or why its content is not what it says
	Fit    bool   // fully enriched, and what the contract needs is live
}

// Decision is an action and its reason.
type Decision struct {
	Action Action
	Reason string
	Do     string // what a person may do about a refusal
}

// Decide is the decision table for an existing store. No flag lets a store
// pass that is not ours.
func Decide(want Parts, have Found, flags Flags) Decision {
	key, err := want.Key()
	if err != nil {
		return Decision{ToRefuse, err.Error(), "make the subject tell all that its store depends on"}
	}
	allow := "set EVAL_ALLOW_WIPE=1 to wipe it and seed again"
	switch {
	case !have.Exists:
		return Decision{Action: ToBuild, Reason: "no seed of this key"}
	case !have.Ours:
		return Decision{ToRefuse, fmt.Sprintf("no sandbox mark (%s): the store is not ours, and is neither written to nor wiped, whatever the flags", MarkFile),
			"move it away, or give another EVAL_CACHE"}
	case have.Stamp != nil && have.Stamp.Key == key && have.Why == "":
		return Decision{Action: ToReuse, Reason: "the stamp is equal"}
	}
	reason := have.Why
	if have.Stamp != nil && have.Stamp.Key != key {
		reason = fmt.Sprintf("its stamp is of another seed (%.12s, wanted %.12s): %v differ", have.Stamp.Key, key, have.Stamp.Parts.Differ(want))
		if flags.MigrateStale {
			ok, why := migratable(have.Stamp.Parts, want)
			switch {
			case ok && have.Fit && have.Why == "":
				return Decision{Action: ToMigrate, Reason: reason}
			case ok && have.Why != "":
				why = have.Why
			case ok:
				why = "it is not fully enriched and live"
			}
			reason += "; not migrated: " + why
		}
	} else if reason == "" {
		reason = "it has no stamp: its seeding was not finished"
	}
	if flags.AllowWipe {
		return Decision{Action: ToWipe, Reason: reason}
	}
	return Decision{ToRefuse, reason, allow}
}

// RefusedError says why a store is not opened, and what to do.
type RefusedError struct {
	Reason string
	Action string
}

func (e *RefusedError) Error() string {
	if e.Action == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Action
}
