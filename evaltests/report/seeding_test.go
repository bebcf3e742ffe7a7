package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func TestSeeding(t *testing.T) {
	store := func(decision string) record.Seed {
		return record.Seed{Group: "g", Decision: decision, Micros: 500_000, Filled: 4_000_000, Allowed: []string{"pool capped"}}
	}
	for _, tc := range []struct {
		name  string
		seeds []record.Seed
		want  string
	}{
		{"one made", []record.Seed{store("build")}, "1 store filled in 500ms"},
		{"one found", []record.Seed{store("reuse")}, "1 store reused in 500ms; filling took 4s"},
		{"wiped and migrated", []record.Seed{store("wipe"), store("migrate")}, "2 stores filled in 1s"},
		{"some", []record.Seed{store("reuse"), store("build"), store("reuse")}, "3 stores in 1.5s, of which 1 filled and 2 reused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := seeding(record.Run{Runner: "cached", Scope: "group", Seeds: tc.seeds})
			assert.Equal(t, tc.want, s.line())
			assert.Equal(t, "g: pool capped", s.Notes[0])
		})
	}
	assert.Nil(t, seeding(record.Run{}), "a subject that makes no stores")
}
