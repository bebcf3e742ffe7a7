package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Exit codes beside those of the verdicts.
const (
	exitOK      = 0
	exitRefused = 2
	exitUsage   = 64
)

// exit is an error that carries an exit code. A nil err prints nothing: the
// report has said it all.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// usage marks an error as bad usage.
func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// refused marks an error as could-not-measure or refused.
func refused(err error) error {
	if err == nil {
		return nil
	}
	var e *exit
	if errors.As(err, &e) {
		return err
	}
	return &exit{exitRefused, err}
}

func main() { os.Exit(run()) }

// run is main with its exit code, as script tests want it.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var e *exit
	if !errors.As(err, &e) {
		// What cobra itself refuses is a flag or an argument.
		e = &exit{exitUsage, err}
	}
	if e.err != nil {
		fmt.Fprintf(root.ErrOrStderr(), "touchstone: %v\n", e.err)
	}
	if e.code == exitUsage {
		fmt.Fprintln(root.ErrOrStderr(), "run `touchstone help` for the commands and their forms")
	}
	return e.code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "touchstone",
		Short: "Evaluate retrieval engines with Go tests, and gate on the result",
		Long: `Evaluate retrieval engines with Go tests, and gate on the result.

Exit codes: 0 PASS or done, 1 REGRESSED, 2 COULD-NOT-MEASURE or refused, 64 bad
usage. Bad usage is what was typed or set: arguments, flags, EVAL_ variables.
A file with a defect (a suite, a pack, an inventory, a record) is 2.`,
		Version:       record.ToolVersion,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.Help(); err != nil {
				return err
			}
			return usage("no command was given")
		},
	}
	root.AddCommand(mergeCommand(), cleanCommand(), planCommand(), doctorCommand())
	root.AddCommand(evalCommand(), verdictCommand(), runCommand(), reportCommand(), explainCommand(), packCommand(), goldenCommand(),
		measureCommand(), rboCommand(), statCommand(), modelsCommand(), engineCommand())
	root.AddCommand(compareCommand(), abCommand(), baselineCommand())
	root.AddCommand(stagesCommand(), sweepCommand(), probeCommand())
	root.AddCommand(seedCommand(), snapshotCommand(), progressCommand())
	return root
}

// group makes a command that only holds others: called alone, or with a name
// it does not have, it is bad usage rather than help and success.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("%s: no such command %q", cmd.CommandPath(), args[0])
			}
			return usage("%s: name one of its commands", cmd.CommandPath())
		},
	}
	c.AddCommand(children...)
	return c
}
