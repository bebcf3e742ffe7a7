package strict_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

type suite struct {
	Suite string   `toml:"suite"`
	Tier  string   `toml:"tier"`
	Min   int      `toml:"min"`
	List  []string `toml:"list"`
	Gates []struct {
		Measure string   `toml:"measure"`
		Floor   *float64 `toml:"floor"`
	} `toml:"gate"`
	Golden struct {
		K    int `toml:"k"`
		Deep struct {
			On bool `toml:"on"`
		} `toml:"deep"`
	} `toml:"golden"`
	Free map[string]string `toml:"free"`
}

func TestTOMLUnknownKeys(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string // in this order
	}{
		{"top level", "suite = \"a\"\nteir = \"full\"\n", []string{`f:2: unknown key "teir"`}},
		{"several", "x = 1\nsuite = \"a\"\ny = 2\n", []string{`f:1: unknown key "x"`, `f:3: unknown key "y"`}},
		{"in line order past line nine", strings.Repeat("\n", 8) + "a = 1\nb = 2\n", []string{`f:9: unknown key "a"`, `f:10: unknown key "b"`}},
		{"table", "suite = \"a\"\n[gold]\nk = 1\n", []string{`f:2: unknown key "gold"`, `f:3: unknown key "gold.k"`}},
		{"nested table", "[golden]\nk = 1\n[golden.deep]\non = true\nof = 1\n", []string{`f:5: unknown key "golden.deep.of"`}},
		{"same name known elsewhere", "[golden]\nk = 1\nsuite = \"a\"\n", []string{`f:3: unknown key "golden.suite"`}},
		{
			"second of an array of tables", "[[gate]]\nmeasure = \"AP\"\nfloor = 0.1\n\n[[gate]]\nmeasure = \"RR\"\nflor = 0.1\n",
			[]string{`f:7: unknown key "gate.flor"`},
		},
		{
			"both of an array of tables", "[[gate]]\nflor = 0.1\n[[gate]]\nflor = 0.1\n",
			[]string{`f:2: unknown key "gate.flor"`, `f:4: unknown key "gate.flor"`},
		},
		{"dotted key", "golden.k = 1\ngolden.kk = 2\n", []string{`f:2: unknown key "golden.kk"`}},
		{"inline table", "golden = { k = 1, kk = 2 }\n", []string{`f:1: unknown key "golden.kk"`}},
		{"quoted key", "\"sui te\" = 1\n", []string{`f:1: unknown key "\"sui te\""`}},
		{"key written with escapes", "\"te\\u0069r\" = 1\n", []string{`f:1: unknown key "teir"`}},
		{"byte order mark", "\ufeffsuite = \"a\"\nx = 1\n", []string{`f:2: unknown key "x"`}},
		{"CRLF", "suite = \"a\"\r\n[golden]\r\nx = 1\r\n", []string{`f:3: unknown key "golden.x"`}},
		{"after text that looks like keys", "suite = \"\"\"\nx = 1\n[y]\n\"\"\"\nlist = [\n  \"z = 1\", # z = 2\n]\nx = 3\n", []string{`f:8: unknown key "x"`}},
		{"after a literal string", "suite = '''\nx = \\\n'''\nx = 3\n", []string{`f:4: unknown key "x"`}},
		{"a known key in another case", "Suite = \"a\"\n", []string{`f:1: unknown key "Suite"`}},
		{"a threshold that is there in two cases", "[[gate]]\nfloor = 0.9\nFloor = 0.1\n", []string{`f:3: unknown key "gate.Floor"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v suite
			err := strict.TOML("f", []byte(tc.text), &v)
			require.Error(t, err)
			assert.Equal(t, strings.Join(tc.want, "; ")+"; remove it or correct its spelling", err.Error())
		})
	}
}

func TestTOMLTakesWhatIsRight(t *testing.T) {
	text := "\ufeffsuite = \"a\" # a comment = with [ things\r\nlist = [\"x = 1\", '[y]']\r\n[[gate]]\r\nmeasure = \"AP\"\r\n[golden]\r\nk = 7\r\ndeep = { on = true }\r\n[free]\r\nAny = \"x\"\r\n"
	var v suite
	require.NoError(t, strict.TOML("f", []byte(text), &v))
	assert.Equal(t, "a", v.Suite)
	assert.Equal(t, []string{"x = 1", "[y]"}, v.List)
	assert.Equal(t, 7, v.Golden.K)
	assert.True(t, v.Golden.Deep.On)
	assert.Equal(t, map[string]string{"Any": "x"}, v.Free)
	require.Len(t, v.Gates, 1)
}

func TestTOMLWrongValues(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"text for a number", "suite = \"a\"\nmin = \"10\"\n", "f:2: "},
		{"number for text", "\nsuite = 1\n", "f:2: "},
		{"in a table", "[golden]\n\nk = true\n", "f:3: "},
		{"in the second of an array", "[[gate]]\nfloor = 0.1\n[[gate]]\nfloor = \"x\"\n", "f:4: "},
		{"in the first of an array", "[[gate]]\nfloor = \"x\"\n[[gate]]\nfloor = 0.1\n", "f:2: key \"gate.floor\": incompatible types"},
		{"float for an integer", "min = 1.5\n", "f:1: "},
		{"too large", "min = 99999999999999999999\n", "f:1: "},
		{"a key twice", "suite = \"a\"\nsuite = \"b\"\n", "f:2: "},
		{"a table twice", "[golden]\nk = 1\n[golden]\nk = 2\n", "f:3: "},
		{"no value", "suite =\n", "f:1: "},
		{"not closed", "suite = \"a\n", "f:1: "},
		{"not UTF-8", "suite = \"\xff\"\n", "f:1: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v suite
			err := strict.TOML("f", []byte(tc.text), &v)
			require.Error(t, err)
			assert.Contains(t, err.Error(), tc.want)
			assert.True(t, strings.HasPrefix(err.Error(), "f:"), err)
		})
	}
}

func TestTOMLFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "suite.toml")
	var v suite
	require.ErrorContains(t, strict.TOMLFile(path, &v), path)
	require.NoError(t, os.WriteFile(path, []byte("a = 1\n"), 0o644))
	require.ErrorContains(t, strict.TOMLFile(path, &v), path+`:1: unknown key "a"`)
}

func TestTOMLLines(t *testing.T) {
	data := []byte("a = 1\n[[s]]\nname = \"[[s]]\"\n\n[[s]]\nname = \"y\"\n[t.u]\n'v' = [ { w = 1 },\n { w = 2 } ]\n")
	for _, tc := range []struct {
		key  []string
		want []int
	}{
		{[]string{"a"}, []int{1}},
		{[]string{"s"}, []int{2, 5}},
		{[]string{"s", "name"}, []int{3, 6}},
		{[]string{"t", "u"}, []int{7}},
		{[]string{"t", "u", "v", "w"}, []int{8, 9}},
		{[]string{"name"}, nil},
	} {
		assert.Equal(t, tc.want, strict.TOMLLines(data, tc.key...), tc.key)
	}
}

// Whatever the text, decoding ends, and an error starts with the place.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{
		"suite = \"a\"\n[golden]\nk = 1\n", "[[gate]]\nfloor = 1.0\n", "x = '''\n'''", "a.b.'c' = [[1,2],{x=1}]", "x = \"\\", "[", "=", "# x", "x = [#\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v suite
		if err := strict.TOML("f", data, &v); err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Fatalf("error without a place: %v", err)
		}
		strict.TOMLLines(data, "suite")
	})
}
