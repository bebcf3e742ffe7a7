// Package toy is a module with one small suite.
package toy
