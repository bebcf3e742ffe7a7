//go:build amd64 && amd64.v2 && !amd64.v3

package record

const archLevel = "v2"
