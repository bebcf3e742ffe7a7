package stat

import (
	"fmt"
	"math"
)

// PairedProportions is what is assumed of two systems on the same cases for a
// statement of power: a success rate P of both and the correlation Rho of
// their outcomes.
type PairedProportions struct{ P, Rho float64 }

// Discordance is the expected share of cases in which they differ:
// 2p(1-p)(1-rho).
func (pp PairedProportions) Discordance() float64 { return 2 * pp.P * (1 - pp.P) * (1 - pp.Rho) }

func (pp PairedProportions) check(n int, alpha, power float64) error {
	if !(pp.P > 0 && pp.P < 1) {
		return fmt.Errorf("power: success rate %v, want above 0 and below 1", pp.P)
	}
	if !(pp.Rho > -1 && pp.Rho < 1) {
		return fmt.Errorf("power: correlation %v, want above -1 and below 1", pp.Rho)
	}
	if pp.Discordance() > 1 {
		return fmt.Errorf("power: success rate %v and correlation %v: the systems would differ in more than all cases", pp.P, pp.Rho)
	}
	if n < 1 || n > maxCount {
		return fmt.Errorf("power: %d cases, want 1 to %d", n, maxCount)
	}
	if err := checkShare("power: alpha", alpha); err != nil {
		return err
	}
	return checkShare("power: power", power)
}

// NormalMDE is the smallest difference of rates that n cases detect with a
// power at a two-sided level alpha, by the equal-variance normal form
// (z_{1-alpha/2} + z_power) sqrt(2p(1-p)(1-rho)/n). It is optimistic for few
// cases.
func (pp PairedProportions) NormalMDE(n int, alpha, power float64) (float64, error) {
	if err := pp.check(n, alpha, power); err != nil {
		return 0, err
	}
	return detectable(alpha, power) * math.Sqrt(pp.Discordance()/float64(n)), nil
}

// CasesFor is the number of cases for which NormalMDE is at most a difference.
func (pp PairedProportions) CasesFor(difference, alpha, power float64) (int, error) {
	if err := pp.check(1, alpha, power); err != nil {
		return 0, err
	}
	if !(difference > 0 && difference <= 1) {
		return 0, fmt.Errorf("power: difference %v, want above 0 and at most 1", difference)
	}
	z := detectable(alpha, power)
	n := math.Ceil(z * z * pp.Discordance() / (difference * difference) * (1 - 1e-12))
	if n > maxCount {
		return 0, fmt.Errorf("power: a difference of %v takes more than %d cases", difference, maxCount)
	}
	return max(1, int(n)), nil
}

// detectable is z_{1-alpha/2} + z_power.
func detectable(alpha, power float64) float64 {
	return normalQuantile(1-alpha/2) + normalQuantile(power)
}

// ExactPower is the power of the exact two-sided sign test to see a difference
// of rates in n cases: the number of cases that differ is Bin(n, discordance),
// and each of those is a win with probability (1 + difference/discordance)/2.
// The difference is at most the discordance.
func (pp PairedProportions) ExactPower(n int, difference, alpha float64) (float64, error) {
	if err := pp.check(n, alpha, 0.5); err != nil {
		return 0, err
	}
	if !(difference >= 0 && difference <= pp.Discordance()) {
		return 0, fmt.Errorf("power: difference %v, want 0 to the discordance %v", difference, pp.Discordance())
	}
	return newSignPower(n, pp.Discordance(), alpha).at(difference), nil
}

// ExactMDE is the smallest difference that the exact sign test detects with a
// power. Few cases cannot reach it even if all that differ are wins; possible
// is false then and the difference the discordance, the largest there is.
func (pp PairedProportions) ExactMDE(n int, alpha, power float64) (difference float64, possible bool, err error) {
	if err := pp.check(n, alpha, power); err != nil {
		return 0, false, err
	}
	most := pp.Discordance()
	s := newSignPower(n, most, alpha)
	if s.at(most) < power {
		return most, false, nil
	}
	return bisect(0, most, func(x float64) bool { return s.at(x) < power }), true, nil
}

// SmallestAttainable is the smallest observed difference of rates in n cases
// that an exact two-sided sign test at level alpha can call significant: all
// of the fewest discordant cases on one side, 6/n for alpha = .05. False if
// even n of n are not enough.
func SmallestAttainable(n int, alpha float64) (difference float64, possible bool, err error) {
	if n < 1 || n > maxCount {
		return 0, false, fmt.Errorf("power: %d cases, want 1 to %d", n, maxCount)
	}
	if err := checkShare("power: alpha", alpha); err != nil {
		return 0, false, err
	}
	fewest := 1
	for p := 1.0; p > alpha*(1+1e-12); p /= 2 {
		fewest++
	}
	return float64(fewest) / float64(n), fewest <= n, nil
}

// signPower knows which splits of m discordant cases the sign test rejects.
type signPower struct {
	discordance float64
	first       int       // smallest m that occurs
	share       []float64 // of m = first, first+1, ...
	critical    []int     // the test rejects min(w, m-w) <= critical; -1: never
}

func newSignPower(n int, discordance, alpha float64) signPower {
	mean, sd := float64(n)*discordance, math.Sqrt(float64(n)*discordance*(1-discordance))
	s := signPower{discordance: discordance, first: max(0, int(mean-12*sd)-20)}
	last := min(n, int(mean+12*sd)+20)
	critical := -1
	for m := s.first; m <= last; m++ {
		if m == s.first {
			for critical+1 <= m/2 && 2*binomialLower(critical+1, m, 0.5) <= alpha {
				critical++
			}
		} else { // one more case moves the limit by one at most
			for critical >= 0 && 2*binomialLower(critical, m, 0.5) > alpha {
				critical--
			}
			for critical+1 <= m/2 && 2*binomialLower(critical+1, m, 0.5) <= alpha {
				critical++
			}
		}
		s.share = append(s.share, binomialPMF(m, n, discordance))
		s.critical = append(s.critical, critical)
	}
	return s
}

func (s signPower) at(difference float64) float64 {
	win := min(1, (1+difference/s.discordance)/2)
	power := 0.0
	for i, share := range s.share {
		m, critical := s.first+i, s.critical[i]
		if critical < 0 {
			continue
		}
		reject := binomialLower(critical, m, win) + binomialLower(critical, m, 1-win)
		power += float64(share * min(1, reject))
	}
	return min(1, power)
}
