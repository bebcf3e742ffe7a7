package record

import "github.com/touchstone-eval/touchstone/evaltests/digest"

// TreatmentHash names an effective configuration. The marks of defaults are no
// part of it: a default given explicitly is the same treatment.
func TreatmentHash(config map[string]Set) (string, error) {
	values := map[string]any{}
	for k, v := range config {
		values[k] = v.Value
	}
	return digest.Pairs("touchstone/treatment/1", values)
}
