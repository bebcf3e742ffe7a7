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

// ortSession returns the options of a session: one thread, so that the order
// of additions, and with it the last bits, do not depend on the machine's
// cores. Inputs run side by side instead.
func ortSession() (any, error) {
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
	return o, errors.Join(o.SetIntraOpNumThreads(1), o.SetInterOpNumThreads(1))
}

func free(m *backends.Model, backend string) error {
	if backend == Go {
		m.GoMLXModel.Destroy()
		return nil
	}
	return errors.Join(m.ORTModel.Destroy(), m.ORTModel.SessionOptions.Destroy())
}
