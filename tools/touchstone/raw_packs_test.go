package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Every raw folder of EVAL_PACKS is measured as it lies, without import and
// without pack.toml.
func TestRunOnRawPacks(t *testing.T) {
	packs := os.Getenv("EVAL_PACKS")
	if packs == "" {
		t.Skip("EVAL_PACKS is not set")
	}
	for name, format := range map[string]string{
		"clapnq-dev": "clapnq", "cranfield": "smart", "hotpotqa-100": "hotpotqa", "locomo10": "locomo", "multihoprag-500-facts": "multihoprag",
		"qasper-tiny": "qasper", "scifact": "scifact", "squad2-sample500": "squad2",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(packs, name)
			if _, err := os.Stat(dir); err != nil {
				t.Skip(err)
			}
			if name == "scifact" && testing.Short() {
				t.Skip("embeds 5,183 abstracts")
			}
			// TestMain answers to the name of the command.
			cmd := exec.Command(os.Args[0], "run", "--pack", dir, "--format", format, "--limit", "5", "--out", t.TempDir())
			cmd.Args[0] = "touchstone"
			cmd.Env = append(os.Environ(), "EVAL_CACHE="+t.TempDir())
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}
