package strict_test

import (
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

func Example() {
	var gate struct {
		Floor float64 `toml:"floor"`
	}
	fmt.Println(strict.TOML("suite.toml", []byte("# quality\nflor = 0.43\n"), &gate))
	// Output:
	// suite.toml:2: unknown key "flor"; remove it or correct its spelling
}

func ExampleLines() {
	text := `{"id":"q1"}` + "\n\n" + `{"id":"q2","id":"q3"}` + "\n"
	err := strict.Lines("cases.jsonl", strings.NewReader(text), func(_ int, line []byte) error {
		var c struct {
			ID string `json:"id"`
		}
		return strict.JSON(line, &c, true)
	})
	fmt.Println(err)
	// Output:
	// cases.jsonl:3: key "id" is given twice; which one holds is anybody's guess
}
