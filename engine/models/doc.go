// Package models puts the full models that engines can use in place, and
// proves that they are the ones that were meant.
//
// A lock file names every model: its kind, what it was made with, the SHA-256
// and size of every file, and the sources that are tried in order (a local
// folder, the hub, a Maven artifact). [Getter.Get] decides where a model comes
// from; [Verify] decides whether the files in place are those of the lock, and
// reads nothing but them.
//
// It refuses a file whose size or digest is not the lock's, whatever source it
// came from, and never leaves half a model: files are checked in a folder of
// their own, which is then renamed. A download that was cut off goes on where
// it stopped. It overwrites no folder that holds files the lock does not know.
package models
