package pack_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

const handbookDir = "../../fixtures/handbook"

// byID are the documents of a pack.
func byID(p *pack.Pack) map[string]pack.Document {
	out := map[string]pack.Document{}
	for _, d := range p.Documents {
		out[d.ID] = d
	}
	return out
}

// folded makes case and white space, no-break spaces among it, equal.
func folded(text string) string {
	return cases.Fold().String(strings.Join(strings.Fields(text), " "))
}

// holds reports whether text contains form, and not as a part of a longer word
// or number.
func holds(text, form string) bool {
	text, form = folded(text), folded(form)
	first, _ := utf8.DecodeRuneInString(form)
	last, _ := utf8.DecodeLastRuneInString(form)
	for from := 0; ; {
		i := strings.Index(text[from:], form)
		if i < 0 || form == "" {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(form):])
		if !(joins(before) && joins(first)) && !(joins(after) && joins(last)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

// joins reports whether a rune continues a word; Japanese has no gaps to go by.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// asserted is what must all be in an answer, and what must not.
func asserted(g pack.Gold) (all, banned []string) {
	if a := g.Assertions; a != nil {
		return a.MustContainAll, a.MustNotContain
	}
	return nil, nil
}

// goldDefects says where the gold of a case does not follow from the text.
func goldDefects(k pack.Case, documents map[string]pack.Document) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, k.Question.ID+": "+fmt.Sprintf(format, args...))
	}
	g := k.Gold
	all, banned := asserted(g)
	if !g.Answerable {
		if len(g.Expected)+len(all)+len(banned)+len(g.Evidence) > 0 {
			say("unanswerable, but has an answer")
		}
		if len(g.Grades) == 0 {
			say("unanswerable, and no document was judged: name the ones that come near")
		}
		return out
	}
	if len(g.Expected)+len(all) == 0 {
		say("no expected answer")
	}
	var words []string
	quoted := map[string]bool{}
	for _, e := range g.Evidence {
		quoted[e.Document] = true
		words = append(words, e.Text)
		if !strings.Contains(documents[e.Document].Text, e.Text) {
			say("evidence is not in %s: %q", e.Document, e.Text)
		}
		if g.Grades[e.Document] < 1 {
			say("evidence is quoted from %s, which is not relevant", e.Document)
		}
	}
	evidence := strings.Join(words, "\n")
	for _, id := range slices.Sorted(maps.Keys(g.Grades)) {
		if grade := g.Grades[id]; grade < 0 || grade > 3 {
			say("grade %d of %s, want 0 to 3", grade, id)
		} else if grade == 3 && !quoted[id] {
			say("%s has grade 3 and no evidence is quoted from it", id)
		}
	}
	if len(g.Expected) > 0 && !slices.ContainsFunc(g.Expected, func(f string) bool { return holds(evidence, f) }) {
		say("no accepted form is in the evidence: %q", g.Expected)
	}
	for _, a := range all {
		if !holds(evidence, a) {
			say("asserted, but not in the evidence: %q", a)
		}
	}
	for _, form := range slices.Concat(g.Expected, all) {
		if holds(k.Question.Text, form) {
			say("the question gives its answer away: %q", form)
		}
	}
	for _, b := range banned {
		if holds(evidence, b) {
			say("banned, but in the evidence: %q", b)
		}
	}
	return append(out, outOfForce(k, documents)...)
}

// outOfForce says which relevant editions were not in force on the day that
// the question is asked for.
func outOfForce(k pack.Case, documents map[string]pack.Document) []string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(k.Gold.Grades)) {
		from, until := documents[id].Meta["valid_from"], documents[id].Meta["valid_until"]
		day := k.Question.AsOf
		if day == "" || k.Gold.Grades[id] < 3 {
			continue
		}
		if from == "" || day < from || until != "" && day > until {
			out = append(out, fmt.Sprintf("%s: %s was in force from %q until %q, not on %s", k.Question.ID, id, from, until, day))
		}
	}
	return out
}

func TestHandbookGoldFollowsFromTheText(t *testing.T) {
	p := load(t, handbookDir)
	documents := byID(p)
	asked := map[string]string{}
	for _, k := range p.Cases {
		for _, defect := range goldDefects(k, documents) {
			t.Error(defect)
		}
		text := folded(k.Question.Text)
		if first, twice := asked[text]; twice {
			t.Errorf("%s asks what %s asks", k.Question.ID, first)
		}
		asked[text] = k.Question.ID
	}
}

