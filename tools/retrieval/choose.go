package main

import (
	"fmt"
	"math"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// EveryOther keeps every second answerable case of each stratum, the first of
// each included: the half of a pack that a choice may be made on.
func EveryOther(cases []pack.Case) []pack.Case {
	seen := map[string]int{}
	var half []pack.Case
	for _, c := range cases {
		if !c.Gold.Answerable {
			continue
		}
		if seen[c.Stratum]%2 == 0 {
			half = append(half, c)
		}
		seen[c.Stratum]++
	}
	return half
}

// AskedAbout turns each unanswerable question into one whose gold is the
// passages that it was asked about, which the packs hold with grade 0.
func AskedAbout(cases []pack.Case) []pack.Case {
	var out []pack.Case
	for _, c := range cases {
		if c.Gold.Answerable || len(c.Gold.Grades) == 0 {
			continue
		}
		grades := map[string]int{}
		for id := range c.Gold.Grades {
			grades[id] = 1
		}
		c.Gold = pack.Gold{Answerable: true, Grades: grades}
		out = append(out, c)
	}
	return out
}

// Choice is the outcome of the rule, with what it was made on.
type Choice struct {
	Best   float64 // the weight of the highest average
	Weight float64 // the weight that is chosen
	Points []Point
}

// Point is a weight on the development sets. Loss and SE compare with Best on
// the same questions.
type Point struct {
	Weight  float64
	Means   []float64 // nDCG@10, one a set
	Average float64   // of the means: every set counts alike, whatever its size
	Loss    float64   // Average of Best less Average
	SE      float64   // standard error of Loss over the questions
	P       float64   // two-sided sign flip test that Loss is 0
}

// Choose applies the one-standard-error rule of Breiman et al. (1984, section
// 3.4.3) to paired differences: of all weights whose average nDCG@10 is less
// than one standard error below the best, the largest. The rule leans to the
// vector arm, which finds what shares no word with the question and which no
// development set of the size at hand could show to hurt.
func Choose(weights []float64, sets []Curve) (Choice, error) {
	values := make([][][]float64, len(weights)) // weight, set, case
	c := Choice{Points: make([]Point, len(weights))}
	best := -1
	for i, w := range weights {
		c.Points[i].Weight = w
		for _, set := range sets {
			v, err := set.At(w, "final", linear)
			if err != nil {
				return c, err
			}
			values[i] = append(values[i], v)
			c.Points[i].Means = append(c.Points[i].Means, mean(v))
		}
		c.Points[i].Average = mean(c.Points[i].Means)
		if best < 0 || c.Points[i].Average > c.Points[best].Average {
			best = i
		}
	}
	if best < 0 {
		return c, fmt.Errorf("choose: no weights")
	}
	c.Best = weights[best]
	c.Weight = c.Best
	for i := range weights {
		p := &c.Points[i]
		if err := p.compare(values[best], values[i]); err != nil {
			return c, err
		}
		if p.Loss < p.SE && p.Weight > c.Weight {
			c.Weight = p.Weight
		}
	}
	return c, nil
}

// compare fills in the loss against the best weight. A difference of a set
// with n questions counts 1/n, so that the sets count alike.
func (p *Point) compare(best, here [][]float64) error {
	var scaled []float64
	variance := 0.0
	for s := range best {
		n := float64(len(best[s]))
		d := make([]float64, len(best[s]))
		for i := range d {
			d[i] = best[s][i] - here[s][i]
			scaled = append(scaled, d[i]/n)
		}
		m := mean(d)
		squares := 0.0
		for _, x := range d {
			squares += float64((x - m) * (x - m))
		}
		if n > 1 {
			variance += squares / (n - 1) / n
		}
		p.Loss += m
	}
	k := float64(len(best))
	p.Loss /= k
	p.SE = math.Sqrt(variance) / k
	flip, err := stat.SignFlipTest(scaled, resamples, stat.NewStream(1, "fusion weight", fmt.Sprint(p.Weight)))
	p.P = flip.P
	return err
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
