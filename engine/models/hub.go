package models

import (
	"context"
	"path"

	"github.com/knights-analytics/hugot"
)

// hugotDownload is the hub by hugot's own download. It takes no context, so a
// cancelled call is left behind: what it still writes is below to.
func hugotDownload(ctx context.Context, to, repo, revision string, paths []string) (string, error) {
	opts := hugot.NewDownloadOptions()
	opts.Branch = revision
	opts.MaxRetries = 2
	opts.RetryInterval = 1
	for _, p := range paths {
		if path.Ext(p) == ".onnx" {
			opts.OnnxFilePath = p
		}
	}
	type outcome struct {
		folder string
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		folder, err := hugot.DownloadModel(repo, to, opts)
		done <- outcome{folder, err}
	}()
	select {
	case o := <-done:
		return o.folder, o.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
