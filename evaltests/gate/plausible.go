package gate

import (
	"fmt"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// fewest different questions after which one and the same answer to all of
// them is no chance.
const minInert = 10

// implausible refuses a run that no working subject makes: it would measure as
// "no effect" or as very bad, and people would look for the reason in the
// ranking.
func implausible(f Facts, because func(key, reason string)) {
	var answerable, empty, alike, scored int
	var first []string
	questions := map[string]bool{}
	var micros int64
	for _, r := range f.Rows {
		if r.Outcome.State != record.Scored {
			continue
		}
		scored++
		micros += r.Micros
		if !r.Ranked() {
			continue
		}
		ids, _, _ := record.Documents(r.Ranking)
		answerable++
		if len(ids) == 0 {
			empty++
			continue
		}
		if first == nil {
			first = ids
		}
		if slices.Equal(ids, first) {
			alike++
			questions[r.Question] = true
		}
	}
	switch {
	case empty == answerable && answerable > 1:
		because(KeyInert, fmt.Sprintf("inert: not one document was returned for any of %d answerable questions; see whether the subject searches the corpus it was given", answerable))
	case alike == answerable && len(questions) >= minInert:
		because(KeyInert, fmt.Sprintf("inert: all %d answerable questions got the same ranking; see whether the subject reads the question", answerable))
	}
	if f.MinMicros > 0 && scored > 0 && micros/int64(scored) < f.MinMicros {
		because(KeyTooFast, fmt.Sprintf("suspect: %d µs a case on average, and the suite says that no search takes less than %d µs (min_case_time); see whether the subject searches at all", micros/int64(scored), f.MinMicros))
	}
}
