// Package dense ranks passages by the exact cosine between their vectors and a
// question's vector, all in memory.
//
// It decides the order: by cosine, higher first, then by id. The order does
// not depend on how the vectors got in, on the number of processors, or on
// whether the processor fuses multiply and add: a product of two float32 is
// exact in float64, and it is summed in a fixed order.
//
// It refuses vectors of another length than its own and numbers that are not
// finite. A zero vector has no direction, so no cosine: such a passage is kept
// and counted, but never ranked.
package dense
