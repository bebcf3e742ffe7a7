package stage

// JudgeCounts judges transitions of given wins and losses together, as if each
// moved case had moved by 1, of n cases.
func JudgeCounts(n int, counts ...[2]int) ([]Transition, error) {
	r := Report{Alpha: defaultAlpha, Margin: defaultMargin}
	differences := make([][]float64, len(counts))
	for i, c := range counts {
		d := make([]float64, n)
		for j := range c[0] {
			d[j] = 1
		}
		for j := range c[1] {
			d[c[0]+j] = -1
		}
		differences[i] = d
		r.Transitions = append(r.Transitions, Transition{N: n, Wins: c[0], Losses: c[1], Ties: n - c[0] - c[1]})
	}
	return r.Transitions, r.judge(differences)
}
