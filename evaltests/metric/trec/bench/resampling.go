package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/stat"
)

// resampled is what both sides report of the resampling tests.
type resampled struct {
	Version          string
	BootstrapSeconds float64 `json:"bootstrap_seconds"`
	Lo, Hi, SE       float64
	FlipSeconds      float64 `json:"flip_seconds"`
	P                float64
}

// compareResampling times the bootstrap and the sign flip test, the work
// alone, and compares them with NumPy.
func (c config) compareResampling(ctx context.Context, t tools) error {
	d := c.differences()
	fmt.Fprintf(c.stdout, "\nresampling: %d pairs, %d resamples; the work alone, loading left out\n", c.pairs, c.resamples)
	ours, err := c.resample(d)
	if err != nil {
		return err
	}
	cores := runtime.GOMAXPROCS(1)
	again, err := c.resample(d)
	runtime.GOMAXPROCS(cores)
	if err != nil {
		return err
	}
	if again.Lo != ours.Lo || again.Hi != ours.Hi || again.SE != ours.SE || again.P != ours.P {
		return fmt.Errorf("resampling: one core and %d differ: %+v and %+v", cores, again, ours)
	}
	fmt.Fprintf(c.stdout, "  %-20s bootstrap %7.3f s, sign flip %7.3f s; one core gives the same bits in %.3f and %.3f s\n", "touchstone",
		ours.BootstrapSeconds, ours.FlipSeconds, again.BootstrapSeconds, again.FlipSeconds)
	if !t.has["numpy"] {
		fmt.Fprintln(c.stdout, " ", t.notRun("numpy"))
		return nil
	}
	theirs, err := c.numpy(ctx, t, d)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "  %-20s bootstrap %7.3f s, sign flip %7.3f s: %.1f and %.1f times the time\n", "numpy "+theirs.Version,
		theirs.BootstrapSeconds, theirs.FlipSeconds, theirs.BootstrapSeconds/ours.BootstrapSeconds, theirs.FlipSeconds/ours.FlipSeconds)
	if err := plausible(ours, theirs, c.resamples); err != nil {
		return fmt.Errorf("resampling: %w", err)
	}
	fmt.Fprintf(c.stdout, "  %-20s 95 %% interval [%.5f, %.5f] and [%.5f, %.5f], p %.4f and %.4f: apart by no more than the draw\n", "",
		ours.Lo, ours.Hi, theirs.Lo, theirs.Hi, ours.P, theirs.P)
	return nil
}

func (c config) resample(d []float64) (resampled, error) {
	var r resampled
	for i := range c.rounds {
		start := time.Now()
		b, err := stat.BootstrapMean(d, c.resamples, stat.NewStream(c.seed, "bench"))
		if err != nil {
			return r, err
		}
		took := time.Since(start).Seconds()
		if i == 0 || took < r.BootstrapSeconds {
			r.BootstrapSeconds = took
		}
		ci, err := b.Percentile(0.95)
		if err != nil {
			return r, err
		}
		start = time.Now()
		f, err := stat.SignFlipTest(d, c.resamples, stat.NewStream(c.seed, "bench"))
		if err != nil {
			return r, err
		}
		took = time.Since(start).Seconds()
		if i == 0 || took < r.FlipSeconds {
			r.FlipSeconds = took
		}
		r.Lo, r.Hi, r.SE, r.P = ci.Lo, ci.Hi, b.SE(), f.P
	}
	return r, nil
}

func (c config) numpy(ctx context.Context, t tools, d []float64) (resampled, error) {
	var text []byte
	for _, x := range d {
		text = append(strconv.AppendFloat(text, x, 'g', -1, 64), '\n')
	}
	path := filepath.Join(c.dir, "differences.txt")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return resampled{}, err
	}
	_, out, err := t.start(ctx, command{t.python, []string{t.script, "numpy", path, strconv.Itoa(c.resamples), strconv.Itoa(c.rounds), strconv.FormatUint(c.seed, 10)}})
	if err != nil {
		return resampled{}, err
	}
	var r resampled
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("numpy: %w: %q", err, out)
	}
	return r, nil
}

// plausible allows for two independent draws of a normal mean: six standard
// errors of the difference of quantiles, standard deviations and shares.
func plausible(ours, theirs resampled, resamples int) error {
	b := float64(resamples)
	const density = 0.0584 // of the standard normal at its .025 quantile
	quantile := 6 * math.Sqrt(2*0.025*0.975/b) / density * ours.SE
	spread := 6 / math.Sqrt(b) * ours.SE
	share := 6*math.Sqrt(2*ours.P*(1-ours.P)/b) + 2/b
	for _, x := range []struct {
		what               string
		ours, theirs, room float64
	}{
		{"lower end", ours.Lo, theirs.Lo, quantile},
		{"upper end", ours.Hi, theirs.Hi, quantile},
		{"standard error", ours.SE, theirs.SE, spread},
		{"p", ours.P, theirs.P, share},
	} {
		if !(math.Abs(x.ours-x.theirs) <= x.room) {
			return fmt.Errorf("%s is %v here and %v there, more than %v apart", x.what, x.ours, x.theirs, x.room)
		}
	}
	return nil
}
