// Package stage says which step of a search a result comes from: what each
// step did to the cases of one recorded run, where wrong answers were lost, and
// which channels were of any use.
//
// It decides, from the recorded entries and gold alone, how a measure moved at
// each transition ([Transition]: every arm to the fusion, every later step, the
// best arm to the final list), whether that is more than chance (exact sign
// test, Holm over all transitions), and whether it was only a cut. Repeats of a
// case are averaged first, both sides of a transition are the same cases, and
// what is not significant carries the smallest difference that the run could
// have detected. [Check] holds a stage that should not have changed to the same
// stage of another run, case by case.
//
// It refuses a record that is not complete, measures that the recorded ones
// contradict, a run without stages, and a control stage that moved.
package stage
