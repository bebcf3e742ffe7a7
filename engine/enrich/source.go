package enrich

import "embed"

// Source is the Go source of this package as it was built: what is ingested
// depends on it.
//
//go:embed *.go
var Source embed.FS
