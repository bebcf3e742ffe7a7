package store

import "embed"

// Source is the Go source of this package and its migrations as they were
// built: what is ingested depends on them.
//
//go:embed *.go migrations/*.sql
var Source embed.FS
