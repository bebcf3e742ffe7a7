package metric

import (
	"maps"
	"slices"

	"github.com/touchstone-eval/touchstone/evaltests/rank"
)

// Grades are the judgements of one question: document id to grade. A grade of
// 1 or more is relevant unless a measure says otherwise (rel=2), 0 is judged
// not relevant, and a negative grade is a document that was pooled but not
// judged. Ids that are missing were never considered.
type Grades map[string]int

// What a rank holds when it holds no grade.
const (
	// Unjudged marks a document that is in the gold with a negative grade:
	// pooled, not judged. infAP ignores it, the others count it as not
	// relevant.
	Unjudged = -1
	// Absent marks a document that the gold does not know.
	Absent = -2
)

// Gold is what measures read of a question's grades: how many documents have
// each grade. The zero value is a question without judgements.
type Gold struct {
	levels []level // by grade, highest first; grades of 0 and above
}

type level struct {
	grade, count int
}

// NewGold counts grades. Negative ones are not judged and are left out.
func NewGold(grades []int) Gold {
	sorted := slices.Clone(grades)
	slices.Sort(sorted)
	var gold Gold
	for _, g := range slices.Backward(sorted) {
		if g < 0 {
			break
		}
		if n := len(gold.levels); n > 0 && gold.levels[n-1].grade == g {
			gold.levels[n-1].count++
			continue
		}
		gold.levels = append(gold.levels, level{g, 1})
	}
	return gold
}

// Relevant is the number of documents with a grade of at least rel.
func (g Gold) Relevant(rel int) int {
	n := 0
	for _, l := range g.levels {
		if l.grade >= rel {
			n += l.count
		}
	}
	return n
}

// judged is the number of documents with a grade.
func (g Gold) judged() int { return g.Relevant(0) }

// Judged is one question ready to be measured: the grade found at each rank,
// and the gold.
type Judged struct {
	// Ranks holds, best first, the grade of each retrieved document, or
	// Unjudged or Absent.
	Ranks []int
	// Raw, if not nil, replaces Ranks for the measures that count entries
	// rather than documents: P, SetP, Judged, Unj and NumRet. JudgeChunks sets
	// it.
	Raw []int
	// Gold counts all grades of the question, retrieved or not.
	Gold Gold
}

// Judge looks up each document of a ranking.
func Judge(g Grades, r rank.Ranking) Judged {
	j := Judged{Ranks: make([]int, r.Len()), Gold: g.gold()}
	for i := range j.Ranks {
		j.Ranks[i] = g.at(r.ID(i))
	}
	return j
}

func (g Grades) gold() Gold { return NewGold(slices.Collect(maps.Values(g))) }

func (g Grades) at(id string) int {
	grade, ok := g[id]
	switch {
	case !ok:
		return Absent
	case grade < 0:
		return Unjudged
	}
	return grade
}
