//go:build !amd64

package record

const archLevel = ""
