package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-eval/touchstone/engine"
	"github.com/touchstone-eval/touchstone/engine/store"
)

// readerVersion changes whenever files would be read otherwise than before, so
// that unchanged ones are read again.
const readerVersion = "1"

// Meta values of a document, by which an unchanged file is told.
const (
	metaSize   = "file.bytes"
	metaSHA    = "file.sha256"
	metaReader = "file.reader"
)

// Most documents and bytes of text that are embedded before the next look at
// the context. They bound what Ctrl-C has to wait for, and the memory.
const (
	batchDocuments = 100
	batchBytes     = 1 << 20
)

// Progress is how far a [Index.Sync] has come.
type Progress struct {
	Files, AllFiles int // looked at, of those found
	Bytes, AllBytes int64
	Read            int // files that were new or changed, and are now in the index
}

// Report is what a [Index.Sync] did. Every file found is counted once, in New,
// Changed, Unchanged or Skips, as long as the sync came to its end.
type Report struct {
	New       int `json:"new"`
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
	Removed   int `json:"removed"` // documents whose file is gone, or is not readable any more
	Passages  int `json:"passages"`
	Truncated int `json:"truncated"` // passages of which the model read the beginning only
	Hidden    int `json:"hidden"`    // names with a dot before; not looked into
	Documents int `json:"documents"` // in the index, after the sync

	Skips    []Skip `json:"skipped"` // files that are not in the index
	Warnings []Skip `json:"warnings"`
}

// Sync brings the index up to the folder: new and changed files are read,
// those whose size and SHA-256 are in the index are not, and documents whose
// file is gone, or cannot be read any more, are removed.
//
// When ctx ends, or the process is killed, the index is consistent and holds
// every document of which the report, or progress, said so; the next Sync goes
// on from there. A folder in which no file is found any more is an error while
// the index holds documents: most likely it is not mounted.
func (x *Index) Sync(ctx context.Context, progress func(Progress)) (Report, error) {
	r := Report{Skips: []Skip{}, Warnings: []Skip{}}
	root, err := os.OpenRoot(x.dir)
	if err != nil {
		return r, fmt.Errorf("folder %s: %w", x.dir, reason(err))
	}
	defer root.Close()
	found, err := Walk(ctx, root, x.inside())
	if err != nil {
		return r, fmt.Errorf("folder %s: %w", x.dir, reason(err))
	}
	r.Skips, r.Hidden = append(r.Skips, found.Skips...), found.Hidden
	known, err := x.paths(ctx)
	if err != nil {
		return r, err
	}
	if before, err := x.Documents(ctx); err != nil {
		return r, err
	} else if len(found.Files) == 0 && before > 0 {
		return r, fmt.Errorf("folder %s: holds no file to read, while %d are indexed: is it mounted? if they are all gone, remove %s", x.dir, before, x.at)
	}
	// Noted before they are stored: what is stored and not noted could never
	// be removed.
	listed := make([]string, len(found.Files))
	for i, f := range found.Files {
		listed[i] = f.Path
	}
	known = union(known, listed)
	if err := x.setPaths(ctx, known); err != nil {
		return r, err
	}
	s := update{index: x, root: root, report: &r, progress: progress, kept: map[string]bool{}}
	for _, f := range found.Files {
		s.at.AllFiles++
		s.at.AllBytes += f.Size
	}
	err = s.files(ctx, found.Files)
	if err == nil {
		err = s.remove(ctx, known)
	}
	slices.SortStableFunc(r.Skips, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	var countErr error
	r.Documents, countErr = x.Documents(context.WithoutCancel(ctx))
	return r, errors.Join(err, countErr)
}

// update is one [Index.Sync] at work.
type update struct {
	index    *Index
	root     *os.Root
	report   *Report
	progress func(Progress)
	at       Progress
	kept     map[string]bool // paths that are in the index by now

	batch []engine.Document
	isNew []bool
	bytes int
}

func (s *update) files(ctx context.Context, files []File) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.file(ctx, f); err != nil {
			return err
		}
		if len(s.batch) >= batchDocuments || s.bytes >= batchBytes {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
		s.at.Files++
		s.at.Bytes += f.Size
		s.tell()
	}
	return s.flush(ctx)
}

func (s *update) tell() {
	if s.progress != nil {
		s.progress(s.at)
	}
}

func (s *update) skip(path string, err error) {
	s.report.Skips = append(s.report.Skips, Skip{path, err.Error()})
}

// file puts a file into the batch unless it is in the index already.
func (s *update) file(ctx context.Context, f File) error {
	data, err := read(s.root, f, s.index.maxBytes)
	if err != nil {
		s.skip(f.Path, err)
		return nil
	}
	d, err := Document(f, data)
	if err != nil {
		s.skip(f.Path, err)
		return nil
	}
	sum := sha256.Sum256(data)
	d.Meta = map[string]string{metaSize: strconv.Itoa(len(data)), metaSHA: hex.EncodeToString(sum[:]), metaReader: readerVersion}
	stored, err := s.index.store.Document(ctx, d.ID)
	isNew := errors.Is(err, store.ErrNotFound)
	if err != nil && !isNew {
		return err
	}
	if !isNew && same(stored.Meta, d.Meta) {
		s.report.Unchanged++
		s.kept[f.Path] = true
		return nil
	}
	s.batch, s.isNew = append(s.batch, d), append(s.isNew, isNew)
	s.bytes += len(d.Text)
	return nil
}

func same(a, b map[string]string) bool {
	return a[metaSize] == b[metaSize] && a[metaSHA] == b[metaSHA] && a[metaReader] == b[metaReader]
}

// flush stores the batch. An ingest that is cut short stores the beginning of
// it, and says how much.
func (s *update) flush(ctx context.Context) error {
	if len(s.batch) == 0 {
		return nil
	}
	done, err := s.index.engine.Ingest(ctx, s.batch...)
	for i := range done.Documents {
		s.kept[s.batch[i].ID] = true
		if s.isNew[i] {
			s.report.New++
		} else {
			s.report.Changed++
		}
	}
	s.at.Read += done.Documents
	s.report.Passages += done.Chunks
	s.report.Truncated += len(done.Truncated)
	for _, k := range done.Skipped {
		if k.Step == "embed" || k.Step == "chunk" { // the others concern channels that are off
			s.report.Warnings = append(s.report.Warnings, Skip{k.DocumentID, k.Step + ": " + k.Reason})
		}
	}
	s.batch, s.isNew, s.bytes = s.batch[:0], s.isNew[:0], 0
	if err == nil {
		s.tell()
	}
	return err
}

// removeBatch is how many documents are removed in one transaction.
const removeBatch = 200

// remove takes out of the index what is known and was not kept.
func (s *update) remove(ctx context.Context, known []string) error {
	var gone []string
	for _, path := range known {
		if s.kept[path] {
			continue
		}
		_, err := s.index.store.Document(ctx, path)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		gone = append(gone, path)
	}
	for part := range slices.Chunk(gone, removeBatch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.index.engine.Delete(ctx, part...); err != nil {
			return err
		}
		s.report.Removed += len(part)
	}
	kept := make([]string, 0, len(s.kept))
	for path := range s.kept {
		kept = append(kept, path)
	}
	slices.Sort(kept)
	return s.index.setPaths(ctx, kept)
}
