package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/embed/embedtest"
	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// victimDir makes the test binary a process that writes until it is killed.
const victimDir = "ENGINE_TEST_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

// victim ingests, replaces and deletes for ever. It says what is done on
// standard output; a line that it printed must hold after its death.
func victim(dir string) {
	ctx := context.Background()
	fail := func(err error) {
		fmt.Println("failed:", err)
		os.Exit(3)
	}
	e, err := engine.Open(ctx, dir, engine.Config{Embedder: embedtest.New(16), Chunk: small, BatchSize: 3})
	if err != nil {
		fail(err)
	}
	fmt.Println("open")
	docs := victims()
	for i := 0; ; i++ {
		part := docs[i*7%50 : i*7%50+7]
		if _, err := e.Ingest(ctx, part...); err != nil {
			fail(err)
		}
		for _, d := range part {
			fmt.Println("put", d.ID)
		}
		gone := part[i%7].ID
		fmt.Println("deleting", gone)
		if err := e.Delete(ctx, gone); err != nil {
			fail(err)
		}
		fmt.Println("deleted", gone)
	}
}

// victims are documents that enrichment finds one date each in, and things
// that several of them share.
func victims() []engine.Document {
	docs := corpus(60)
	for i := range docs {
		docs[i].Text += fmt.Sprintf("Maria Lopez%c on 2024-03-12\n# Head %d\nsee [[doc%03d]]", 'a'+i%26, i%9, i*7%60)
	}
	return docs
}

// TestKilled: a process that is killed at any moment leaves a folder that
// opens, whose parts agree, and that holds all that it had reported done.
func TestKilled(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	dir := t.TempDir()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		if round%4 == 3 { // so that some die while they rebuild
			if err := os.RemoveAll(filepath.Join(dir, engine.LexicalDir)); err != nil {
				t.Fatal(err)
			}
		}
		present := kill(t, dir, time.Duration(20+rng.IntN(280))*time.Millisecond)
		if _, err := os.Stat(filepath.Join(dir, engine.StoreFile)); err != nil {
			continue // killed before it made anything
		}
		survey(t, fmt.Sprint("round ", round), dir, present)
	}
}

// kill lets a victim run for a while and returns whether
// a document must be there, of those that its output decides.
func kill(t *testing.T, dir string, after time.Duration) map[string]bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), victimDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer killed.Stop()
	present := map[string]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		what, id, _ := strings.Cut(lines.Text(), " ")
		switch what {
		case "put":
			present[id] = true
		case "deleting":
			delete(present, id)
		case "deleted":
			present[id] = false
		case "failed:":
			t.Errorf("the victim %s", lines.Text())
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the victim ended by itself")
	}
	// What it was putting when it died may be there or not.
	for id, there := range present {
		if !there {
			delete(present, id)
		}
	}
	return present
}

func survey(t *testing.T, when, dir string, present map[string]bool) {
	t.Helper()
	e := open(t, dir, engine.Config{Embedder: embedtest.New(16), Chunk: small})
	counts := substrates(t, e)
	if counts["chunks"] != counts["lexical"] || counts["chunks"] != counts["vectors"] {
		t.Errorf("%s: substrates %v", when, counts)
	}
	if n := e.EnrichedAgain(); n != 0 || counts["event_dates"] != counts["documents"] {
		t.Errorf("%s: %d documents were stored without their enrichment: %v", when, n, counts)
	}
	if len(present) > 0 {
		search(t, e, engine.Query{Text: questions[6], K: 10})
	}
	shut(t, e)

	s, err := store.Open(t.Context(), filepath.Join(dir, engine.StoreFile), store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := lexical.Open(filepath.Join(dir, engine.LexicalDir), true)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var stored, indexed []string
	tokens := 0
	err = s.EachPassage(t.Context(), func(p store.Passage) error {
		stored = append(stored, p.ID)
		tokens += lexical.Tokens(p.Title, p.Text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Each(t.Context(), func(id string) error { indexed = append(indexed, id); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(stored)
	slices.Sort(indexed)
	if diff := cmp.Diff(stored, indexed); diff != "" {
		t.Errorf("%s: passages (-store +lexical):\n%.1000s", when, diff)
	}
	totals, err := s.Totals(t.Context())
	if err != nil || totals.Chunks != len(stored) || totals.Tokens != tokens {
		t.Errorf("%s: totals %+v, %v, want %d and %d", when, totals, err, len(stored), tokens)
	}
	for _, d := range victims() {
		got, err := s.Document(t.Context(), d.ID)
		if present[d.ID] && err != nil {
			t.Errorf("%s: %s was reported done: %v", when, d.ID, err)
		}
		if err == nil {
			if diff := cmp.Diff(d, got); diff != "" {
				t.Errorf("%s: half a document (-want +got):\n%s", when, diff)
			}
		}
	}
}
