package evaltests

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

// Shard is the part of a plan that one process runs: the I-th of N, from 1.
// The zero value is the whole plan.
type Shard struct{ I, N int }

// ParseShard reads "i/n". Empty and "1/1" are the whole plan.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	left, right, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(left)
	n, err2 := strconv.Atoi(right)
	if !ok || err1 != nil || err2 != nil || i < 1 || n < 1 || i > n {
		return Shard{}, fmt.Errorf("%q; want i/n with i from 1 to n, for instance 2/3", text)
	}
	if n == 1 {
		return Shard{}, nil
	}
	return Shard{i, n}, nil
}

// All reports whether the shard is the whole plan.
func (s Shard) All() bool { return s.N <= 1 }

// String is "i/n", empty for the whole plan.
func (s Shard) String() string {
	if s.All() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.N)
}

// Has reports whether a case belongs to the shard. It rests on the case id
// alone, so that no machine has to know the order of the plan and a new case
// moves no other.
func (s Shard) Has(caseID string) bool {
	if s.All() {
		return true
	}
	sum := digest.Bytes([]byte("touchstone/shard/1\x00" + caseID))
	return int(hashPrefix(sum)%uint64(s.N)) == s.I-1
}

// hashPrefix is the first 64 bits of a digest in hexadecimal.
func hashPrefix(sum string) uint64 {
	n, err := strconv.ParseUint(sum[:16], 16, 64)
	if err != nil {
		panic("digest is not hexadecimal: " + sum)
	}
	return n
}
