package onnx

import (
	gomlx "github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/knights-analytics/hugot/backends"
)

// inSequence makes the pure-Go backend run one operation of a graph after
// another, each over all cores.
//
// Left as hugot sets it up, it runs operations side by side in a pool of two
// workers a core, and every matrix product waits for a worker of the same pool:
// where as many products are ready at once as there are workers, all of them
// wait for each other for ever (gomlx v0.26.0). A cross-encoder did that here
// on two cores; the three projections of any attention do it on one.
func inSequence(m *backends.GoMLXModel) error {
	backend, err := gomlx.NewWithConfig("go:ops_sequential")
	if err != nil {
		return err
	}
	exec, err := context.NewExec(backend, m.Ctx, m.Call)
	if err != nil {
		return err
	}
	exec.SetMaxCache(m.MaxCache)
	destroy := m.Destroy
	m.Backend, m.Exec = backend, exec
	m.Destroy = func() {
		exec.Finalize()
		destroy() // of the first executor and backend, and the weights
		backend.Finalize()
	}
	return nil
}
