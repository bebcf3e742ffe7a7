package gate

import (
	"strings"
	"testing"
)

// Whatever the text, an inventory that is accepted requires something that can
// be met, and one that is refused says where.
func FuzzInventory(f *testing.F) {
	f.Add([]byte("packages = [\"./...\"]\n[[suite]]\nname = \"s\"\ntier = \"smoke\"\nplanned = 3\nplatforms = [\"linux/amd64/v1\"]\n"))
	f.Add([]byte("suite = [{name = \"s\", tier = \"deep\", planned = 1}]\npackages = [\"-x\"]\n"))
	f.Add([]byte("[suite]\nname = 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		inv, err := parseInventory("inv.toml", data)
		if err != nil {
			if len(inv.Suites)+len(inv.Packages) > 0 || !strings.HasPrefix(err.Error(), "inv.toml:") {
				t.Fatalf("%+v beside the error %v", inv, err)
			}
			return
		}
		if len(inv.Suites) == 0 || len(inv.Packages) == 0 {
			t.Fatal("accepted an inventory that requires nothing")
		}
		for _, s := range inv.Suites {
			if err := s.validate(); err != nil {
				t.Fatalf("accepted %+v: %v", s, err)
			}
		}
	})
}
