package evaltests

// Readiness says whether a loaded suite would be measured here.
type Readiness struct {
	NotRun  string // why it would not be run, by design: another tier, a pack that is elsewhere
	Problem string // why it could not be measured
	Action  string // what to do about the problem
}

// Ready tells what [Evaluate] would find, without a subject.
func (s *Suite) Ready() Readiness {
	r := Readiness{NotRun: s.notRun}
	if s.problem != nil {
		r.Problem, r.Action = s.problem.reason, s.problem.action
	}
	return r
}

// Planned is how many cases the plan has, and how many calls this process
// would make of them: of a shard its own, repeats counted.
func (s *Suite) Planned() (cases, calls int) {
	plan, whole := s.planned()
	cases = len(plan)
	if whole != nil {
		cases = len(whole)
	}
	return cases, len(s.calls())
}
