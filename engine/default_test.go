package engine_test

import (
	"strings"
	"testing"

	"github.com/touchstone-eval/touchstone/engine"
)

// TestDefaultModel: an engine without any setting works, by meaning too: the
// last question shares no word with its answer.
func TestDefaultModel(t *testing.T) {
	dir := t.TempDir()
	docs := []engine.Document{
		{ID: "leave", Title: "Annual leave", Text: "Employees get thirty days of paid vacation a year."},
		{ID: "travel", Title: "Travel", Text: "Flights and hotels are booked by the travel desk."},
		{ID: "laptop", Title: "Equipment", Text: "Every new colleague gets a laptop and a phone."},
		{ID: "canteen", Title: "Food", Text: "The canteen serves lunch between noon and two."},
	}
	for _, state := range []string{"new", "opened again"} {
		e, err := engine.Open(t.Context(), dir, engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if state == "new" {
			ingest(t, e, docs...)
		}
		if v := e.Config()["embedder"]; !v.Default || !strings.HasPrefix(v.Value, "static-256@") {
			t.Errorf("embedder %+v", v)
		}
		for question, want := range map[string]string{
			"how many days of vacation": "leave", "who books my flight?": "travel", "computers for staff": "laptop",
		} {
			r := search(t, e, engine.Query{Text: question, K: 2})
			if r.Hits[0].DocumentID != want {
				t.Errorf("%s, %q: %v, want %s first", state, question, documents(r.Hits), want)
			}
		}
		if counts := substrates(t, e); counts["vectors"] != 4 {
			t.Errorf("substrates %v", counts)
		}
		shut(t, e)
	}
}
