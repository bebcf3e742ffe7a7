package record

// Seed is a store of a run: where it came from, and what its filling took.
type Seed struct {
	Group       string            `json:"group,omitempty"` // or case; empty for the whole corpus
	Key         string            `json:"key,omitempty"`   // content address: hash of Parts
	Parts       map[string]string `json:"parts,omitempty"` // all that its content depends on
	Decision    string            `json:"decision"`        // build, reuse, migrate, wipe
	Reason      string            `json:"reason,omitempty"`
	Documents   int               `json:"documents"`
	Micros      int64             `json:"micros"`                // wall time until it could be searched, in this run
	Filled      int64             `json:"filled_micros"`         // wall time of its filling, in this run or the one that made it
	Concurrency int               `json:"concurrency,omitempty"` // batches side by side while it was filled
	Steps       []SeedStep        `json:"steps,omitempty"`
	Skipped     []SkippedStep     `json:"skipped,omitempty"` // steps that documents went without
	Report      []string          `json:"report,omitempty"`  // what its contract reports and does not demand
	Allowed     []string          `json:"allowed,omitempty"` // what the suite let pass: a capped pool, a merged store
}

// SeedStep is the time of one step of filling a store.
type SeedStep struct {
	Name        string `json:"name"`
	Micros      int64  `json:"micros"` // summed over batches
	Concurrency int    `json:"concurrency"`
}

// SkippedStep counts documents that went without a step, for one reason.
type SkippedStep struct {
	Step      string `json:"step"`
	Reason    string `json:"reason"`
	Documents int    `json:"documents"`
}

// Contract is how the stores of a run stood to the contract of their pack.
type Contract struct {
	Variant       string `json:"variant"`
	Stores        int    `json:"stores"`
	Held          int    `json:"held"`
	Reason        string `json:"reason,omitempty"` // why the others were refused
	Action        string `json:"action,omitempty"`
	NotApplicable string `json:"not_applicable,omitempty"` // why no store could be held to it
}
