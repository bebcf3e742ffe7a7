package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mostWeights bounds a grid.
const mostWeights = 200

// DefaultWeights is the grid of the vector weight where none is given.
var DefaultWeights = "0:1:0.1"

// ParseWeights reads a:b:step, or single weights with commas between.
func ParseWeights(s string) ([]float64, error) {
	want := fmt.Errorf("weights %q: want from:to:step, as 0:1:0.05, or single weights, as 0,0.3,1; each finite and at least 0, at most %d", s, mostWeights)
	parts := strings.Split(s, ":")
	if len(parts) == 1 {
		parts = strings.Split(s, ",")
		if len(parts) > mostWeights {
			return nil, want
		}
		var out []float64
		for _, p := range parts {
			w, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
			if err != nil || !valid(w) {
				return nil, want
			}
			out = append(out, w)
		}
		return out, nil
	}
	if len(parts) != 3 {
		return nil, want
	}
	var n [3]float64
	for i, p := range parts {
		var err error
		if n[i], err = strconv.ParseFloat(strings.TrimSpace(p), 64); err != nil || !valid(n[i]) {
			return nil, want
		}
	}
	from, to, step := n[0], n[1], n[2]
	steps := math.Floor((to-from)/step + 1e-9)
	if !(step > 0) || !(to >= from) || !(steps < mostWeights) {
		return nil, want
	}
	var out []float64
	for i := range int(steps) + 1 {
		// Rounded, so that 0.1 three times is the 0.3 that a config says.
		out = append(out, math.Round((from+float64(float64(i)*step))*1e9)/1e9)
	}
	return out, nil
}

func valid(w float64) bool { return w >= 0 && w <= 1e6 }

// grid is the weights with the current one, ascending, each once.
func grid(weights []float64, current float64) ([]float64, error) {
	out := append(slices.Clone(weights), current)
	for _, w := range out {
		if !valid(w) {
			return nil, fmt.Errorf("weight %v: want a finite number of at least 0", w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// some names a few of many.
func some(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
