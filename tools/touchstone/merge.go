package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests"
	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

func mergeCommand() *cobra.Command {
	var out, inventoryPath string
	var asJSON bool
	c := &cobra.Command{
		Use:   "merge RUN ... --out DIR",
		Short: "Join the shards of a run and give the verdict",
		Long: `Join the shards of a run and give the verdict.

Each RUN is the run folder of one shard (EVAL_SHARD=i/n touchstone eval), which
evaluates no gate. DIR becomes the run folder of the whole. A shard that is
missing or given twice, a record that is not whole, and shards that differ in
anything but their cases are refused by name (exit code 2).`,
		Example: "  EVAL_SHARD=1/2 EVAL_OUT=a touchstone eval; EVAL_SHARD=2/2 EVAL_OUT=b touchstone eval\n  touchstone merge a/* b/* --out merged",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage("merge: --out is missing; name the folder to make")
			}
			inv, _, err := inventory(inventoryPath)
			if err != nil {
				return err
			}
			if inv == nil {
				return usage("merge: no %s in this module; without it a run that ran nothing would look whole: name one with --inventory", gate.InventoryFile)
			}
			env, err := evaltests.ParseEnv(os.Environ())
			if err != nil {
				return &exit{exitUsage, err}
			}
			folder, _, err := evaltests.Merge(args, out, record.Tree("."), env)
			if err != nil {
				return refused(err)
			}
			j, err := judge(folder.Dir, inv, "")
			if err != nil {
				return err
			}
			j.goldens("")
			return j.show(cmd, asJSON, false)
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder to make: the run folder of the whole")
	c.Flags().StringVar(&inventoryPath, "inventory", "", "inventory file (default: "+gate.InventoryFile+" of the module)")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}
