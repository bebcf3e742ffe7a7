package evaltests

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-eval/touchstone/evaltests/gate"
	"github.com/touchstone-eval/touchstone/evaltests/record"
)

// Env is the environment of a run, read in one place. A name that starts with
// EVAL_ and is not known is refused: a misspelt variable would otherwise be a
// setting that silently does nothing.
type Env struct {
	Tier        string         // EVAL_TIER: smoke (default), full, deep
	Limit       int            // EVAL_LIMIT=n: at most n cases of every suite, stratified; 0 is no limit
	Limits      map[string]int // EVAL_LIMIT=suite=n,...: the same for single suites
	Out         string         // EVAL_OUT: folder of run folders, or, with a nonce, the run folder itself
	Packs       string         // EVAL_PACKS: folder of external packs
	Nonce       string         // EVAL_NONCE: set by `touchstone eval`, never by hand
	CaseTimeout time.Duration  // EVAL_CASE_TIMEOUT: overrides the suite's; 0 leaves it
	Bless       string         // EVAL_BLESS: the one suite whose golden this run is to replace; empty or 0 is none
	BlessReason string         // EVAL_BLESS_REASON: why its rankings were meant to move
}

// later are the names that the design has and this version does not act on:
// refusing them is better than a run that looks sharded, repeated or blessed
// and is not.
var later = []string{
	"EVAL_SHARD", "EVAL_REPEAT", "EVAL_BASELINE", "EVAL_ALLOW_WIPE",
	"EVAL_PARALLEL_OK", "EVAL_MIGRATE_STALE", "EVAL_CONCURRENCY",
}

// passive are read elsewhere or have no effect on a suite's result.
var passive = []string{"EVAL_CACHE", "EVAL_MODELS"}

// ParseEnv reads the EVAL_ names of environ (as os.Environ gives them).
func ParseEnv(environ []string) (Env, error) {
	env := Env{Tier: "smoke"}
	var problems []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "EVAL_") {
			continue
		}
		if err := env.set(name, value); err != nil {
			problems = append(problems, err.Error())
		}
	}
	switch blessing := env.Bless != ""; {
	case blessing && strings.TrimSpace(env.BlessReason) == "":
		problems = append(problems, "EVAL_BLESS is set and EVAL_BLESS_REASON is not; say why the rankings were meant to move")
	case !blessing && env.BlessReason != "":
		problems = append(problems, "EVAL_BLESS_REASON is set and EVAL_BLESS names no suite; unset it")
	}
	if len(problems) > 0 {
		sort.Strings(problems)
		return Env{}, fmt.Errorf("environment: %s", strings.Join(problems, "; "))
	}
	return env, nil
}

func (e *Env) set(name, value string) (err error) {
	switch name {
	case "EVAL_TIER":
		if !gate.ValidTier(value) {
			return fmt.Errorf("EVAL_TIER=%q; want smoke, full or deep", value)
		}
		e.Tier = value
	case "EVAL_LIMIT":
		return e.setLimit(value)
	case "EVAL_OUT":
		e.Out = value
	case "EVAL_PACKS":
		e.Packs = value
	case "EVAL_NONCE":
		e.Nonce = value
	case "EVAL_CASE_TIMEOUT":
		e.CaseTimeout, err = time.ParseDuration(value)
		if err != nil || e.CaseTimeout <= 0 {
			return fmt.Errorf("EVAL_CASE_TIMEOUT=%q; want a duration such as 5s", value)
		}
	case "EVAL_BLESS":
		return e.setBless(value)
	case "EVAL_BLESS_REASON":
		e.BlessReason = value
	default:
		switch {
		case slices.Contains(passive, name):
		case slices.Contains(later, name):
			if value != "" && value != "0" && value != "false" {
				return fmt.Errorf("%s=%q is not supported by this version; unset it", name, value)
			}
		default:
			return fmt.Errorf("%s is not a name this suite knows; correct or unset it", name)
		}
	}
	return nil
}

// setBless takes the name of one suite. A blessing is never a plain yes: one
// suite at a time, by name.
func (e *Env) setBless(value string) error {
	switch no, err := strconv.ParseBool(value); {
	case value == "" || err == nil && !no:
		return nil
	case err == nil || !record.ValidSuite(value):
		return fmt.Errorf("EVAL_BLESS=%q; want the name of one suite, or 0", value)
	}
	e.Bless = value
	return nil
}

func (e *Env) setLimit(value string) error {
	bad := fmt.Errorf("EVAL_LIMIT=%q; want a number of at least 1, or suite=n,...", value)
	if n, err := strconv.Atoi(value); err == nil {
		if n < 1 {
			return bad
		}
		e.Limit = n
		return nil
	}
	e.Limits = map[string]int{}
	for _, part := range strings.Split(value, ",") {
		suite, number, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if _, twice := e.Limits[suite]; !ok || err != nil || n < 1 || twice {
			return bad
		}
		e.Limits[suite] = n
	}
	return nil
}

// limitFor is the most cases a suite may plan, 0 for no limit.
func (e Env) limitFor(suite string) int {
	if n, ok := e.Limits[suite]; ok {
		return n
	}
	return e.Limit
}

// Banner is one line that says what is in force.
func (e Env) Banner() string {
	parts := []string{"tier " + e.Tier}
	if e.Limit > 0 {
		parts = append(parts, fmt.Sprintf("limit %d", e.Limit))
	}
	for _, suite := range sortedKeys(e.Limits) {
		parts = append(parts, fmt.Sprintf("limit %s=%d", suite, e.Limits[suite]))
	}
	if e.CaseTimeout > 0 {
		parts = append(parts, "case timeout "+e.CaseTimeout.String())
	}
	if e.Bless != "" {
		parts = append(parts, "to bless "+e.Bless)
	}
	if e.Packs == "" {
		parts = append(parts, "EVAL_PACKS not set")
	} else {
		parts = append(parts, "packs "+e.Packs)
	}
	return strings.Join(parts, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
