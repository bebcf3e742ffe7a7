//go:build amd64 && amd64.v3 && !amd64.v4

package record

const archLevel = "v3"
