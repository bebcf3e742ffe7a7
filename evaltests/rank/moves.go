package rank

// Overlap counts the ids that the first k entries of x and of y share.
func Overlap(x, y []string, k int) int {
	x, y = head(x, k), head(y, k)
	in := make(map[string]bool, len(x))
	for _, id := range x {
		in[id] = true
	}
	n := 0
	for _, id := range y {
		if in[id] {
			n++
			in[id] = false // a repeated id counts once
		}
	}
	return n
}

// FirstDivergence is the first rank, counted from 1, at which x and y differ;
// 0 if they are identical. Where one is the beginning of the other, it is the
// rank after the shorter.
func FirstDivergence(x, y []string) int {
	n := min(len(x), len(y))
	for i := range n {
		if x[i] != y[i] {
			return i + 1
		}
	}
	if len(x) != len(y) {
		return n + 1
	}
	return 0
}

// Move is one id that changed its rank. Ranks count from 1; 0 is absent.
type Move struct {
	ID       string
	Old, New int
}

// Moves lists the ids whose rank differs: first those of old in its order
// (moved or gone), then the arrivals in the order of new.
func Moves(old, new []string) []Move {
	oldRank, newRank := positions(old), positions(new)
	var moves []Move
	for i, id := range old {
		if oldRank[id] == i+1 && newRank[id] != i+1 {
			moves = append(moves, Move{ID: id, Old: i + 1, New: newRank[id]})
		}
	}
	for i, id := range new {
		if newRank[id] == i+1 && oldRank[id] == 0 {
			moves = append(moves, Move{ID: id, New: i + 1})
		}
	}
	return moves
}

// positions maps each id to its first rank, counted from 1.
func positions(ids []string) map[string]int {
	m := make(map[string]int, len(ids))
	for i, id := range ids {
		if m[id] == 0 {
			m[id] = i + 1
		}
	}
	return m
}

func head(ids []string, k int) []string {
	return ids[:min(max(k, 0), len(ids))]
}
