// Package fuse joins the rankings of the two arms of a search, vector and
// lexical, by reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR
// 2009): a passage at rank r of an arm gets weight/(k+r), ranks from 1.
//
// It decides the order of equal scores: the passage that the lexical arm ranks
// higher comes first, one that it does not rank last, then by id. Only ranks
// and settings enter, so a recorded fusion can be replayed exactly. With one
// arm empty the result is the other arm's order.
//
// It refuses a ranking that holds an id twice, and settings under which a rank
// would not count (see [Weights.Validate] and [RRF]).
package fuse
