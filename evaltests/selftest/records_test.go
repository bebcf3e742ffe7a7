package selftest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/adapt/builtin"
	"github.com/touchstone-eval/touchstone/evaltests/compare/stage"
	"github.com/touchstone-eval/touchstone/evaltests/compare/sweep"
	"github.com/touchstone-eval/touchstone/evaltests/record"
	"github.com/touchstone-eval/touchstone/evaltests/selftest"
)

// What reads a record after the fact.
const (
	stages  = "stages"       // stage.Analyse
	control = "control"      // stage.Check of the lexical stage against the sound record
	fusion  = "sweep fusion" // sweep.Fusion
)

// TestRecordMutants forges finished records, their digests made to fit, and
// lists which of the tools that read records must refuse each. The matrix must
// equal the list; a benign change is refused by none.
func TestRecordMutants(t *testing.T) {
	sound := engineRecord(t)
	base, err := record.Read(sound)
	require.NoError(t, err)
	for _, m := range []struct {
		name   string
		red    []string
		says   string
		change func(i int, r *record.Row)
		run    func(*record.Run)
	}{
		{name: "benign: nothing changed"},
		{name: "benign: slower", change: func(_ int, r *record.Row) { r.Micros *= 3 }},
		{name: "benign: the fused list reordered at rank 9 in one case", change: func(i int, r *record.Row) {
			if i == 0 {
				swapAt(r, "fusion", 8)
			}
		}},
		{name: "another order was fused", red: []string{fusion}, says: "positions of the first 10 agree",
			change: func(_ int, r *record.Row) { swapAt(r, "fusion", 4); swapAt(r, "fusion", 7) }},
		{name: "another weight than the run line says", red: []string{fusion}, says: "positions of the first 10 agree",
			run: func(r *record.Run) { r.Config["weights.vector"] = record.Set{Value: "3"} }},
		{name: "best fused hit swapped away in every case", red: []string{stages, fusion}, says: "its entries and gold give",
			change: func(_ int, r *record.Row) { swapAt(r, "fusion", 0) }},
		{name: "a stage's measure raised", red: []string{stages}, says: "its entries and gold give",
			change: func(i int, r *record.Row) {
				if i == 3 {
					r.Stages[5-1].Measures["nDCG@10"] = .123
				}
			}},
		{name: "the control stage moved", red: []string{control, fusion}, says: "the runs are incomparable",
			change: func(_ int, r *record.Row) { swapAt(r, "lexical", 2); swapAt(r, "lexical", 5) }},
		{name: "the fusion not reported", red: []string{fusion}, says: "no stage fusion",
			change: func(_ int, r *record.Row) {
				r.Stages = slices.DeleteFunc(r.Stages, func(s record.Stage) bool { return s.Name == "fusion" })
			}},
	} {
		t.Run(m.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(sound))
			data, err := os.ReadFile(sound)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, data, 0o644))
			require.NoError(t, selftest.Forge(path, func(lines [][]byte) [][]byte { return forge(t, lines, m.run, m.change) }))
			f, err := record.Read(path)
			require.NoError(t, err)
			require.Equal(t, record.Complete, f.State, f.Detail)
			var red []string
			said := ""
			note := func(tool string, err error) {
				if err != nil {
					red = append(red, tool)
					said += err.Error() + "\n"
				}
			}
			_, err = stage.Analyse(f, stage.Options{})
			note(stages, err)
			_, err = stage.Check(base, f, "lexical")
			note(control, err)
			_, err = sweep.Fusion(f, sweep.FusionOptions{})
			note(fusion, err)
			assert.Equal(t, m.red, red, said)
			assert.Contains(t, said, m.says)
		})
	}
}

// engineRecord is a record of the engine over the toy pack.
func engineRecord(t *testing.T) string {
	t.Helper()
	s, err := builtin.New(t.Context(), engine.Config{Embedder: embedtest.New(16)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	suite, err := evaltests.NewSuite(toyPack(), evaltests.Env{Tier: "smoke"})
	require.NoError(t, err)
	folder, err := record.NewFolder(t.TempDir(), ".", "test", nil)
	require.NoError(t, err)
	run, err := evaltests.Evaluate(t.Context(), suite.In(folder), s)
	require.NoError(t, err)
	return run.Path
}

// swapAt changes the places of two neighbours, and leaves the measures.
func swapAt(r *record.Row, name string, i int) {
	for j := range r.Stages {
		if s := &r.Stages[j]; s.Name == name && i+1 < len(s.Entries) {
			s.Entries[i], s.Entries[i+1] = s.Entries[i+1], s.Entries[i]
		}
	}
}

// forge decodes the lines, changes them and encodes them again.
func forge(t *testing.T, lines [][]byte, run func(*record.Run), change func(int, *record.Row)) [][]byte {
	t.Helper()
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		return fmt.Appendln(nil, string(data))
	}
	cases := 0
	for i, line := range lines {
		var head record.Head
		require.NoError(t, json.Unmarshal(line, &head))
		switch {
		case head.Kind == record.KindRun && run != nil:
			var r record.Run
			require.NoError(t, json.Unmarshal(line, &r))
			run(&r)
			lines[i] = encode(r)
		case head.Kind == record.KindCase && change != nil:
			r, err := record.ParseRow(line)
			require.NoError(t, err)
			change(cases, &r)
			cases++
			lines[i] = encode(r)
		}
	}
	return lines
}
