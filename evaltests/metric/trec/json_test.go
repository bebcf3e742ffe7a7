package trec_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/evaltests/metric"
	"github.com/touchstone-eval/touchstone/evaltests/metric/trec"
)

func TestReadJSON(t *testing.T) {
	q, err := trec.ReadQrelsJSON("q.json", strings.NewReader(`{"q1": {"b": 2, "a b": -1}, "q 2": {"c": 0}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := trec.Qrels{"q1": metric.Grades{"b": 2, "a b": -1}, "q 2": metric.Grades{"c": 0}}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("qrels (-want +got):\n%s", diff)
	}
	r, err := trec.ReadRunJSON("r.json", strings.NewReader(`{"q1": {"z": 1.5, "b": 1e3, "a b": -2}}`), "tag")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]trec.Hit{{ID: "z", Score: 1.5}, {ID: "b", Score: 1000}, {ID: "a b", Score: -2}}, r.Hits("q1")); diff != "" {
		t.Errorf("hits in the order of the text (-want +got):\n%s", diff)
	}
	result, err := trec.Score(q, r, trec.Options{Measures: measures(t, "RR")})
	if err != nil || value(t, result, "RR") != .5 {
		t.Errorf("RR = %v, %v, want .5 (q1 at rank 1, q 2 missing)", result, err)
	}
}

func TestLoadJSON(t *testing.T) {
	q, err := trec.LoadQrelsJSON(write(t, "q.json", `{"q": {"a": 1}}`))
	if err != nil || q["q"]["a"] != 1 {
		t.Errorf("qrels %v, %v", q, err)
	}
	r, err := trec.LoadRunJSON(write(t, "r.json", `{"q": {"a": 1.25}}`), "tag")
	if err != nil || r.Tag != "tag" || len(r.Hits("q")) != 1 {
		t.Errorf("run %v, %v", r, err)
	}
	if r, err := trec.LoadRunJSON(write(t, "bad.json", "{\n\"q\": 1}"), "t"); err == nil || r != nil || !strings.Contains(err.Error(), "bad.json:2: ") {
		t.Errorf("%v, %v, want an error that names the line", r, err)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	q := trec.Qrels{"q": metric.Grades{"a\n\"b": 3, "é": 0}}
	var out bytes.Buffer
	if err := q.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	again, err := trec.ReadQrelsJSON("q", &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(q, again); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r, err := trec.ReadRun("r", strings.NewReader("q Q0 a 1 5 t\nq Q0 z 2 5 t\nq Q0 m 3 9 t\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJSON(&out, trec.Input); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `{"q":{"a":2,"z":1,"m":0}}`+"\n"; got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
}

func TestJSONRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"document twice":   {"{\"q\": {\"a\": 1,\n \"a\": 2}}", `x:2: document "a" twice for question "q"`},
		"question twice":   {"{\"q\": {\"a\": 1},\n\n\"q\": {\"b\": 1}}", `x:3: question "q" twice`},
		"text":             {`{"q": {"a": "1"}}`, "want a number"},
		"null":             {`{"q": {"a": null}}`, "want a number"},
		"list":             {`{"q": ["a"]}`, "want {"},
		"nothing":          {``, "x:1: unexpected EOF"},
		"empty object":     {`{}`, "the file is empty"},
		"empty question":   {`{"q": {}}`, "has no documents"},
		"empty id":         {`{"q": {"": 1}}`, "want an id"},
		"cut":              {`{"q": {"a": 1`, "unexpected EOF"},
		"more after it":    {`{"q": {"a": 1}} {}`, "after the end"},
		"rubbish after it": {`{"q": {"a": 1}} x`, "invalid character"},
		"comma at the end": {`{"q": {"a": 1,}}`, "x:1:"},
		"nested":           {`{"q": {"a": {"b": 1}}}`, "want a number"},
	} {
		q, err := trec.ReadQrelsJSON("x", strings.NewReader(tt.in))
		if err == nil || q != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: qrels %v, %v, want an error that says %s", name, q, err, tt.want)
		}
		r, err := trec.ReadRunJSON("x", strings.NewReader(tt.in), "t")
		if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: run %v, %v, want an error that says %s", name, r, err, tt.want)
		}
	}
	for in, want := range map[string]string{`{"q": {"a": 1.5}}`: `grade "1.5"`, `{"q": {"a": 1e1}}`: `grade "1e1"`} {
		if _, err := trec.ReadQrelsJSON("x", strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that says %s", in, err, want)
		}
	}
	if _, err := trec.ReadRunJSON("x", strings.NewReader(`{"q": {"a": 1e999}}`), "t"); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("1e999: %v, want an error that says too large", err)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{`{"q":{"a":1}}`, `{"q":{"a":1,"a":2}}`, `[`, `{"q":{"a":1}}x`, "{\"q\":{\"\xff\":1}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := trec.ReadQrelsJSON("f", bytes.NewReader(data))
		if err != nil {
			if q != nil {
				t.Error("judgements beside an error")
			}
			return
		}
		var out bytes.Buffer
		if err := q.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		again, err := trec.ReadQrelsJSON("f", &out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(q, again); diff != "" {
			t.Errorf("(-read +written and read):\n%s", diff)
		}
	})
}