func TestHandbookLint(t *testing.T) {
	found, err := pack.Lint(load(t, handbookDir))
	require.NoError(t, err)
	require.Empty(t, found)
}

// The check of the gold must be able to fail.
func TestGoldDefects(t *testing.T) {
	documents := map[string]pack.Document{
		"new": {ID: "new", Text: "The fee is EUR 12.50 a day.", Meta: map[string]string{"valid_from": "2024-01-01"}},
		"old": {ID: "old", Text: "The fee is EUR 11.00 a day.", Meta: map[string]string{"valid_from": "2023-01-01", "valid_until": "2023-12-31"}},
	}
	good := func() pack.Case {
		return pack.Case{
			Question: pack.Question{ID: "q", Text: "What is to be paid daily?"},
			Gold: pack.Gold{
				Answerable: true, Grades: map[string]int{"new": 3, "old": 0}, Expected: []string{"12.50"},
				Evidence:   []pack.Evidence{{Document: "new", Text: "The fee is EUR 12.50 a day."}},
				Assertions: &pack.Assertions{MustContainAll: []string{"EUR"}, MustNotContain: []string{"11.00"}},
			},
		}
	}
	require.Empty(t, goldDefects(good(), documents))
	tests := []struct {
		name  string
		spoil func(k *pack.Case)
		want  string
	}{
		{"evidence in other words", func(k *pack.Case) { k.Gold.Evidence[0].Text = "The fee is EUR 12.50." }, "evidence is not in new"},
		{"evidence from an irrelevant document", func(k *pack.Case) { k.Gold.Grades["new"] = 0 }, "not relevant"},
		{"a grade that does not exist", func(k *pack.Case) { k.Gold.Grades["old"] = 4 }, "want 0 to 3"},
		{"gold without evidence", func(k *pack.Case) { k.Gold.Grades["old"] = 3 }, "no evidence is quoted"},
		{"no answer", func(k *pack.Case) { k.Gold.Expected, k.Gold.Assertions = nil, nil }, "no expected answer"},
		{"an answer inside another number", func(k *pack.Case) { k.Gold.Expected = []string{"2.50"} }, "no accepted form"},
		{"an assertion without support", func(k *pack.Case) { k.Gold.Assertions.MustContainAll = []string{"week"} }, "asserted, but not"},
		{"an answer in the question", func(k *pack.Case) { k.Question.Text = "Is it 12.50 daily?" }, "gives its answer away"},
		{"a ban on what is right", func(k *pack.Case) { k.Gold.Assertions.MustNotContain = []string{"12.50"} }, "banned, but in"},
		{"an edition out of force", func(k *pack.Case) { k.Question.AsOf = "2023-05-01" }, "was in force from"},
		{"unanswerable with an answer", func(k *pack.Case) { k.Gold.Answerable = false }, "has an answer"},
		{"unanswerable and unjudged", func(k *pack.Case) { k.Gold = pack.Gold{} }, "no document was judged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := good()
			tt.spoil(&k)
			require.Contains(t, strings.Join(goldDefects(k, documents), "\n"), tt.want)
		})
	}
}

