package report

import (
	"fmt"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Seeding says where the stores of a run came from, and what that took.
type Seeding struct {
	Runner string         `json:"runner"`
	Scope  string         `json:"scope"`
	Stores int            `json:"stores"`
	By     map[string]int `json:"by_decision"`     // build, reuse, migrate, wipe
	Micros int64          `json:"micros"`          // until they could be searched, in this run
	Filled int64          `json:"filled_micros"`   // what filling them took, in this run or the ones that did
	Notes  []string       `json:"notes,omitempty"` // what a suite let pass in a store
}

func seeding(r record.Run) *Seeding {
	if len(r.Seeds) == 0 {
		return nil
	}
	s := &Seeding{Runner: r.Runner, Scope: r.Scope, Stores: len(r.Seeds), By: map[string]int{}}
	for _, x := range r.Seeds {
		s.By[x.Decision]++
		s.Micros += x.Micros
		s.Filled += x.Filled
		for _, note := range x.Allowed {
			if x.Group != "" {
				note = x.Group + ": " + note
			}
			s.Notes = append(s.Notes, note)
		}
	}
	return s
}

// line says it in one line.
func (s Seeding) line() string {
	took := func(micros int64) time.Duration {
		return (time.Duration(micros) * time.Microsecond).Round(time.Millisecond)
	}
	stores := "1 store"
	if s.Stores != 1 {
		stores = fmt.Sprintf("%d stores", s.Stores)
	}
	made := s.Stores - s.By["reuse"]
	switch {
	case made == 0:
		return fmt.Sprintf("%s reused in %v; filling took %v", stores, took(s.Micros), took(s.Filled))
	case made == s.Stores:
		return fmt.Sprintf("%s filled in %v", stores, took(s.Micros))
	}
	return fmt.Sprintf("%s in %v, of which %d filled and %d reused", stores, took(s.Micros), made, s.Stores-made)
}
