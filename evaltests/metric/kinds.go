package metric

import (
	"errors"
	"math"
)

var errNoMeasure = errors.New("no measure: make one with metric.Parse")

// kind is a family of measures: a name, what it accepts, and how it computes.
type kind struct {
	name      string
	cut       cutUse
	params    string // blank-separated names of the parameters that it accepts
	raw       bool   // counts list entries, not documents (see Judged.Raw)
	bounded   bool
	better    bool
	linear    bool // a sum of what single ranks contribute (see OverTies)
	aggregate func([]float64) float64
	eval      func(*view, *compiled) float64
}

type cutUse int

const (
	noCut cutUse = iota
	mayCut
	mustCut
	recallCut // a recall level in [0, 1] instead of a rank
)

func (c cutUse) String() string {
	return [...]string{"no cut-off", "an optional cut-off (@10)", "a cut-off (@10)", "a recall level (@0.1)"}[c]
}

// kinds by canonical name; aliases are other spellings that Parse accepts.
var (
	kinds   = make(map[string]*kind)
	aliases = map[string]string{
		"MAP": "AP", "MRR": "RR", "NDCG": "nDCG", "Precision": "P", "Recall": "R", "RPrec": "Rprec", "BPref": "Bpref",
	}
)

func init() {
	for _, k := range []kind{
		{name: "P", cut: mustCut, params: "rel judged_only", raw: true, bounded: true, better: true, linear: true, eval: precision},
		{name: "R", cut: mustCut, params: "rel judged_only", bounded: true, better: true, linear: true, eval: recall},
		{name: "RCap", cut: mustCut, params: "rel judged_only", bounded: true, better: true, linear: true, eval: cappedRecall},
		{name: "F1", cut: mustCut, params: "rel judged_only", bounded: true, better: true, linear: true, eval: f1},
		{name: "Success", cut: mustCut, params: "rel judged_only", bounded: true, better: true, eval: success},
		{name: "RR", cut: mayCut, params: "rel judged_only", bounded: true, better: true, eval: reciprocalRank},
		{name: "AP", cut: mayCut, params: "rel judged_only", bounded: true, better: true, eval: averagePrecision},
		{name: "GMAP", cut: noCut, params: "rel judged_only", bounded: true, better: true, eval: averagePrecision, aggregate: geometricMean},
		{name: "nDCG", cut: mayCut, params: "dcg gains judged_only", bounded: true, better: true, linear: true, eval: ndcg},
		{name: "DCG", cut: mayCut, params: "dcg gains judged_only", better: true, linear: true, eval: dcg},
		{name: "iDCG", cut: mayCut, params: "dcg gains", linear: true, eval: idealDCG},
		{name: "Rprec", cut: noCut, params: "rel judged_only", bounded: true, better: true, linear: true, eval: rPrecision},
		{name: "Bpref", cut: noCut, params: "rel", bounded: true, better: true, eval: bpref},
		{name: "GMBpref", cut: noCut, params: "rel", bounded: true, better: true, eval: bpref, aggregate: geometricMean},
		{name: "IPrec", cut: recallCut, params: "rel judged_only", bounded: true, better: true, eval: interpolated},
		{name: "IPrecAvg", cut: noCut, params: "rel judged_only", bounded: true, better: true, eval: elevenPoint},
		{name: "infAP", cut: noCut, params: "rel", bounded: true, better: true, eval: infAP},
		{name: "ERR", cut: mayCut, params: "judged_only max", bounded: true, better: true, eval: expectedReciprocalRank},
		{name: "RBP", cut: mayCut, params: "p rel", bounded: true, better: true, linear: true, eval: rbp},
		{name: "RBPRes", cut: mayCut, params: "p rel", bounded: true, linear: true, eval: rbpResidual},
		{name: "Judged", cut: mustCut, raw: true, bounded: true, better: true, linear: true, eval: judgedShare},
		{name: "Unj", cut: mustCut, raw: true, bounded: true, linear: true, eval: unjudgedShare},
		{name: "BinG", cut: noCut, params: "rel judged_only", bounded: true, better: true, eval: binG},
		{name: "Utility", cut: noCut, params: "rel judged_only", better: true, linear: true, eval: utility},
		{name: "SetP", cut: noCut, params: "rel judged_only", raw: true, bounded: true, better: true, linear: true, eval: setPrecision},
		{name: "SetR", cut: noCut, params: "rel", bounded: true, better: true, linear: true, eval: setRecall},
		{name: "SetF", cut: noCut, params: "beta rel judged_only", bounded: true, better: true, linear: true, eval: setF},
		{name: "SetAP", cut: noCut, params: "rel judged_only", bounded: true, better: true, linear: true, eval: setAP},
		{name: "NumQ", cut: noCut, linear: true, eval: one, aggregate: sum},
		{name: "NumRet", cut: noCut, params: "judged_only", raw: true, linear: true, eval: retrieved, aggregate: sum},
		{name: "NumRel", cut: noCut, params: "rel", linear: true, eval: relevant, aggregate: sum},
		{name: "NumRelRet", cut: noCut, params: "rel", better: true, linear: true, eval: relevantRetrieved, aggregate: sum},
		{name: "NumNonrelJudgedRet", cut: noCut, params: "rel", linear: true, eval: nonrelevantJudgedRetrieved, aggregate: sum},
	} {
		if k.aggregate == nil {
			k.aggregate = mean
		}
		kinds[k.name] = &k
	}
}

// defaults is the measure of this kind with no parameters given.
func (k *kind) defaults() Measure {
	m := Measure{kind: k}
	if k.takes("rel") {
		m.rel = 1
	}
	if k.takes("p") {
		m.p = 0.8 // as ir_measures
	}
	if k.takes("beta") {
		m.beta = 1
	}
	if k.takes("max") {
		m.maxGrade = 4 // as gdeval
	}
	return m
}

func sum(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		s += v
	}
	return s
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }

// floor keeps one failed question from making a geometric mean 0; trec_eval's
// value.
const floor = 0.00001

func geometricMean(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		s += math.Log(max(v, floor))
	}
	return math.Exp(s / float64(len(values)))
}
