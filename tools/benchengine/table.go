package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"time"
)

func (f Figures) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "machine: %s\n", f.Machine)
	fmt.Fprintf(&b, "pack: %s, %d documents, %.1f MB of text, %d questions, all of them\n", f.Pack, f.Documents, mb(int64(f.TextBytes)), f.Questions)
	if f.Versions != "" {
		fmt.Fprintf(&b, "Python: %s\n", f.Versions)
	}

	fmt.Fprintf(&b, "\nBuild and evaluate, default embedder\n\n| step | seconds |\n|---|---|\n")
	for _, s := range f.Build {
		fmt.Fprintf(&b, "| %s | %.2f |\n", s.Name, s.Wall.Seconds())
	}
	fmt.Fprintf(&b, "| total | %.2f |\n", f.total().Seconds())

	fmt.Fprintf(&b, "\nSearch, one question at a time, %d documents ranked\n\n", depth)
	fmt.Fprintf(&b, "| system | search | index s | documents/s | on disk MB | p50 ms | p95 ms | end to end s | nDCG@10 |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range f.Systems {
		p50, err := quantile(s.Search, .5)
		if err != nil {
			return fmt.Errorf("%s: %w", s.label(), err)
		}
		p95, _ := quantile(s.Search, .95) // not empty, as just seen
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.0f | %.1f | %.2f | %.2f | %.1f | %.4f |\n", s.label(), s.Mode, s.Index.Seconds(),
			float64(f.Documents)/s.Index.Seconds(), mb(s.Bytes), millis(p50), millis(p95), s.endToEnd().Seconds(), s.NDCG)
	}
	f.ratios(&b)
	f.printTargets(&b)
	if len(f.NotRun) > 0 {
		b.WriteString("\n")
	}
	for _, n := range f.NotRun {
		fmt.Fprintf(&b, "not run: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ratios compare each side of this engine with the Python side of its mode.
func (f Figures) ratios(b *strings.Builder) {
	first := true
	for _, s := range f.Systems {
		for _, p := range f.Systems {
			if s.Name == python || p.Name != python || s.Mode != p.Mode {
				continue
			}
			if first {
				b.WriteString("\nThis engine against Python (above 1: this engine is faster)\n\n")
				first = false
			}
			of := "BM25 (the index of this engine holds the default vectors too)"
			if s.Model != "" {
				of = fmt.Sprintf("%s, %s against %s", s.Mode, s.Model, p.Model)
			}
			a50, _ := quantile(s.Search, .5) // printed above
			b50, _ := quantile(p.Search, .5)
			a95, _ := quantile(s.Search, .95)
			b95, _ := quantile(p.Search, .95)
			fmt.Fprintf(b, "ratio: %s: index %s, search p50 %s, p95 %s, end to end %s, nDCG@10 %+.4f\n", of,
				ratio(p.Index, s.Index), ratio(b50, a50), ratio(b95, a95), ratio(p.endToEnd(), s.endToEnd()), s.NDCG-p.NDCG)
		}
	}
}

// ratio is cut, not rounded: no figure reaches a target that it missed.
func ratio(theirs, ours time.Duration) string {
	if ours <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.2fx", math.Floor(100*theirs.Seconds()/ours.Seconds())/100)
}

func (s System) label() string {
	if s.Model == "" {
		return s.Name
	}
	return s.Name + ", " + s.Model
}

func mb(bytes int64) float64         { return float64(bytes) / 1e6 }
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func machine() string {
	return fmt.Sprintf("%s/%s, %d cores%s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), runtime.Version())
}

// processor is the name that Linux has for it, after a comma, or nothing.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
			return ", " + strings.TrimSpace(value)
		}
	}
	return ""
}
