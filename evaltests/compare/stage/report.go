package stage

// Report is the account of one recorded suite. Everything in it is computed
// from the rows.
type Report struct {
	Suite   string  `json:"suite"`
	Arm     string  `json:"arm"`
	Mode    string  `json:"mode"`
	Measure string  `json:"measure"` // that decides
	Alpha   float64 `json:"alpha"`   // familywise, over the transitions
	Margin  float64 `json:"margin"`  // within which an effect is none

	Planned int     `json:"planned"`
	Cases   int     `json:"cases"` // of which every stage that ran is known
	LeftOut []Count `json:"left_out,omitempty"`
	Repeats int     `json:"repeats"` // most repeats of a case

	Stages      []Figures    `json:"stages"`
	BestArm     string       `json:"best_arm,omitempty"`
	Transitions []Transition `json:"transitions"`
	Pool        *Pool        `json:"pool,omitempty"`
	Misses      Misses       `json:"misses"`
	Channels    []Channel    `json:"channels,omitempty"`
}

// Count is a number of cases under one name.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Figures are the means of one stage over the cases that all stages of the
// table share.
type Figures struct {
	Stage      string             `json:"stage"`
	Ran        int                `json:"ran"` // cases
	Of         int                `json:"of"`
	Why        []Count            `json:"why,omitempty"` // it did not run, by reason
	Compared   bool               `json:"compared"`      // false: ran too seldom to share the table's cases
	Means      map[string]float64 `json:"means,omitempty"`
	Candidates float64            `json:"mean_candidates"`
	N          int                `json:"n"` // cases behind the means
}

// Effect says what a transition did.
type Effect string

// Effects. An effect is claimed only if it is significant after Holm's
// correction over the transitions of the report.
const (
	Helps      Effect = "helps"
	Hurts      Effect = "hurts"
	NoEffect   Effect = "no effect"       // nothing moved, or the mean lies within the margin by two one-sided tests
	Truncation Effect = "truncation only" // it cut the list and changed no order
	Unresolved Effect = "unresolved"      // too few cases to tell
)

// Transition is one step, from a stage to one that it feeds.
type Transition struct {
	From string `json:"from"`
	To   string `json:"to"`
	N    int    `json:"n"` // cases in which both ran

	Wins   int `json:"wins"`
	Losses int `json:"losses"`
	Ties   int `json:"ties"`

	Mean float64 `json:"mean"` // of the differences of the measure
	Lo   float64 `json:"lo"`   // 95 % bootstrap interval
	Hi   float64 `json:"hi"`
	P    float64 `json:"p"`      // exact two-sided sign test
	Adj  float64 `json:"p_holm"` // over the transitions

	Detectable Detectable `json:"detectable"`

	Reordered int    `json:"reordered"`  // cases in which two kept entries changed places
	Members   int    `json:"membership"` // cases in which entries joined or left
	Joined    int    `json:"joined"`     // cases in which entries joined
	Masked    int    `json:"masked"`     // cases that it moved and whose final result is as before it
	Note      string `json:"note,omitempty"`

	Effect Effect `json:"effect"`
}

// Net is wins less losses.
func (t Transition) Net() int { return t.Wins - t.Losses }

// Detectable is the smallest difference that a transition's cases detect with
// a power of 80 % at the level of the first step of Holm's correction.
type Detectable struct {
	Level float64 `json:"level"`
	// Normal and Exact are differences of the mean, by the normal form and by
	// the noncentral t distribution of the paired t test. 0: no case moved, and
	// nothing can be said.
	Normal float64 `json:"mean_normal"`
	Exact  float64 `json:"mean_exact_t"`
	// Net is a surplus of wins over losses, by the exact power of the sign test
	// at the share of cases that moved. Attainable is false if even all of them
	// on one side would not do; Net is then their number.
	Net        int  `json:"net_exact_sign"`
	Attainable bool `json:"attainable"`
}

// Pool keeps what entered the reranker apart from what it made of it.
type Pool struct {
	Stage  string  `json:"stage"` // whose entries entered
	N      int     `json:"n"`
	Size   float64 `json:"mean_size"`
	Recall float64 `json:"recall"` // share of a case's relevant documents that entered, mean
	Any    int     `json:"any"`    // cases with at least one in it

	Before  float64  `json:"before"`          // the measure of the pool as it came
	After   *float64 `json:"after,omitempty"` // as the reranker left it; nil if none ran
	Ceiling float64  `json:"ceiling"`         // as a perfect order of the same pool would have it
}

// Misses classifies every wrong answer.
type Misses struct {
	Depth     int     `json:"depth"` // ranks that a user sees
	Wrong     int     `json:"wrong"`
	Of        int     `json:"of"` // planned cases that a ranking can answer
	Classes   []Class `json:"classes,omitempty"`
	NoRanking int     `json:"no_ranking"` // planned cases that have no gold to rank
}

// Class is one way to be wrong.
type Class struct {
	Name  string   `json:"name"`
	N     int      `json:"n"`
	Cases []string `json:"cases"`
}

// Dormancy says why a channel found nothing.
type Dormancy string

// Reasons to be dormant.
const (
	ByFlag      Dormancy = "flag"            // switched off
	BySubstrate Dormancy = "no substrate"    // nothing stored that it could search
	ByStructure Dormancy = "structure"       // the question or the hits do not have what it starts from
	Untriggered Dormancy = "never triggered" // it ran and found nothing
)

// Channel is the use of one source of candidates.
type Channel struct {
	Name    string         `json:"name"`
	Fired   int            `json:"fired"`
	Reached *int           `json:"reached_top"` // cases with one of its hits among the first ranks; nil: its hits are not recorded
	Final   int            `json:"contributed"` // cases with one anywhere in the final list
	Of      int            `json:"of"`
	Dormant []DormantCount `json:"dormant,omitempty"`
}

// DormantCount is a reason with the number of cases it holds for.
type DormantCount struct {
	Why    Dormancy `json:"why"`
	Reason string   `json:"reason,omitempty"`
	N      int      `json:"n"`
}
