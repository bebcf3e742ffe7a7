package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"
)

func TestRunWritesOneRowPerText(t *testing.T) {
	var out bytes.Buffer
	if err := run(strings.NewReader("\"a text\"\n\"two\\nlines\"\n\"\"\n"), &out); err != nil {
		t.Fatal(err)
	}
	values := make([]float32, out.Len()/4)
	if err := binary.Read(&out, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	if len(values) != 3*256 {
		t.Fatalf("%d values, want %d", len(values), 3*256)
	}
	for row, want := range []float64{1, 1, 0} {
		sum := 0.0
		for _, v := range values[row*256 : (row+1)*256] {
			sum += float64(v) * float64(v)
		}
		if math.Abs(sum-want) > 1e-6 {
			t.Errorf("row %d: squared length %v, want %v", row, sum, want)
		}
	}
}

func TestRunNamesTheBadLine(t *testing.T) {
	err := run(strings.NewReader("\"fine\"\n{}\n"), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "text 2") {
		t.Errorf("%v, want an error that names text 2", err)
	}
}
