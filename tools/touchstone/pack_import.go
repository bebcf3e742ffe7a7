package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/pack"
)

func packImportCommand() *cobra.Command {
	var format, from, to string
	var most int64
	c := &cobra.Command{
		Use:   "import NAME --format F --from DIR|URL [--to DIR]",
		Short: "Write a data set as a pack of its own: one form, pinned",
		Long: `Write a data set as a pack of its own: corpus.jsonl, queries.jsonl, qrels.tsv,
cases.jsonl, pack.toml and the lock, below --to/NAME (default EVAL_CACHE/packs).
An address may be http or https, of a file or of an archive (.zip, .tar,
.tar.gz, .tgz); its sha256 is printed and noted as the source.`,
		Example: "  touchstone pack import nfcorpus --format beir --from ./nfcorpus\n  touchstone pack import letters --format squad2 --from https://example.org/squad.zip",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if from == "" {
				return usage("pack import: --from is missing; give a folder or an address")
			}
			if to == "" {
				env, err := evaltests.ParseEnv(os.Environ())
				if err != nil {
					return &exit{exitUsage, err}
				}
				to = filepath.Join(env.Cache, "packs")
			}
			source, dir := "", from
			if strings.Contains(from, "://") {
				tmp, err := os.MkdirTemp("", "touchstone-import-*")
				if err != nil {
					return refused(err)
				}
				defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
				got, err := pack.Fetch(cmd.Context(), from, tmp, most)
				if err != nil {
					return refused(err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes, sha256 %s\n", got.URL, got.Bytes, got.SHA256) // without secrets
				source, dir = fmt.Sprintf("%s, sha256 %s", got.URL, got.SHA256), got.Dir
			} else if info, err := os.Stat(from); err != nil || !info.IsDir() {
				return usage("pack import: --from %s: no such folder", from)
			}
			p, err := pack.Load(dir, pack.Options{Packs: os.Getenv("EVAL_PACKS"), Format: format})
			if err != nil {
				return refused(err)
			}
			if source != "" {
				p.Manifest.Source = source
			}
			out := filepath.Join(to, args[0])
			lock, err := p.Export(out, args[0])
			if err != nil {
				return refused(err)
			}
			for _, rule := range pack.Rules(p.Defects) {
				fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: the source has %d defects %s\n", pack.Count(p.Defects)[rule], rule)
			}
			if len(p.Defects) > 0 && source == "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: touchstone pack lint %s --format %s shows them\n", from, p.Manifest.Format)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d documents, %d cases (%d answerable), content %.12s\n",
				shown(out), lock.Counts.Documents, lock.Counts.Cases, lock.Counts.Answerable, lock.Content)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&format, "format", "", fmt.Sprintf("format of the source, one of %v (default: told by its files)", pack.Formats()))
	f.StringVar(&from, "from", "", "folder, or http or https address")
	f.StringVar(&to, "to", "", "folder that will hold NAME/ (default EVAL_CACHE/packs)")
	f.Int64Var(&most, "max-bytes", 2<<30, "largest download, and largest sum of what it unpacks to")
	return c
}

func packGenerateCommand() *cobra.Command {
	var seed int64
	var to string
	c := &cobra.Command{
		Use:     "generate TEMPLATE --seed N --to DIR",
		Short:   "Make a synthetic folder of documents with its key",
		Long:    "Make a synthetic folder of documents with its key. The same template and seed make the same bytes.\nTemplates: " + strings.Join(pack.Templates(), ", ") + ".",
		Example: "  touchstone pack generate invoices --seed 7 --to /tmp/invoices",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return usage("pack generate: --to is missing; give a new folder")
			}
			if !cmd.Flags().Changed("seed") {
				return usage("pack generate: --seed is missing; it is what makes the folder again")
			}
			lock, err := pack.Generate(args[0], seed, to)
			if err != nil {
				return refused(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d documents, %d cases (%d answerable), content %.12s\n",
				shown(to), lock.Counts.Documents, lock.Counts.Cases, lock.Counts.Answerable, lock.Content)
			return nil
		},
	}
	c.Flags().Int64Var(&seed, "seed", 0, "which of the many folders")
	c.Flags().StringVar(&to, "to", "", "the new folder")
	return c
}
