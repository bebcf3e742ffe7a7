package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var texts []string
	for d := json.NewDecoder(in); ; {
		var text string
		if err := d.Decode(&text); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("text %d: %w, want a JSON string", len(texts)+1, err)
		}
		texts = append(texts, text)
	}
	e, err := embed.Default()
	if err != nil {
		return err
	}
	defer e.Close()
	vectors, err := e.Embed(context.Background(), texts)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	for i, v := range vectors {
		if v.Err != nil {
			return fmt.Errorf("text %d: %w", i+1, v.Err)
		}
		if err := binary.Write(w, binary.LittleEndian, v.Values); err != nil {
			return err
		}
	}
	return w.Flush()
}
