package compare

import (
	"slices"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Touch says whether a channel had a hand in a case.
type Touch int

// A channel whose work a row does not show is Unknown: that is neither a yes
// nor a no.
const (
	Unknown Touch = iota
	Untouched
	Touched
)

// Probe tells whether a channel had a hand in a case, from its two rows: a
// channel that was switched off shows in the base's. A nil Func is an honest
// none, and verdicts that would need it carry a star.
type Probe struct {
	Channel string
	Looks   string // what it looks at, for the table of probes
	Func    func(base, treatment record.Row) Touch
}

// boosts are a step of the engine and no channel: they can be changed, and
// their hand shows in the order as the reranker's does.
const boosts = "boosts"

// probeDepth is how far down a list a probe looks: as far as users do.
const probeDepth = 10

// Probes lists the touch probe of every channel of [record.Channels], by the
// name that it has there, and of the boosts.
func Probes() []Probe {
	var out []Probe
	for _, name := range record.Channels() {
		p := Probe{Channel: name}
		switch kind, _ := record.TouchProbe(name); kind {
		case record.TouchContributed:
			p.Looks, p.Func = "something of it is in the final ranking", contributed(name)
		case record.TouchReordered:
			p.Looks, p.Func = "its top 10 differs from its input's", reordered("rerank", "candidates")
		}
		out = append(out, p)
	}
	return append(out, Probe{boosts, "its top 10 differs from its input's", reordered("boosted", "fusion")})
}

// ProbeOf is the probe of a channel; false for a channel that has no entry.
func ProbeOf(channel string) (Probe, bool) {
	ps := Probes()
	i := slices.IndexFunc(ps, func(p Probe) bool { return p.Channel == channel })
	if i < 0 {
		return Probe{}, false
	}
	return ps[i], true
}

// contributed looks at what the subject says of the channel. A channel that was
// skipped in both rows did nothing; one that neither row speaks of is unknown.
func contributed(name string) func(base, treatment record.Row) Touch {
	return func(base, treatment record.Row) Touch {
		out := Unknown
		for _, r := range []record.Row{base, treatment} {
			for _, c := range r.Channels {
				switch {
				case c.Name != name:
				case c.Contributed:
					return Touched
				default:
					out = Untouched
				}
			}
		}
		return out
	}
}

// reordered compares a step with its input, in both rows. A step that was
// skipped touched nothing; a row without the step, or without its input, is
// unknown.
func reordered(step, input string) func(base, treatment record.Row) Touch {
	return func(base, treatment record.Row) Touch { return changedBy(base, treatment, step, input) }
}

func changedBy(base, treatment record.Row, step, input string) Touch {
	out := Unknown
	for _, r := range []record.Row{base, treatment} {
		after, ok := r.Stage(step)
		switch {
		case !ok || after.State == record.NotInstrumented:
			continue
		case after.State != record.Executed:
			out = Untouched
			continue
		}
		before, ok := r.Stage(input)
		if !ok || before.State != record.Executed {
			continue
		}
		if !slices.Equal(top(after.Entries), top(before.Entries)) {
			return Touched
		}
		out = Untouched
	}
	return out
}

// top is what the first ten entries are, without their scores.
func top(entries []record.Entry) [][2]string {
	out := make([][2]string, 0, probeDepth)
	for _, e := range entries[:min(probeDepth, len(entries))] {
		out = append(out, [2]string{e.Doc, e.Chunk})
	}
	return out
}

// Channels names the channels that a key of the configuration works through;
// none for a key that moves rankings by a way that no probe sees.
func Channels(key string) []string {
	switch key {
	case "judge", "reranker", "pool_size":
		return []string{record.ChannelRerank}
	case "embedder", "optional.vector":
		return []string{"vector"}
	case "optional.lexical":
		return []string{"lexical"}
	case "rrf_k", "depth", "chunk.max_words", "chunk.overlap":
		return []string{"vector", "lexical"}
	}
	head, rest, _ := strings.Cut(key, ".")
	switch head {
	case "weights":
		return []string{rest}
	case "channels":
		name, _, _ := strings.Cut(rest, ".")
		return []string{name}
	case "boosts":
		return []string{boosts}
	}
	return nil
}

// Attribution is the share of the moved cases in which a changed channel had a
// hand.
type Attribution struct {
	Channels []string `json:"channels,omitempty"` // that were changed
	Moved    int      `json:"moved"`              // cases whose value changed
	Touched  int      `json:"touched"`
	Known    bool     `json:"known"`         // false: no channel is named, one has no probe, or a moved case does not show it
	Why      string   `json:"why,omitempty"` // why it is not known
}

// LeastAttribution is the share below which an effect is not the channel's.
const LeastAttribution = 0.9

// Share of the moved cases that were touched; 0 when none moved.
func (a Attribution) Share() float64 {
	if a.Moved == 0 {
		return 0
	}
	return float64(a.Touched) / float64(a.Moved)
}

// Attribute asks each moved case whether one of the channels touched it.
func Attribute(channels []string, moved []CasePair) Attribution {
	a := Attribution{Channels: channels, Moved: len(moved), Known: true}
	if len(channels) == 0 {
		a.Known, a.Why = false, "no channel is named for what was changed"
		return a
	}
	var probes []Probe
	for _, name := range channels {
		p, ok := ProbeOf(name)
		if !ok || p.Func == nil {
			a.Known, a.Why = false, "channel "+name+" has no touch probe"
			return a
		}
		probes = append(probes, p)
	}
	for _, c := range moved {
		switch touch(probes, c) {
		case Touched:
			a.Touched++
		case Unknown:
			a.Known, a.Why = false, "case "+c.Case+" does not say what its channels did"
		}
	}
	return a
}

// touch is Touched when any probe says so for any repeat, Unknown when none
// does and one cannot tell.
func touch(probes []Probe, c CasePair) Touch {
	out := Untouched
	for i, t := range c.Treatment {
		b := c.Base[min(i, len(c.Base)-1)]
		for _, p := range probes {
			switch p.Func(b, t) {
			case Touched:
				return Touched
			case Unknown:
				out = Unknown
			}
		}
	}
	return out
}
