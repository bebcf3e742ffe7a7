package seed

import "github.com/touchstone-eval/touchstone/evaltests/pack"

// StoredAs is what a document of a pack is stored under. The source is the
// pack, with the document's group if it has one; the id is the document's own,
// as its loader made it ([pack.SourceID]). It is the only place that says so:
// under another id a document would not match the gold, and measure as a miss.
func StoredAs(packName string, d pack.Document) (source, id string) {
	if d.Group == "" {
		return packName, d.ID
	}
	return packName + "/" + d.Group, d.ID
}
