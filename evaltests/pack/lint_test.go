package pack_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

// clean is a pack with nothing to find.
var clean = map[string]string{
	"pack.toml": strings.Replace(manifest, "strata = [\"plain\", \"none\"]\n", "", 1),
	"corpus.jsonl": `{"_id":"rye","title":"Rye","text":"Rye bread keeps for nine days when it is wrapped in linen and kept in a dark place."}
{"_id":"oven","text":"The oven is heated with beech wood from four in the morning until noon on every working day."}
{"_id":"mill","text":"Ada sold the mill of Ottery in 1950 to her cousin."}
`,
	"queries.jsonl": `{"_id":"q1","text":"How long does rye bread keep?"}
{"_id":"q2","text":"Who sold what, and how is it heated?"}
{"_id":"q3","text":"What does cake cost?"}
`,
	"qrels.tsv": "q1\trye\t1\nq2\tmill\t1\nq2\toven\t1\n",
	"cases.jsonl": `{"id":"q1","expected":["nine days"],"patterns":["(?i)\\bnine\\s+days\\b"],"evidence":[{"doc":"rye","text":"keeps for nine days"}]}
{"id":"q2","stratum":"multi_document","expected":["beech wood"]}
{"id":"q3","answerable":false}
`,
}

func lintOf(t *testing.T, changes map[string]string) []pack.Finding {
	t.Helper()
	files := map[string]string{}
	for name, text := range clean {
		files[name] = text
	}
	for name, text := range changes {
		files[name] = text
	}
	found, err := pack.Lint(load(t, edited(t, "beir", files)))
	require.NoError(t, err)
	return found
}

func swap(file, old, new string) map[string]string {
	if !strings.Contains(clean[file], old) {
		panic(old)
	}
	return map[string]string{file: strings.Replace(clean[file], old, new, 1)}
}

// A written pack for each rule: what it finds, and nothing else.
func TestLintRules(t *testing.T) {
	require.Empty(t, lintOf(t, nil), "the pack as it should be")
	var tested []string
	for _, tc := range []struct {
		name    string
		changes map[string]string
		want    string
	}{
		{"a pattern inside other words", swap("cases.jsonl", `"(?i)\\bnine\\s+days\\b"`, `"(?i)nine"`),
			`cases.jsonl:1: loose-pattern q1: pattern "(?i)nine" matches inside other words ("nine" in "xninex"); bound it with \b`},
		{"a number inside other numbers", swap("cases.jsonl", `"(?i)\\bnine\\s+days\\b"`, `"[1]950"`),
			`cases.jsonl:1: loose-pattern q1: pattern "[1]950" matches inside other words ("1950" in "x1950x"); bound it with \b`},
		{"no gold", swap("cases.jsonl", `{"id":"q3","answerable":false}`, `{"id":"q3","unjudged":"nobody looked"}`),
			`cases.jsonl:3: unjudged q3: nobody looked`},
		{"an empty document", map[string]string{"corpus.jsonl": clean["corpus.jsonl"] + `{"_id":"x","text":" "}`},
			`corpus.jsonl:4: empty-document x: the document has neither title nor text`},
		{"an answer that its evidence lacks", swap("cases.jsonl", `["nine days"]`, `["ten days"]`),
			`cases.jsonl:1: expected-not-in-evidence q1: none of the accepted answers ["ten days"] is in its evidence`},
		{"an answer that its documents lack", swap("cases.jsonl", `["beech wood"]`, `["oak"]`),
			`cases.jsonl:2: expected-not-in-evidence q2: none of the accepted answers ["oak"] is in its relevant documents`},
		{"evidence in other words", swap("cases.jsonl", `keeps for nine days`, `stays for nine days`),
			`cases.jsonl:1: evidence-not-in-document q1: document rye does not hold its evidence "stays for nine days"`},
		{"a question asked twice", swap("queries.jsonl", "What does cake cost?", "how long  does Rye bread keep?"),
			`cases.jsonl:3: duplicate-question q3: case q1 asks the same: "how long  does Rye bread keep?"`},
		{"a near-duplicate of gold", map[string]string{"corpus.jsonl": clean["corpus.jsonl"] + `{"_id":"rye2","title":"rye","text":"Rye  bread keeps for nine days when it is wrapped in linen and kept in a DARK place."}`},
			`cases.jsonl:1: near-duplicate q1: document rye is relevant; rye2 says the same and is not`},
		{"the answer in the question", swap("queries.jsonl", "How long does rye bread keep?", "Does rye bread keep for nine days?"),
			`cases.jsonl:1: needle-in-question q1: the question holds the answer ["nine days"]`},
		{"the answer in a refusal", map[string]string{
			"corpus.jsonl": strings.Replace(clean["corpus.jsonl"], "sold the mill", "sold no information but the mill", 1),
			"cases.jsonl":  strings.Replace(clean["cases.jsonl"], `["beech wood"]`, `["information"]`, 1),
		}, `cases.jsonl:2: needle-in-refusal q2: the refusal "there is no information on this in the documents." holds the answer "information"`},
		{"a multi-document case with one document", swap("qrels.tsv", "q2\tmill\t1\n", ""),
			`cases.jsonl:2: single-gold q2: it is "multi_document", but has one relevant document`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found := lintOf(t, tc.changes)
			require.Len(t, found, 1, "%v", found)
			assert.Equal(t, tc.want, found[0].String())
			tested = append(tested, found[0].Rule)
		})
	}
	for _, r := range pack.LintRules() {
		if r.Name != "audited-error" { // its own test
			assert.Contains(t, tested, r.Name, "a rule without a written bad pack")
		}
	}
}

