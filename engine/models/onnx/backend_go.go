//go:build !ORT

package onnx

import (
	"errors"

	"github.com/knights-analytics/hugot/backends"
)

// Default is the backend of this build.
const Default = Go

func ortSession(int) (any, error) {
	return nil, errors.New("this build has no ONNX Runtime; `make ort` prints how to make one that has, with the tag ORT")
}

func free(m *backends.Model, _ string) error {
	m.GoMLXModel.Destroy()
	return nil
}
