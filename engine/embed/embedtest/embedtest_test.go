package embedtest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
)

func TestVectorsAreUnitOrZero(t *testing.T) {
	e := embedtest.New(32)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		got, err := e.Embed(context.Background(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range got[0].Values {
			sum += float64(v) * float64(v)
		}
		if len(got[0].Values) != 32 || (sum != 0 && math.Abs(sum-1) > 1e-6) {
			t.Fatalf("%q: %d values of squared length %v, want 32 of 0 or 1", text, len(got[0].Values), sum)
		}
	})
}

func TestSharedWordsAreNearer(t *testing.T) {
	e := embedtest.New(64)
	got, err := e.Embed(context.Background(), []string{"the red fox jumps", "a red fox sleeps", "stock prices fell"})
	if err != nil {
		t.Fatal(err)
	}
	dot := func(a, b []float32) (s float64) {
		for i := range a {
			s += float64(a[i]) * float64(b[i])
		}
		return s
	}
	near, far := dot(got[0].Values, got[1].Values), dot(got[0].Values, got[2].Values)
	if near <= far {
		t.Errorf("shared words: cosine %v, want above %v (none shared)", near, far)
	}
}

func TestNeighboursDoNotMatter(t *testing.T) {
	e := embedtest.New(16)
	texts := []string{"alpha beta", "", "beta alpha", "\x00\xff", strings.Repeat("gamma ", 1000)}
	all, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		one, err := e.Embed(context.Background(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one[0].Values, all[i].Values) {
			t.Errorf("text %d: vector differs alone and in a batch", i)
		}
	}
	if !slices.Equal(all[0].Values, all[2].Values) {
		t.Error("word order changed the vector of a bag of words")
	}
}

func TestEmptyClosedCancelled(t *testing.T) {
	e := embedtest.New(8)
	if got, err := e.Embed(context.Background(), nil); err != nil || len(got) != 0 {
		t.Errorf("no texts: %v, %v, want none", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want %v", err, context.Canceled)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(context.Background(), []string{"x"}); !errors.Is(err, embedtest.ErrClosed) {
		t.Errorf("closed: %v, want %v", err, embedtest.ErrClosed)
	}
}

func TestConcurrentUse(t *testing.T) {
	e := embedtest.New(8)
	want, err := e.Embed(context.Background(), []string{"one two"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := e.Embed(context.Background(), []string{"one two"})
			if err != nil || !slices.Equal(got[0].Values, want[0].Values) {
				t.Errorf("concurrent: %v, %v, want %v", got, err, want)
			}
		})
	}
	wg.Wait()
}

func TestDimensionBelowOnePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New(0) did not panic")
		}
	}()
	embedtest.New(0)
}
