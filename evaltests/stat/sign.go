package stat

// Sign is the result of an exact sign test.
type Sign struct {
	P       float64 // two-sided
	MidP    float64 // two-sided mid-p: the observed split counts half
	Greater float64 // one-sided, for more wins than losses
	Less    float64 // one-sided, for fewer
}

// SignTest asks whether wins and losses differ by more than a fair coin would
// make them; ties are left out beforehand. Without any win or loss there is no
// evidence, and p is 1.
//
// P is min(1, 2 P(X <= min(w, l))) for X ~ Bin(w+l, 1/2).
func SignTest(wins, losses int) (Sign, error) {
	if err := checkCounts("sign test", wins, losses); err != nil {
		return Sign{}, err
	}
	n, least := wins+losses, min(wins, losses)
	tail := binomialLower(least, n, 0.5)
	return Sign{
		P:       min(1, 2*tail),
		MidP:    min(1, max(0, 2*tail-binomialPMF(least, n, 0.5))),
		Greater: binomialLower(losses, n, 0.5), // P(X >= wins), by symmetry
		Less:    binomialLower(wins, n, 0.5),
	}, nil
}
