package engine

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/enrich"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// DefaultHalfDays is what a zero [Recency.HalfDays] stands for.
const DefaultHalfDays = 30

// Boosts are declared preferences. A passage's fused score is multiplied by 1
// plus the shares that its document earns; equal products keep the fused
// order. The zero value boosts nothing.
type Boosts struct {
	Title   float64            // earned in full by a title whose every word is in the question, else by the share of its words
	Recency Recency            // earned by documents written shortly before Query.AsOf
	Source  map[string]float64 // earned by the documents of a source; above -1, and negative to hold them back
}

// Recency is the preference for what was written last. A document as old as a
// days earns Weight * HalfDays / (HalfDays + a). One without a date that can
// be read, or written after the question, earns nothing.
type Recency struct {
	Weight   float64
	HalfDays float64 // age at which half of Weight is left; 0 means DefaultHalfDays
}

// Validate refuses numbers that are not finite or would turn an order around.
func (b Boosts) Validate() error {
	for _, n := range []struct {
		name  string
		value float64
	}{{"title", b.Title}, {"recency weight", b.Recency.Weight}, {"recency half days", b.Recency.HalfDays}} {
		if !(n.value >= 0) || math.IsInf(n.value, 0) {
			return fmt.Errorf("boosts: %s %v: want a finite number of at least 0", n.name, n.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Source)) {
		if v := b.Source[name]; !(v > -1) || math.IsInf(v, 0) {
			return fmt.Errorf("boosts: source %q %v: want a finite number above -1", name, v)
		}
	}
	return nil
}

// on says whether any boost is declared.
func (b Boosts) on() bool {
	for _, v := range b.Source {
		if v != 0 {
			return true
		}
	}
	return b.Title > 0 || b.Recency.Weight > 0
}

func (b Boosts) filled() Boosts {
	if b.Recency.HalfDays == 0 {
		b.Recency.HalfDays = DefaultHalfDays
	}
	b.Source = maps.Clone(b.Source)
	return b
}

// sources is one line, for the record of settings.
func (b Boosts) sources() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(b.Source)) {
		parts = append(parts, fmt.Sprintf("%q=%s", name, number(b.Source[name])))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, " ")
}

func (s *search) boost(stage *Stage) error {
	b := s.engine.cfg.Boosts
	if !b.on() {
		stage.Reason = "identity: no boost is declared"
		return nil
	}
	if len(s.hits) == 0 {
		stage.Reason = "identity: no hit to boost"
		return nil
	}
	if b.Recency.Weight > 0 && s.asOf == nil {
		stage.Reason = "no recency: the question does not say as of when"
	}
	labels, err := s.engine.store.Labels(s.ctx, documentsOf(s.hits)...)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	if b.Title > 0 {
		for _, term := range enrich.Terms(s.query.Text) {
			asked[term] = true
		}
	}
	earned := make(map[string]float64, len(labels))
	for id, label := range labels {
		earned[id] = b.earned(label, asked, s.asOf)
	}
	hits := slices.Clone(s.hits)
	for i := range hits {
		hits[i].Score = float64(hits[i].Score * (1 + earned[hits[i].DocumentID]))
	}
	slices.SortStableFunc(hits, func(x, y Hit) int { return cmp.Compare(y.Score, x.Score) })
	s.hits = hits
	return nil
}

// earned adds in one fixed order, without fused operations, for the sum
// decides an order.
func (b Boosts) earned(label store.Label, asked map[string]bool, asOf *enrich.Moment) float64 {
	sum := 0.0
	if b.Title > 0 {
		sum += float64(b.Title * titleShare(label.Title, asked))
	}
	if b.Recency.Weight > 0 && asOf != nil {
		if written, ok := enrich.ParseMoment(label.Date); ok && written.Day <= asOf.Day {
			age := float64(asOf.Day - written.Day)
			sum += float64(b.Recency.Weight * float64(b.Recency.HalfDays/(b.Recency.HalfDays+age)))
		}
	}
	return sum + b.Source[label.Source]
}

// titleShare is the share of a title's different words that were asked for.
func titleShare(title string, asked map[string]bool) float64 {
	words := map[string]bool{}
	found := 0
	for _, term := range enrich.Terms(title) {
		if !words[term] {
			words[term] = true
			if asked[term] {
				found++
			}
		}
	}
	if len(words) == 0 {
		return 0
	}
	return float64(found) / float64(len(words))
}

// documentsOf returns the different documents of hits, in their order.
func documentsOf(hits []Hit) []string {
	var out []string
	seen := map[string]bool{}
	for _, h := range hits {
		if !seen[h.DocumentID] {
			seen[h.DocumentID] = true
			out = append(out, h.DocumentID)
		}
	}
	return out
}
