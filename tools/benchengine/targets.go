package main

import (
	"fmt"
	"strings"
	"time"
)

// What the figures are held against, on two cores.
const (
	buildTarget    = 120 * time.Second // build and evaluate with the default embedder
	latencyTarget  = 1.0               // times as fast as Python in search p50 with the same model
	endToEndTarget = 10.0              // times as fast as Python end to end, with the default embedder
)

// Target is a figure beside what it should be.
type Target struct {
	Name  string
	Want  string
	Found string // "not measured" if a side did not run
	Kept  bool
}

// targets compares unrounded figures; all are in every table, measured or not.
func (f Figures) targets() []Target {
	out := []Target{{
		Name: "build and evaluate, default embedder", Want: fmt.Sprintf("under %.0f s", buildTarget.Seconds()),
		Found: fmt.Sprintf("%.2f s", f.total().Seconds()), Kept: len(f.Build) > 0 && f.total() < buildTarget,
	}}
	for _, mode := range []string{"dense", "hybrid"} {
		t := Target{Name: fmt.Sprintf("search p50, %s, %s on both sides", mode, fullModel), Want: fmt.Sprintf("at least %gx", latencyTarget)}
		ours, theirs, ok := f.pair(fullModel, mode)
		if ok {
			a, errA := quantile(ours.Search, .5)
			b, errB := quantile(theirs.Search, .5)
			ok = errA == nil && errB == nil
			t.Found, t.Kept = ratio(b, a), ok && float64(b) >= latencyTarget*float64(a)
		}
		out = append(out, t.measured(ok))
	}
	t := Target{
		Name: fmt.Sprintf("end to end (index and all searches), hybrid, default embedder against Python with %s", fullModel),
		Want: fmt.Sprintf("at least %gx", endToEndTarget),
	}
	ours, theirs, ok := f.pair("default", "hybrid")
	if ok {
		t.Found, t.Kept = ratio(theirs.endToEnd(), ours.endToEnd()), float64(theirs.endToEnd()) >= endToEndTarget*float64(ours.endToEnd())
	}
	return append(out, t.measured(ok))
}

func (t Target) measured(ok bool) Target {
	if !ok {
		t.Found, t.Kept = "not measured", false
	}
	return t
}

// pair is this engine with a model, and the Python side of the same mode.
func (f Figures) pair(model, mode string) (ours, theirs System, ok bool) {
	var a, b bool
	for _, s := range f.Systems {
		switch {
		case s.Mode != mode:
		case s.Name == python:
			theirs, b = s, true
		case s.Model == model:
			ours, a = s, true
		}
	}
	return ours, theirs, a && b
}

// total is what build and evaluate took.
func (f Figures) total() (sum time.Duration) {
	for _, s := range f.Build {
		sum += s.Wall
	}
	return sum
}

func (f Figures) printTargets(b *strings.Builder) {
	b.WriteString("\nTargets\n\n| target | wanted | found | kept |\n|---|---|---|---|\n")
	for _, t := range f.targets() {
		kept := "yes"
		if !t.Kept {
			kept = "NO"
		}
		if t.Found == "not measured" {
			kept = "-"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", t.Name, t.Want, t.Found, kept)
	}
}
