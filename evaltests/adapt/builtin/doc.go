// Package builtin makes the engine of this repository a subject of the suite.
//
// It is the only library package of the instrument that imports the engine:
// an adopter who brings another engine never builds it.
package builtin