func TestLintReadsTheAuditInPlace(t *testing.T) {
	audit := func(id, question string) map[string]string {
		return map[string]string{"locomo-audit-errors.json": `[{"question_id":"` + id + `","question":"` + question + `","error_type":"WRONG_CITATION","correct_evidence":["D2:2"]}]`}
	}
	found, err := pack.Lint(load(t, edited(t, "locomo", audit("locomo_1_qa0", "What did Ada sell?"))))
	require.NoError(t, err)
	i := slices.IndexFunc(found, func(f pack.Finding) bool { return f.Rule == "audited-error" })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, "locomo-audit-errors.json:1: audited-error talk-2/q0: WRONG_CITATION; right evidence: [D2:2]", found[i].String())
	for id, want := range map[string]string{
		"locomo_1_qa9": "there is no case talk-2/q9", "locomo_2_qa0": "the data has 2 conversations", "one": "want locomo_N_qaN",
		"locomo_0_qa0": `asks "What does Ines bake?", the audit read "What did Ada sell?"`,
	} {
		_, err := pack.Lint(load(t, edited(t, "locomo", audit(id, "What did Ada sell?"))))
		require.ErrorContains(t, err, want)
	}
}

// A gold id that is not in the corpus, and a question without gold that is not
// marked, do not load at all: TestLoadRefuses.

// The defects that the READMEs of the raw packs state are found.
func TestLintFindsTheKnownDefects(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"clapnq-dev":            {"expected-not-in-evidence": 6, "near-duplicate": 5, "needle-in-refusal": 1},
		"cranfield":             {"empty-document": 2, "undocumented-relevance": 225},
		"hotpotqa-100":          {"few-paragraphs": 1, "needle-in-question": 6},
		"multihoprag-500-facts": {"expected-not-in-evidence": 36, "needle-in-question": 18},
		"qasper-tiny":           {"left-out": 3},
		"scifact":               {},
		"squad2-sample500":      {"needle-in-refusal": 2},
		"locomo10": {
			"adversarial-with-answer": 2, "audited-error": 156, "date-without-session": 16, "duplicate-question": 12, "expected-not-in-evidence": 934,
			"malformed-evidence": 5, "needle-in-question": 8, "no-evidence": 4, "single-gold": 5, "unmappable-evidence": 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := pack.Load(filepath.Join("../../fixtures", name), pack.Options{Packs: os.Getenv("EVAL_PACKS")})
			var absent *pack.NotHereError
			if errors.As(err, &absent) {
				t.Skip(err)
			}
			require.NoError(t, err)
			found, err := pack.Lint(p)
			require.NoError(t, err)
			assert.Equal(t, want, pack.Count(found))
			if name == "cranfield" {
				var empty []string
				for _, f := range found {
					if f.Rule == "empty-document" {
						empty = append(empty, f.Document)
					}
				}
				assert.Equal(t, []string{"471", "995"}, empty)
			}
		})
	}
}
