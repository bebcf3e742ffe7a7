package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/golden"
)

func goldenLogCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "log SUITE",
		Short: "List the blessings of a suite and verify their chain",
		Long: `List the blessings of a suite and verify their chain: a path of digests must
lead from the anchor to the current golden, and the last line must vouch for
it. It ends with 2 when that is not so.`,
		Example: "  touchstone golden log godoc",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var o goldenOptions
			if err := o.check(cmd, args[0], false); err != nil {
				return err
			}
			dir, err := goldenDir(args[0])
			if err != nil {
				return refused(err)
			}
			chain, broken := golden.ReadChain(dir)
			out := cmd.OutOrStdout()
			if asJSON {
				doc := struct {
					golden.Chain
					Broken string `json:"broken,omitempty"`
				}{Chain: chain}
				if broken != nil {
					doc.Broken = broken.Error()
				}
				if err := writeJSON(out, doc); err != nil {
					return refused(err)
				}
				return refused(broken)
			}
			for _, e := range chain.Entries {
				fmt.Fprintf(out, "%s  %-6s  %12.12s -> %.12s  %s: %s\n", printable(e.When), kindOf(e), orNone(e.Before), printable(e.After), extent(e), printable(e.Reason))
				if e.Found != "" {
					fmt.Fprintf(out, "    it replaced a golden that no blessing made (%.12s)\n", printable(e.Found))
				}
				for _, m := range e.Merged {
					fmt.Fprintf(out, "    it follows %.12s of another branch as well\n", printable(m))
				}
				fmt.Fprintf(out, "    by %s, commit %.12s, record %.12s\n", orNone(e.By), orNone(e.Commit), printable(e.Vouched))
			}
			if broken != nil {
				return refused(broken)
			}
			fmt.Fprintf(out, "verified: %d blessings lead from the anchor %.12s to the current golden %.12s\n", len(chain.Path), chain.Anchor, chain.Current)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func kindOf(e golden.Entry) string {
	if e.Kind == "" {
		return "accept"
	}
	return e.Kind
}

// extent says which cases a blessing took.
func extent(e golden.Entry) string {
	switch len(e.Only) {
	case 0:
		return fmt.Sprintf("all %d cases", e.Cases)
	case 1:
		return fmt.Sprintf("case %s of %d", printable(e.Only[0]), e.Cases)
	}
	return fmt.Sprintf("%d of %d cases", len(e.Only), e.Cases)
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return printable(s)
}
