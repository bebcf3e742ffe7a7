//go:build ORT

package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/knights-analytics/hugot/backends"
	ort "github.com/yalue/onnxruntime_go"
)

// Default is the backend of this build.
const Default = ORT

// environment is ONNX Runtime's: one a process, and it stays.
var environment struct {
	once sync.Once
	err  error
}

func library() string {
	name := "libonnxruntime.so"
	if runtime.GOOS == "darwin" {
		name = "libonnxruntime.dylib"
	}
	if dir := os.Getenv("TOUCHSTONE_ORT"); dir != "" {
		return filepath.Join(dir, name)
	}
	return name // wherever the system's loader looks
}

// ortSession returns the options of a session whose runs take so many threads.
// Inputs that come together are run side by side on one thread each, which is
// faster than one after the other on many. The number decides no bit of a
// result: a sum is never divided between threads (TestThreadsDecideNoBit).
func ortSession(threads int) (any, error) {
	environment.once.Do(func() {
		if ort.IsInitialized() {
			return
		}
		ort.SetSharedLibraryPath(library())
		if environment.err = ort.InitializeEnvironment(); environment.err == nil {
			environment.err = ort.DisableTelemetry()
		}
	})
	if environment.err != nil {
		return nil, fmt.Errorf("load ONNX Runtime from %s: %w; run `make ort`, and set TOUCHSTONE_ORT to the folder it names", library(), environment.err)
	}
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	// Threads that spin after a run would take a core from what comes next.
	return o, errors.Join(o.SetIntraOpNumThreads(threads), o.SetInterOpNumThreads(1), o.AddSessionConfigEntry("session.force_spinning_stop", "1"))
}

func free(m *backends.Model, backend string) error {
	if backend == Go {
		m.GoMLXModel.Destroy()
		return nil
	}
	return errors.Join(m.ORTModel.Destroy(), m.ORTModel.SessionOptions.Destroy())
}
