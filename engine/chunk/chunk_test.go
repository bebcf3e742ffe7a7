package chunk

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func texts(chunks []Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.Text)
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		name string
		text string
		cfg  Config
		want []string
	}{
		{"empty", "", Config{}, nil},
		{"only space", " \n\n\t ", Config{}, nil},
		{"short stays whole", "One. Two.\n\nThree.", Config{}, []string{"One. Two.\n\nThree."}},
		{"space around is dropped", "  One.  ", Config{}, []string{"One."}},
		{"sentence border", "Aa bb cc. Dd ee. Ff gg.", Config{MaxWords: 5}, []string{"Aa bb cc. Dd ee.", "Ff gg."}},
		{"paragraph border wins over a fuller passage", "Aa bb cc.\n\nDd ee. Ff gg.", Config{MaxWords: 5},
			[]string{"Aa bb cc.", "Dd ee. Ff gg."}},
		{"a short paragraph does not make a tiny passage", "Aa.\n\nBb cc dd. Ee ff gg.", Config{MaxWords: 5},
			[]string{"Aa.\n\nBb cc dd.", "Ee ff gg."}},
		{"a long sentence is cut between words", "aa bb cc dd ee", Config{MaxWords: 2}, []string{"aa bb", "cc dd", "ee"}},
		{"abbreviations and initials do not end a sentence", "Dr. J. Doe et al. wrote it. Then slept.", Config{MaxWords: 8},
			[]string{"Dr. J. Doe et al. wrote it.", "Then slept."}},
		{"dotted abbreviation", "See e.g. the map. Go on.", Config{MaxWords: 5}, []string{"See e.g. the map.", "Go on."}},
		{"closing quote", "“Go on.” He went away.", Config{MaxWords: 3}, []string{"“Go on.”", "He went away."}},
		{"overlap repeats whole sentences", "Aa bb. Cc dd. Ee ff. Gg hh.", Config{MaxWords: 4, Overlap: 2},
			[]string{"Aa bb. Cc dd.", "Cc dd. Ee ff.", "Ee ff. Gg hh."}},
		{"overlap gives way when the next sentence needs the room", "Aa bb. Cc dd. Ee ff gg hh.", Config{MaxWords: 4, Overlap: 2},
			[]string{"Aa bb. Cc dd.", "Ee ff gg hh."}},
		{"right to left", "שלום עולם. מה שלומך؟ טוב.", Config{MaxWords: 2}, []string{"שלום עולם.", "מה שלומך؟", "טוב."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, texts(Split(tc.text, tc.cfg))); diff != "" {
				t.Errorf("Split (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitKeepsEveryWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		maxWords := rapid.IntRange(1, 12).Draw(t, "max words")
		overlap := rapid.IntRange(0, maxWords-1).Draw(t, "overlap")
		check(t, text, Config{MaxWords: maxWords, Overlap: overlap})
	})
}

func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"aa", "Bb.", "cc!", "Dr.", "e.g.", " ", "\n\n", "\n", "\u00a0", "\x00", "\xff", "😀", "(x.)"}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), " ") })
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func check(t fataler, text string, cfg Config) {
	chunks := Split(text, cfg)
	covered := 0
	for i, c := range chunks {
		if c.Ordinal != i {
			t.Fatalf("passage %d has ordinal %d", i, c.Ordinal)
		}
		if c.Text != text[c.Start:c.End] {
			t.Fatalf("passage %d is not text[%d:%d]", i, c.Start, c.End)
		}
		if n := len(strings.FieldsFunc(c.Text, unicode.IsSpace)); n != c.Words || n > cfg.Effective().MaxWords || n == 0 {
			t.Fatalf("passage %d has %d words, says %d, at most %d allowed", i, n, c.Words, cfg.Effective().MaxWords)
		}
		if i > 0 && (c.Start <= chunks[i-1].Start || c.End <= chunks[i-1].End) {
			t.Fatalf("passage %d does not move on", i)
		}
		if cfg.Overlap == 0 && i > 0 && c.Start < chunks[i-1].End {
			t.Fatalf("passage %d overlaps", i)
		}
		if c.Start > covered && strings.TrimSpace(text[covered:c.Start]) != "" {
			t.Fatalf("%q before passage %d is in none", text[covered:c.Start], i)
		}
		covered = c.End
	}
	if rest := strings.TrimSpace(text[covered:]); rest != "" {
		t.Fatalf("%q at the end is in no passage", rest)
	}
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  Config
		want string // part of the error; empty for none
	}{
		{"zero value", Config{}, ""},
		{"largest overlap", Config{MaxWords: 5, Overlap: 4}, ""},
		{"negative length", Config{MaxWords: -1}, "max words -1"},
		{"overlap fills the passage", Config{MaxWords: 5, Overlap: 5}, "overlap 5: want 0 to 4"},
		{"overlap against the default length", Config{Overlap: 400}, "overlap 400"},
		{"negative overlap", Config{Overlap: -1}, "overlap -1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.cfg.Validate()
			if tc.want == "" && err != nil {
				t.Errorf("Validate() = %v, want nil", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Validate() = %v, want it to say %q", err, tc.want)
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("One. Two.\n\nThree", 2, 1)
	f.Add("\x00\xff . ? !", 1, 0)
	f.Fuzz(func(t *testing.T, text string, maxWords, overlap int) {
		cfg := Config{MaxWords: maxWords, Overlap: overlap}
		if cfg.Validate() == nil {
			check(t, text, cfg)
		}
	})
}
