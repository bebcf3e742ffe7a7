package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// verify reads every segment file of the index and compares it with the
// checksum at its end, which bleve writes and never reads: of a file with a
// changed byte it makes a panic, or another ranking.
func (x *Index) verify() (err error) {
	advanced, err := x.bleve.Advanced()
	if err != nil {
		return err
	}
	reader, err := advanced.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	snapshot, ok := reader.(*scorch.IndexSnapshot)
	if !ok {
		return fmt.Errorf("an index of another kind, %T", reader)
	}
	for _, s := range snapshot.Segments() {
		file, ok := s.Segment().(interface{ Path() string })
		if !ok {
			return fmt.Errorf("segment %d is not on disk", s.Id())
		}
		if err := verifyFile(file.Path()); err != nil {
			return err
		}
	}
	return nil
}

// verifyFile checks what zapx writes last: the CRC-32 of all that is before.
func verifyFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	body := max(len(data)-4, 0)
	if len(data) < 4 || crc32.ChecksumIEEE(data[:body]) != binary.BigEndian.Uint32(data[body:]) {
		return fmt.Errorf("%s is damaged: its checksum differs", path)
	}
	return nil
}
