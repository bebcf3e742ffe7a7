package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

const (
	mostMarkdown = 1 << 20 // the limit of CI systems
	mostText     = 1000    // characters of a reason
)

// Markdown writes a summary for CI: the verdict, then what is broken, then
// the tables.
func Markdown(w io.Writer, r Run) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", md(r.Verdict))
	for _, reason := range r.Reasons[:min(mostReasons, len(r.Reasons))] {
		fmt.Fprintf(&b, "- %s\n", md(clip(reason, mostText)))
	}
	for _, s := range r.Suites {
		if s.Verdict == gate.PASS {
			continue
		}
		for _, reason := range s.Reasons[:min(mostReasons, len(s.Reasons))] {
			fmt.Fprintf(&b, "- **%s** %s: %s\n", md(s.Suite), md(s.Verdict), md(clip(reason, mostText)))
		}
		if n := len(s.Reasons) - mostReasons; n > 0 {
			fmt.Fprintf(&b, "- **%s** and %d more reasons\n", md(s.Suite), n)
		}
	}
	b.WriteString("\n| suite | scored | headline | gates | drift | verdict |\n|---|---|---|---|---|---|\n")
	for _, s := range r.Suites {
		var hs []string
		for _, f := range s.Headline {
			hs = append(hs, figure(f))
		}
		fmt.Fprintf(&b, "| %s | %d of %d | %s | %s | %s | %s |\n", md(s.Suite), s.Outcomes[record.Scored], s.Planned,
			md(strings.Join(hs, "; ")), gates(s.Gates), drift(s.Gates), md(s.Verdict))
	}
	for _, s := range r.Suites {
		for _, text := range s.Breaks {
			fmt.Fprintf(&b, "\n**%s** %s\n", md(s.Suite), md(text))
		}
	}
	for _, s := range r.Suites {
		if len(s.Broken) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n<details><summary>%s: %d cases to look at</summary>\n\n| case | question | outcome | expected | got | lost |\n|---|---|---|---|---|---|\n",
			md(s.Suite), len(s.Broken))
		for i, c := range s.Broken {
			row := fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", md(c.Case), md(clip(c.Question, 200)), md(string(c.Outcome)+" "+clip(c.Reason, 200)),
				md(list(c.Expected)), md(list(c.Got)), md(strings.TrimPrefix(c.Broke+"; "+c.Lost, "; ")))
			if b.Len()+len(row) > mostMarkdown-1024 {
				fmt.Fprintf(&b, "\n%d more are in the record.\n", len(s.Broken)-i)
				break
			}
			b.WriteString(row)
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// md makes hostile text harmless in Markdown, inside a table or not: no markup,
// no HTML, no links and no mentions.
func md(s string) string { return markup.Replace(clean(s)) }

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "|", "&#124;", "`", "&#96;",
	"*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", `\`, "&#92;", "~", "&#126;", "!", "&#33;", "#", "&#35;", "@", "&#64;",
	"$", "&#36;", "://", "&#58;//", "www.", "www&#46;", "WWW.", "WWW&#46;")

// JSON writes the report as one document.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
