package stat

import "fmt"

// Decision is an answer that may still be open.
type Decision string

const (
	Passed       Decision = "PASS"
	Failed       Decision = "FAIL"
	Inconclusive Decision = "INCONCLUSIVE"
)

// Repeats decides a case that is run several times: passed as soon as at least
// need of the planned runs passed, failed as soon as that is out of reach,
// inconclusive while neither is so.
func Repeats(passed, failed, need, planned int) (Decision, error) {
	if err := checkCounts("repeats", passed, failed, need, planned); err != nil {
		return "", err
	}
	if planned < 1 || need < 1 || need > planned || passed+failed > planned {
		return "", fmt.Errorf("repeats: %d passed and %d failed, %d of %d wanted: want 1 <= wanted <= planned, and no more runs than planned", passed, failed, need, planned)
	}
	switch {
	case passed >= need:
		return Passed, nil
	case failed > planned-need:
		return Failed, nil
	}
	return Inconclusive, nil
}

// AgainstFloor compares an interval with the least value that is wanted: passed
// if all of it lies at or above, failed if all of it lies below, inconclusive
// if it straddles the floor.
func AgainstFloor(ci Interval, floor float64) (Decision, error) {
	if !(ci.Lo <= ci.Hi) || floor-floor != 0 || ci.Lo-ci.Lo != 0 || ci.Hi-ci.Hi != 0 {
		return "", fmt.Errorf("interval [%v, %v] against %v: want finite numbers in order", ci.Lo, ci.Hi, floor)
	}
	switch {
	case ci.Lo >= floor:
		return Passed, nil
	case ci.Hi < floor:
		return Failed, nil
	}
	return Inconclusive, nil
}
