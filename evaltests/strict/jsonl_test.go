package strict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

func lines(t *testing.T, text string) ([]string, error) {
	t.Helper()
	var got []string
	err := strict.Lines("f", strings.NewReader(text), func(n int, line []byte) error {
		got = append(got, fmt.Sprintf("%d:%s", n, line))
		return nil
	})
	return got, err
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"only blanks", "\n \t\n\r\n", nil},
		{"numbers count blank lines", "a\n\n \nb\n", []string{"1:a", "4:b"}},
		{"no final newline", "a\nb", []string{"1:a", "2:b"}},
		{"CRLF", "a\r\n\r\nb\r\n", []string{"1:a", "3:b"}},
		{"byte order mark", "\ufeffa\n\ufeffb\n", []string{"1:a", "2:\ufeffb"}},
		{"byte order mark alone", "\ufeff\na\n", []string{"2:a"}},
		{"a line longer than any buffer", long + "\nb\n", []string{"1:" + long, "2:b"}},
		{"no-break space is text", "\u00a0a\u00a0\n", []string{"1:\u00a0a\u00a0"}},
		{"line separators inside a line", "a\u2028b\vc\n", []string{"1:a\u2028b\vc"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := lines(t, tc.text)
			require.NoError(t, err)
			assert.True(t, reflect.DeepEqual(tc.want, got), "lines differ") // the long line would fill the screen
		})
	}
}

func TestLinesRefuses(t *testing.T) {
	_, err := lines(t, "a\n\nb\xff\n")
	require.EqualError(t, err, "f:3: not valid UTF-8")
	_, err = lines(t, "a\nb\x00\n")
	require.EqualError(t, err, "f:2: holds a NUL byte: not text, or in another encoding than UTF-8")

	err = strict.Lines("f", strings.NewReader("a\nb\n"), func(n int, _ []byte) error {
		if n == 2 {
			return errors.New("bad")
		}
		return nil
	})
	require.EqualError(t, err, "f:2: bad")

	err = strict.Lines("f", failingReader{}, func(int, []byte) error { return nil })
	require.EqualError(t, err, "f:1: disk on fire")
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

type row struct {
	ID   string            `json:"id"`
	N    int               `json:"n"`
	Tags []string          `json:"tags"`
	Meta map[string]string `json:"meta"`
	Free any               `json:"free"`
}

func TestJSON(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{ // want: part of the error, empty for none
		{"right", `{"id":"a","n":1,"tags":["x"],"meta":{"k":"v","K":"w"}}`, ""},
		{"blanks around", " \t{\"id\":\"a\"} \n", ""},
		{"empty object", `{}`, ""},
		{"equal keys in different objects", `{"free":[{"a":1},{"a":2}],"meta":{"a":"b"}}`, ""},
		{"escapes", `{"id":"\u0061\"}{\\"}`, ""},
		{"a character of two escapes", `{"id":"\ud83d\uDE00\\ud800"}`, ""},
		{"half a character", `{"id":"a\ud83d"}`, `the escape \ud83d is half of a character`},
		{"the other half alone", `{"free":[{"x":"\uDE00"}]}`, `the escape \uDE00 is half of a character`},
		{"two first halves", `{"id":"\ud83d\ud83d\ude00"}`, `the escape \ud83d is half of a character`},
		{"half of a key", `{"meta":{"\ud83dx":"1"}}`, `the escape \ud83d is half of a character`},
		{"empty", ``, "ends too early"},
		{"cut short", `{"id":"a`, "ends too early"},
		{"not JSON", `id: a`, "not JSON"},
		{"single quotes", `{'id':'a'}`, "not JSON"},
		{"NaN", `{"n":NaN}`, "not JSON"},
		{"unknown key", `{"idd":"a"}`, `unknown field "idd"`},
		{"wrong type", `{"n":"1"}`, `key "n": found a JSON string, want an integer`},
		{"wrong type deeper", `{"meta":{"k":1}}`, `want a string`},
		{"fraction", `{"n":1.5}`, `key "n": found a JSON number 1.5, want an integer`},
		{"array", `[{"id":"a"}]`, "found a JSON array, want an object"},
		{"string", `"id"`, "found a JSON string, want an object"},
		{"null", `null`, "found null, want a JSON object"},
		{"second value", `{"id":"a"} {"id":"b"}`, `more than one JSON value: "{\"id\":\"b\"}" follows the first`},
		{"closing brace too many", `{"id":"a"}}`, `more than one JSON value: "}"`},
		{"closing bracket too many", `{"id":"a"} ]`, `more than one JSON value: "]"`},
		{"comma after", `{"id":"a"},`, `more than one JSON value: ","`},
		{"key twice", `{"id":"a","id":"b"}`, `key "id" is given twice`},
		{"key twice, once escaped", `{"id":"a","\u0069d":"b"}`, `key "id" is given twice`},
		{"key twice deeper", `{"free":[{"x":{"k":1,"j":[],"k":2}}]}`, `key "k" is given twice`},
		{"other case", `{"ID":"a"}`, `key "ID": want "id"`},
		{"both cases", `{"id":"a","Id":"b"}`, `key "Id": want "id"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v row
			err := strict.JSON([]byte(tc.text), &v, true)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
	t.Run("unknown keys may be allowed", func(t *testing.T) {
		var v row
		require.NoError(t, strict.JSON([]byte(`{"id":"a","other":[1]}`), &v, false))
		assert.Equal(t, "a", v.ID)
		require.Error(t, strict.JSON([]byte(`{"ID":"a"}`), &v, false))
	})
}

// What JSON takes, encoding/json takes with the same result.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"id":"a"}`, `{"free":[1,2,{"x":null}]}`, `{"id":"a"}]`, `{"id":"\"","n":-1e3}`, `{}{}`, `{"free":[[],{}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want row
		if strict.JSON(text, &got, true) != nil {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("accepted %q, encoding/json says %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %+v, want %+v", text, got, want)
		}
	})
}
