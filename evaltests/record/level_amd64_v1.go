//go:build amd64 && amd64.v1 && !amd64.v2

package record

const archLevel = "v1"
