package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// ErrClosed is the error of Embed after Close.
var ErrClosed = errors.New("embed: embedder is closed: open a new one")

// group is how many texts share one pass over the model. It bounds memory and
// how long a cancelled call goes on; it cannot change a vector.
const group = 64

// static is an embedder whose text vector is the mean of its tokens' rows.
type static struct {
	info   Info
	tokens func(context.Context, string) ([]int, error)
	table  *table
}

func (s *static) Info() Info { return s.info }

func (s *static) Close() error {
	s.table.close()
	return nil
}

func (s *static) Embed(ctx context.Context, texts []string) ([]Vector, error) {
	if s.table.closed() {
		return nil, ErrClosed
	}
	out := make([]Vector, 0, len(texts))
	for part := range slices.Chunk(texts, group) {
		vectors, err := s.embed(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("embed: stopped after %d of %d texts: %w", len(out), len(texts), err)
		}
		out = append(out, vectors...)
	}
	return out, nil
}

func (s *static) embed(ctx context.Context, texts []string) ([]Vector, error) {
	out := make([]Vector, len(texts))
	ids := make([][]int, len(texts))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range texts {
		workers.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			ids[i], out[i].Err = s.tokens(ctx, text)
			return ctx.Err()
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}

	// Texts of one group share most of their words: look each up once.
	distinct := slices.Concat(ids...)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	rows, err := s.table.rows(distinct)
	if err != nil {
		return nil, err
	}
	row := make(map[int][]float32, len(distinct))
	for i, id := range distinct {
		row[id] = rows[i]
	}
	for i := range out {
		if out[i].Err != nil {
			continue
		}
		out[i].Tokens = len(ids[i])
		out[i].Values = mean(ids[i], row, s.info.Dim)
	}
	return out, nil
}

// mean is the sum of the rows in text order, scaled to unit length. It adds in
// float64, and each product is rounded by itself, so that no platform can
// fuse a multiplication with an addition and get other bits.
func mean(ids []int, row map[int][]float32, dim int) []float32 {
	sum := make([]float64, dim)
	for _, id := range ids {
		for k, v := range row[id] {
			sum[k] += float64(v)
		}
	}
	squares := 0.0
	for _, v := range sum {
		squares += float64(v * v)
	}
	values := make([]float32, dim)
	if squares == 0 {
		return values
	}
	norm := math.Sqrt(squares)
	for k, v := range sum {
		values[k] = float32(v / norm)
	}
	return values
}