// What README.md says of the pack as a whole.
func TestHandbookCovers(t *testing.T) {
	p := load(t, handbookDir)
	documents := byID(p)
	words, long := 0, 0
	var text strings.Builder
	for _, d := range p.Documents {
		text.WriteString(d.Text)
		n := len(strings.Fields(d.Text))
		words += n
		if n >= 1500 {
			long++
		}
		require.NotEmpty(t, d.Date, d.ID)
		require.True(t, norm.NFC.IsNormalString(d.Title+d.Text), "%s is not in NFC", d.ID)
	}
	require.GreaterOrEqual(t, len(p.Documents), 80)
	require.GreaterOrEqual(t, words, 40_000)
	require.GreaterOrEqual(t, long, 4, "documents of 1,500 words")
	for _, written := range []string{
		"2,340", "14.628,50", "90\u202f700", "2\u00a0000", "1 340", "EUR 6.40", "10,50\u00a0€", "3.5e-12",
		"2025-04-01", "3 March 2025", "28/11/24", "twelve", "松本", "é", "ß", "😬",
	} {
		require.True(t, strings.Contains(text.String(), written), "%q stands nowhere", written)
	}

	strata, tags := map[string]int{}, map[string]int{}
	unanswerable := 0
	for _, k := range p.Cases {
		strata[k.Stratum]++
		for _, tag := range k.Tags {
			tags[tag]++
		}
		if !k.Gold.Answerable {
			unanswerable++
		}
		if needed := 0; k.Stratum == "multi_document" {
			for _, grade := range k.Gold.Grades {
				if grade == 3 {
					needed++
				}
			}
			require.GreaterOrEqual(t, needed, 2, "%s is a question over several documents", k.Question.ID)
		}
		if place := position(k, documents); place != "" {
			require.Contains(t, k.Tags, place, "%s: where its answer stands", k.Question.ID)
		}
	}
	for _, stratum := range p.Manifest.Strata {
		require.GreaterOrEqual(t, strata[stratum], 8, stratum)
	}
	for _, tag := range []string{"start", "middle", "end", "two_hop", "multi_section", "near_duplicate", "superseded", "as_of", "notation", "unicode", "ocr", "paraphrase"} {
		require.GreaterOrEqual(t, tags[tag], 5, tag)
	}
	require.GreaterOrEqual(t, len(p.Cases), 120)
	require.InDelta(t, 0.15, float64(unanswerable)/float64(len(p.Cases)), 0.03)
}

// position is the third of a long document in which all of an answer stands,
// if one document alone has grade 3.
func position(k pack.Case, documents map[string]pack.Document) string {
	var only string
	for id, grade := range k.Gold.Grades {
		if grade == 3 && only != "" {
			return ""
		} else if grade == 3 {
			only = id
		}
	}
	text := documents[only].Text
	if only == "" || len(strings.Fields(text)) < 600 {
		return ""
	}
	place := ""
	for _, e := range k.Gold.Evidence {
		if e.Document != only {
			continue
		}
		at := utf8.RuneCountInString(text[:strings.Index(text, e.Text)])
		third := []string{"start", "middle", "end"}[3*at/utf8.RuneCountInString(text)]
		if place != "" && place != third {
			return "spread"
		}
		place = third
	}
	return place
}

// Near duplicates are there on purpose; one that came in by mistake would
// make a relevant document look wrong.
func TestHandbookNearDuplicates(t *testing.T) {
	p := load(t, handbookDir)
	sets := make([]map[string]bool, len(p.Documents))
	for i, d := range p.Documents {
		sets[i] = shingles(d.Text)
	}
	var got []string
	for i, a := range p.Documents {
		for j := i + 1; j < len(sets); j++ {
			if overlap(sets[i], sets[j]) >= 0.15 {
				got = append(got, a.ID+" "+p.Documents[j].ID)
			}
		}
	}
	require.Equal(t, []string{
		"travel-policy-2023 travel-policy-2024",
		"travel-policy-2023 travel-policy-2025",
		"travel-policy-2024 travel-policy-2025",
		"infosec-policy-2024 infosec-policy-2025",
		"oncall-handbook oncall-handbook-2024",
		"remote-work-2023 remote-work-2025",
		"spec-corvus-3 spec-corvus-3s",
		"spec-tarn spec-tarn-t4",
		"price-list-2024 price-list-2025",
		"price-list-2024 price-list-2023",
		"price-list-2025 price-list-2023",
		"sds-lumiclean-7 sds-lumiclean-7-v4",
		"floorplan-goettingen-a1-ocr floorplan-goettingen-a0-ocr",
		"nameplate-corvus-3-ocr nameplate-corvus-3s-ocr",
	}, got)
}

// shingles are the runs of three words of a text.
func shingles(text string) map[string]bool {
	words, out := strings.Fields(folded(text)), map[string]bool{}
	for i := 0; i+3 <= len(words); i++ {
		out[strings.Join(words[i:i+3], " ")] = true
	}
	return out
}

// overlap is the share of common members (Jaccard).
func overlap(a, b map[string]bool) float64 {
	common := 0
	for s := range a {
		if b[s] {
			common++
		}
	}
	return float64(common) / float64(max(1, len(a)+len(b)-common))
}
