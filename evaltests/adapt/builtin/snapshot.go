package builtin

import (
	"context"
	"errors"
	"os"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/evaltests/seed"
)

// Snapshot copies the engine's folder store, which others may write to, to a
// new folder dest, and marks the copy as ours. It holds the copy to nothing:
// [Live] does when it is opened.
func Snapshot(ctx context.Context, store, dest string) (engine.SnapshotReport, error) {
	report, err := engine.Snapshot(ctx, store, dest)
	if err != nil {
		return report, err
	}
	if err := seed.WriteMark(dest, seed.Mark{Made: "snapshot", Of: store}); err != nil {
		return report, errors.Join(err, os.RemoveAll(dest))
	}
	return report, nil
}
