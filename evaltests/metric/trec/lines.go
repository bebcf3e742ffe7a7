package trec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxLine bounds a line without its end. A real one has under a hundred bytes.
const maxLine = 1 << 20

var byteOrderMark = []byte("\xef\xbb\xbf")

// eachLine calls f for every line with content. Errors of f, and of reading,
// get the file's name and the line number in front.
func eachLine(name string, r io.Reader, f func(line []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	tooLong := func(n int, line []byte) error {
		return fmt.Errorf("%s:%d: line longer than %d bytes, want a few short fields: %s", name, n, maxLine, quote(line))
	}
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		long = long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > maxLine+len(byteOrderMark) {
				return tooLong(n, long)
			}
			line, err = in.ReadSlice('\n')
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if len(bytes.TrimSuffix(line, []byte("\n"))) > maxLine {
			return tooLong(n, line)
		}
		if !skipped(line) {
			if err := f(line); err != nil {
				return fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// open opens a file, unpacking it if it begins as gzip does. The second result
// closes it.
func open(path string) (io.Reader, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, ofFile(path, err)
	}
	var magic [2]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		f.Close()
		return nil, nil, ofFile(path, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: not a plain file, and a file with a fault is read twice: save it first", path)
	}
	if n < 2 || magic != [2]byte{0x1f, 0x8b} {
		return f, f.Close, nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return z, f.Close, nil
}

// ofFile puts the path first, where package os puts the operation.
func ofFile(path string, err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// load opens a file, reads it, and closes it.
func load[T any](path string, read func(name string, r io.Reader) (T, error)) (T, error) {
	var none T
	r, done, err := open(path)
	if err != nil {
		return none, err
	}
	v, err := read(path, r)
	if cerr := done(); err == nil && cerr != nil {
		err = cerr
	}
	if err != nil {
		return none, err
	}
	return v, nil
}
