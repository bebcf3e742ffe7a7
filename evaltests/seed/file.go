package seed

import (
	"errors"
	"io/fs"
	"os"
)

// readFile reads a file; one that is absent is nil and no error.
func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}
