package pack_test

import (
	"errors"
	"fmt"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func Example() {
	p, err := pack.Load("testdata/beir", pack.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s, read by %s: %+v\n", p.Manifest.Name, p.Manifest.Version, p.Loader, p.Counts())
	for _, c := range p.Cases {
		fmt.Printf("%s [%s] %s %v\n", c.Question.ID, c.Stratum, c.Question.Text, c.Gold.Grades)
	}
	// Output:
	// kitchen 2, read by beir/1: {Documents:5 Cases:3 Answerable:2 Judgements:5}
	// q1 [plain] How long does dough rest? map[bread:2 soup:0]
	// q10 [none] Who invented the fork? map[tea:0]
	// q2 [plain] When is salt added to the soup? map[a b/ç☕:3 soup:1]
}

func ExampleLoad_notHere() {
	_, err := pack.Load("../../fixtures/scifact", pack.Options{})
	var absent *pack.NotHereError
	fmt.Println(errors.As(err, &absent), err)
	// Output:
	// true pack scifact: not here: EVAL_PACKS is not set; set it to the folder that holds scifact/
}
