package trec

import (
	"cmp"
	"fmt"
	"slices"
)

// Order is a rule that puts the hits of a question in sequence. The rank
// column never matters. One order is computed once for each question and used
// by every measure.
type Order string

const (
	// Trec is trec_eval 10.0's: score descending, ties by document id
	// descending, byte by byte.
	Trec Order = "trec"
	// Trec9 is 9.0.8's: the same with scores narrowed to 32 bits before they
	// are compared. Interpolated precision cuts as 9.0.8 does, too.
	Trec9 Order = "trec9"
	// Input keeps the order of the lines.
	Input Order = "input"
	// IDAsc is score descending, ties by document id ascending.
	IDAsc Order = "id-asc"
)

// Orders lists the orders.
func Orders() []Order { return []Order{Trec, Trec9, Input, IDAsc} }

func (o Order) check() error {
	if slices.Contains(Orders(), o) {
		return nil
	}
	return fmt.Errorf("order %q: want one of %v", string(o), Orders())
}

// score is what the order compares.
func (o Order) score(s float64) float64 {
	if o == Trec9 {
		return float64(float32(s))
	}
	return s
}

func (o Order) sort(hits []Hit) {
	if o == Input {
		return
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		ids := cmp.Compare(b.ID, a.ID)
		if o == IDAsc {
			ids = -ids
		}
		return cmp.Or(cmp.Compare(o.score(b.Score), o.score(a.Score)), ids)
	})
}
