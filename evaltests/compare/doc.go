// Package compare says whether the difference of two runs is real: which cases
// broke and which were mended, whether the difference is more than noise,
// whether the channel that was changed did it, and what this run could not
// have seen.
//
// It decides which cases are pairs ([Pair]), whether two runs may be compared
// at all ([Comparable]), the noise floor ([NewFloor]), the share of moved cases
// that the changed channel touched ([Attribute]) and one [Verdict] for each
// treatment. [Compare] does all of it for a family of treatments of one base.
//
// It refuses runs of different questions, stores or platforms, runs whose
// configuration differs in a key that nobody declared, a declared key that does
// not differ, comparisons across a measurement break, pairs that are under 95 %
// of the plan, and a control stage that moved. A refusal comes before any
// number. Every sentence is derived from the cases of its table, and [Verify]
// refuses one that says anything else.
package compare
