package trec

import (
	"fmt"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
)

// Column is one measure of a result.
type Column struct {
	Name    string         // trec_eval's name, or that of package metric
	Measure metric.Measure // zero for relstring and runid, which are text
	// Which of the two the measure has: gm_map exists only in the summary,
	// relstring only for a question.
	Questions, Summary bool
}

var (
	usualCuts   = []string{"5", "10", "15", "20", "30", "100", "200", "500", "1000"}
	recallCuts  = []string{"0.00", "0.10", "0.20", "0.30", "0.40", "0.50", "0.60", "0.70", "0.80", "0.90", "1.00"}
	successCuts = []string{"1", "5", "10"}
	unjCuts     = []string{"5", "10", "20"}
)

// trecName is one of trec_eval's measures and its name here.
type trecName struct {
	name, measure string
	cuts          []string
	official      bool // part of what trec_eval prints unless asked
	summaryOnly   bool
	since10       bool
}

// trecNames in the order in which trec_eval prints.
var trecNames = []trecName{
	{name: "runid", official: true, summaryOnly: true},
	{name: "num_q", measure: "NumQ", official: true, summaryOnly: true},
	{name: "num_ret", measure: "NumRet", official: true},
	{name: "num_rel", measure: "NumRel", official: true},
	{name: "num_rel_ret", measure: "NumRelRet", official: true},
	{name: "map", measure: "AP", official: true},
	{name: "gm_map", measure: "GMAP", official: true, summaryOnly: true},
	{name: "Rprec", measure: "Rprec", official: true},
	{name: "bpref", measure: "Bpref", official: true},
	{name: "recip_rank", measure: "RR", official: true},
	{name: "iprec_at_recall", measure: "IPrec", cuts: recallCuts, official: true},
	{name: "P", measure: "P", cuts: usualCuts, official: true},
	{name: "relstring"},
	{name: "recall", measure: "R", cuts: usualCuts},
	{name: "infAP", measure: "infAP"},
	{name: "gm_bpref", measure: "GMBpref", summaryOnly: true},
	{name: "utility", measure: "Utility"},
	{name: "11pt_avg", measure: "IPrecAvg"},
	{name: "binG", measure: "BinG"},
	{name: "ndcg", measure: "nDCG"},
	{name: "ndcg_cut", measure: "nDCG", cuts: usualCuts},
	{name: "map_cut", measure: "AP", cuts: usualCuts},
	{name: "success", measure: "Success", cuts: successCuts},
	{name: "set_P", measure: "SetP"},
	{name: "set_recall", measure: "SetR"},
	{name: "set_map", measure: "SetAP"},
	{name: "set_F", measure: "SetF"},
	{name: "num_nonrel_judged_ret", measure: "NumNonrelJudgedRet"},
	{name: "unj", measure: "Unj", cuts: unjCuts, since10: true},
}

// columns expands the options into what is measured, in output order.
func (o *Options) columns() ([]Column, error) {
	var cols []Column
	add := func(name string, m metric.Measure, questions, summary bool) error {
		for _, c := range cols {
			if c.Name == name {
				return fmt.Errorf("measure %s: given twice", name)
			}
		}
		cols = append(cols, Column{name, m, questions, summary})
		return nil
	}
	if o.All || o.Official {
		for _, t := range trecNames {
			if !t.official && !o.All || t.since10 && o.Order == Trec9 {
				continue
			}
			if err := o.expand(t, add); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range o.Measures {
		given := m.String()
		m, err := o.adapt(m)
		if err != nil {
			return nil, err
		}
		if o.Gains != "" && takesGains(m) {
			if m, err = m.WithGains(o.Gains); err != nil {
				return nil, err
			}
			given = m.String()
		}
		if err := add(given, m, true, true); err != nil {
			return nil, err
		}
	}
	if len(cols) == 0 {
		return nil, fmt.Errorf("no measures: name at least one, or ask for all of trec_eval's")
	}
	return cols, nil
}

func (o *Options) expand(t trecName, add func(string, metric.Measure, bool, bool) error) error {
	if t.measure == "" {
		return add(t.name, metric.Measure{}, !t.summaryOnly, t.summaryOnly)
	}
	cuts := t.cuts
	if cuts == nil {
		cuts = []string{""}
	}
	for _, cut := range cuts {
		name, measure := t.name, t.measure
		if cut != "" {
			name, measure = name+"_"+cut, measure+"@"+cut
		}
		m, err := metric.Parse(measure)
		if err != nil {
			return err
		}
		if m, err = o.adapt(m); err != nil {
			return err
		}
		// trec_eval gives custom gains to ndcg alone, and says so in its name.
		if t.name == "ndcg" && o.Gains != "" {
			if m, err = m.WithGains(o.Gains); err != nil {
				return err
			}
			name += "_" + strings.ReplaceAll(o.Gains, " ", "")
		}
		if err := add(name, m, !t.summaryOnly, true); err != nil {
			return err
		}
	}
	return nil
}

// adapt applies the relevance level.
func (o *Options) adapt(m metric.Measure) (metric.Measure, error) {
	if o.Level == 0 {
		return m, nil
	}
	return m.WithLevel(o.Level)
}

func takesGains(m metric.Measure) bool {
	_, err := m.WithGains("1=1")
	return err == nil
}
