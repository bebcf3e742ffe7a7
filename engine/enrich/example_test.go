package enrich_test

import (
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

func Example() {
	r := enrich.Read(enrich.Document{
		ID: "notes/monday.md", Date: "2024-03-12",
		Text: "# Travel\nYesterday Maria Lopez filed POL-358, see [the rules](rules.md).",
	})
	for _, d := range r.Dates {
		fmt.Println("date", d.First, d.Last)
	}
	for _, e := range r.Entities {
		fmt.Println(e.Kind, e.Name)
	}
	for _, ref := range r.References {
		fmt.Println(ref.Kind, ref.Target)
	}
	fmt.Println("section", r.Sections[0].Title)
	// Output:
	// date 2024-03-11 2024-03-11
	// name maria lopez
	// identifier pol-358
	// id pol-358
	// markdown notes/rules.md
	// section travel
}
