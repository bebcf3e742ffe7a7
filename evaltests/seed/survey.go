package seed

import "fmt"

// Survey is all that a subject tells of a store that is to be measured. What
// it leaves out is unknown.
type Survey struct {
	Counts      []Count
	Model       string // of the live embedder, as Count.Model; empty if there is none
	Content     string // digest of all that the store holds; empty if the subject has none
	Sources     Tally  // different sources of documents
	Duplicates  Tally  // documents beyond the first of a source and source id
	Classified  Tally  // documents that the enrichment has read
	Dated       Tally  // documents with an event date
	Cued        Tally  // documents that name something or point to another
	Truncated   Tally  // vectors of passages that the model did not read to the end
	Zero        Tally  // vectors without a direction
	Conformance *Conformance
	Skipped     []Skipped
}

// Conformance says how the live embedder compares with the stored vectors. A
// failed check stands as a sentence; none of them is all well.
type Conformance struct {
	Failed    []string
	Checks    int     // made, failed ones included
	MinCosine float64 // of a live vector with the stored one
}

// Skipped is a step of an ingest that documents went without.
type Skipped struct {
	Step      string `json:"step"`
	Reason    string `json:"reason"`
	Documents int    `json:"documents"`
}

// Of returns the rows of a substrate: of vectors, those of the live model. A
// substrate that the subject does not report is unknown.
func (v Survey) Of(s Substrate) (int, error) {
	for _, c := range v.Counts {
		if c.Substrate == s && (s != Vectors || v.Model == "" || c.Model == "" || c.Model == v.Model) {
			return c.Rows()
		}
	}
	return 0, fmt.Errorf("substrate %s: count unknown: the subject does not report it", s)
}
