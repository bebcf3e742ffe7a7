package engine

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"github.com/touchstone-eval/touchstone/engine/chunk"
	models "github.com/touchstone-eval/touchstone/engine/embed"
	"github.com/touchstone-eval/touchstone/engine/enrich"
	"github.com/touchstone-eval/touchstone/engine/lexical"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// ingestFiles are the files of this package that an ingest goes through. The
// others search.
//
//go:embed ingest.go write.go backfill.go lexical.go
var ingestFiles embed.FS

// IngestSource is SHA-256, hex, of the source of each part of the ingest, by
// its name: chunk, embed, enrich, lexical, store, and ingest for what joins
// them. The source is that which this binary was built from, so it cannot be
// another one than what ran: files on disk may have been edited since.
//
// Tests and documentation files are left out. A changed comment counts.
func IngestSource() map[string]string {
	out := map[string]string{}
	for name, files := range map[string]fs.FS{
		"chunk": chunk.Source, "embed": models.Source, "enrich": enrich.Source,
		"lexical": lexical.Source, "store": store.Source, "ingest": ingestFiles,
	} {
		out[name] = sourceHash(files)
	}
	return out
}

func sourceHash(files fs.FS) string {
	h := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "doc.go") {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%d:%s%d:", len(path), path, len(data))
		h.Write(data)
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return hex.EncodeToString(h.Sum(nil))
}
