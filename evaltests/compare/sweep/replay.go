package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Names of the stages that a fusion is replayed from.
const (
	vectorStage  = "vector"
	lexicalStage = "lexical"
	fusionStage  = "fusion"
)

// Settings are those of a weighted reciprocal rank fusion: a passage scores
// weight/(k+rank) from every list that has it.
type Settings struct {
	Vector   float64          `json:"vector"`
	Lexical  float64          `json:"lexical"`
	K        int              `json:"rrf_k"`
	Channels []ChannelSetting `json:"channels,omitempty"` // that are on
}

// ChannelSetting is a further list of the fusion.
type ChannelSetting struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
}

// SettingsOf reads the settings in effect from the run line.
func SettingsOf(run record.Run) (Settings, error) {
	var s Settings
	number := func(key string) (float64, error) {
		set, ok := run.Config[key]
		if !ok {
			return 0, fmt.Errorf("%s: the run does not say %s; a fusion can be replayed only of a subject that reports weights.vector, weights.lexical and rrf_k", run.Suite, key)
		}
		v, err := strconv.ParseFloat(set.Value, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("%s: %s is %q; want a finite number of at least 0", run.Suite, key, set.Value)
		}
		return v, nil
	}
	var err error
	if s.Vector, err = number("weights.vector"); err != nil {
		return s, err
	}
	if s.Lexical, err = number("weights.lexical"); err != nil {
		return s, err
	}
	k, err := number("rrf_k")
	if err != nil {
		return s, err
	}
	if s.K = int(k); float64(s.K) != k || s.K < 1 {
		return s, fmt.Errorf("%s: rrf_k is %v; want a whole number of at least 1", run.Suite, k)
	}
	// In the order in which they join the fusion: floating point addition
	// depends on it.
	for _, name := range record.Channels() {
		if set, ok := run.Config["channels."+name]; !ok || set.Value != "true" {
			continue
		}
		w, err := number("channels." + name + ".weight")
		if err != nil {
			return s, err
		}
		s.Channels = append(s.Channels, ChannelSetting{name, w})
	}
	return s, nil
}

// lists are what a fusion of one row was made of.
type lists struct {
	vector, lexical []record.Entry
	channels        [][]record.Entry // one for each of Settings.Channels
	fused           []record.Entry   // as recorded
}

// listsOf takes the lists of a row. An arm that failed in this row handed
// nothing on, and the fusion went on without it.
func listsOf(r record.Row, s Settings) (lists, error) {
	var l lists
	for _, want := range []struct {
		name   string
		weight float64
		to     *[]record.Entry
		must   bool
	}{
		{vectorStage, s.Vector, &l.vector, false},
		{lexicalStage, s.Lexical, &l.lexical, false},
		{fusionStage, 1, &l.fused, true},
	} {
		st, ok := r.Stage(want.name)
		switch {
		case !ok || want.must && st.State != record.Executed:
			return l, fmt.Errorf("case %s: no stage %s in the row; a replay needs the arms and the fusion", r.Case, want.name)
		case want.weight == 0:
			return l, fmt.Errorf("case %s: the weight of %s is 0, so the arm did not run; record a run with both weights above 0", r.Case, want.name)
		case st.State == record.Executed:
			*want.to = st.Entries
		}
		if held := min(st.Total, st.CutAt); !want.must && st.State == record.Executed && len(st.Entries) < held {
			return l, fmt.Errorf("case %s: stage %s holds %d of %d entries; a replay needs all", r.Case, want.name, len(st.Entries), held)
		}
	}
	for _, c := range s.Channels {
		i := slices.IndexFunc(r.Channels, func(ch record.Channel) bool { return ch.Name == c.Name })
		if i < 0 {
			return l, fmt.Errorf("case %s: channel %s is on and the row does not speak of it", r.Case, c.Name)
		}
		ch := r.Channels[i]
		if ch.Fired && len(ch.Hits) < max(1, ch.Found) {
			return l, fmt.Errorf("case %s: channel %s is on, joins the fusion, and its hits are not recorded (%d of %d); run again with this version, or with the channel off",
				r.Case, c.Name, len(ch.Hits), max(1, ch.Found))
		}
		l.channels = append(l.channels, ch.Hits)
	}
	return l, nil
}

// id is what a fusion goes by: the passage, or the document where a subject
// ranks documents.
func id(e record.Entry) string {
	if e.Chunk != "" {
		return e.Chunk
	}
	return e.Doc
}

// hit is a passage on its way through a replay.
type hit struct {
	entry           record.Entry
	vector, lexical int // ranks from 1, 0: not in the list
	score           float64
}

// replay fuses the lists of a row with other weights. The arithmetic is the
// engine's, operation by operation: the arms' shares first, then each channel's
// in order; ties go by the lexical rank, then by id. A list of weight 0 is left
// out, so that what only it has is not in the result.
func replay(l lists, s Settings) []record.Entry {
	hits := make([]hit, 0, len(l.vector)+len(l.lexical))
	at := make(map[string]int, len(l.vector)+len(l.lexical))
	get := func(e record.Entry) *hit {
		i, ok := at[id(e)]
		if !ok {
			i = len(hits)
			at[id(e)] = i
			hits = append(hits, hit{entry: e})
		}
		return &hits[i]
	}
	if s.Vector > 0 {
		for i, e := range l.vector {
			get(e).vector = i + 1
		}
	}
	if s.Lexical > 0 {
		for i, e := range l.lexical {
			get(e).lexical = i + 1
		}
	}
	for i := range hits {
		hits[i].score = share(s.Vector, s.K, hits[i].vector) + share(s.Lexical, s.K, hits[i].lexical)
	}
	for _, es := range l.channels {
		for _, e := range es {
			get(e)
		}
	}
	for c, es := range l.channels {
		for i, e := range es {
			get(e).score += share(s.Channels[c].Weight, s.K, i+1)
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(last(a.lexical), last(b.lexical)), strings.Compare(id(a.entry), id(b.entry)))
	})
	out := make([]record.Entry, len(hits))
	for i, h := range hits {
		out[i] = h.entry
		out[i].Score = h.score
	}
	return out
}

func share(weight float64, k, rank int) float64 {
	if rank == 0 {
		return 0
	}
	return float64(weight / float64(k+rank))
}

// last puts a passage without a rank behind all that have one.
func last(rank int) int {
	if rank == 0 {
		return math.MaxInt
	}
	return rank
}
