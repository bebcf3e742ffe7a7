package rank

import "math"

// agreement walks down two rankings and keeps, at each depth, what the ids
// seen so far have in common.
//
// At depth d an id counts by a contribution: 1 once its whole group lies above
// d; k/g at the k-th rank of its group of g (rule w: 1 at once); 0 before. The
// overlap is the sum over shared ids of the product of their contributions.
// Ids are therefore counted by state, ahead, inside or done, in both lists.
type agreement struct {
	rule  TieRule
	s, l  int // lengths of the shorter and the longer list
	depth int
	short walker
	long  walker
	both  [3][3]int // shared ids by their state in the short and the long list
	only  [3]int    // ids of the long list alone, by state
}

// The states of an id.
const (
	ahead = iota
	inside
	done
)

// walker is one list: the group at the current depth, and how far into it.
type walker struct {
	groups [][]string
	group  int // index of the current group
	top    int // ids above it
	other  map[string]int
	state  map[string]int
}

func newAgreement(x, y Tied, rule TieRule) *agreement {
	nx, ny := len(x.IDs()), len(y.IDs())
	if nx > ny {
		x, y, nx, ny = y, x, ny, nx
	}
	a := &agreement{rule: rule, s: nx, l: ny}
	a.short = walker{groups: x, group: -1, state: make(map[string]int, nx)}
	a.long = walker{groups: y, group: -1, state: make(map[string]int, ny)}
	a.short.other, a.long.other = a.long.state, a.short.state
	for _, g := range x {
		for _, id := range g {
			a.short.state[id] = ahead
		}
	}
	for _, g := range y {
		for _, id := range g {
			a.long.state[id] = ahead
			if _, shared := a.short.state[id]; shared {
				a.both[ahead][ahead]++
			} else {
				a.only[ahead]++
			}
		}
	}
	return a
}

// step goes one rank down.
func (a *agreement) step() {
	a.depth++
	if a.depth <= a.s {
		a.enter(&a.short)
	}
	a.enter(&a.long)
}

// enter moves to the group at the current depth, if it is another one, and
// settles ids whose group is complete.
func (a *agreement) enter(w *walker) {
	if w.group < 0 || a.depth > w.top+len(w.groups[w.group]) {
		if w.group >= 0 {
			w.top += len(w.groups[w.group])
		}
		w.group++
		for _, id := range w.groups[w.group] {
			a.move(w, id, inside)
		}
	}
	if g := w.groups[w.group]; a.depth == w.top+len(g) {
		for _, id := range g {
			a.move(w, id, done)
		}
	}
}

func (a *agreement) move(w *walker, id string, to int) {
	from := w.state[id]
	w.state[id] = to
	partner, shared := w.other[id]
	switch {
	case w == &a.short && shared:
		a.both[from][partner]--
		a.both[to][partner]++
	case w == &a.long && shared:
		a.both[partner][from]--
		a.both[partner][to]++
	case w == &a.long:
		a.only[from]--
		a.only[to]++
	}
}

// contribution of the ids inside the current group.
func (a *agreement) contribution(w *walker) float64 {
	if a.rule == TiesW || w.group < 0 {
		return 1
	}
	g := len(w.groups[w.group])
	return float64(min(a.depth-w.top, g)) / float64(g)
}

// shared is the overlap at the current depth.
func (a *agreement) shared() float64 {
	cs, cl := a.contribution(&a.short), a.contribution(&a.long)
	return float64(a.both[done][done]) + float64(cs*float64(a.both[inside][done])) +
		float64(cl*float64(a.both[done][inside])) + float64(float64(cs*cl)*float64(a.both[inside][inside]))
}

// unseen is what the next n ids of the short list would add to the overlap if
// they were, in order, the ids that the long list alone has.
func (a *agreement) unseen(n int) float64 {
	above := min(n, a.only[done])
	within := min(n-above, a.only[inside])
	return float64(above) + float64(a.contribution(&a.long)*float64(within))
}

// unseenMean is the mean contribution of the ids that the long list alone has,
// as far as they are seen. Below the short list's end there is at least one.
func (a *agreement) unseenMean() float64 {
	n := a.only[done] + a.only[inside]
	if n == 0 {
		return 0
	}
	return (float64(a.only[done]) + float64(a.contribution(&a.long)*float64(a.only[inside]))) / float64(n)
}

// value turns an overlap at the current depth into an agreement.
func (a *agreement) value(overlap float64) float64 {
	d := float64(a.depth)
	switch a.rule {
	case TiesW:
		return 2 * overlap / (a.mass(&a.short, a.s) + a.mass(&a.long, a.l))
	case TiesB:
		return overlap / math.Sqrt(a.norm(&a.short, a.s)*a.norm(&a.long, a.l))
	}
	return overlap / d
}

// mass is the sum of all contributions under rule w: every id of a group
// counts from its first rank on. Below its end a list goes on without ties.
func (a *agreement) mass(w *walker, length int) float64 {
	if a.depth > length {
		return float64(a.depth)
	}
	return float64(w.top + len(w.groups[w.group]))
}

// norm is the sum of the squared contributions under rule b.
func (a *agreement) norm(w *walker, length int) float64 {
	if a.depth > length {
		return float64(a.depth)
	}
	k, g := float64(a.depth-w.top), float64(len(w.groups[w.group]))
	return float64(w.top) + float64(k*k)/g
}
