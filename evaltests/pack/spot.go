package pack

import (
	"fmt"
	"strconv"
	"strings"
)

// spot is a place in eight bytes: a corpus of millions of documents has as
// many places.
type spot struct{ file, line int32 }

// spots remembers where each of a list of things came from.
type spots struct {
	files []string
	known map[string]int32
	at    []spot
}

// add takes a place as place and jsonValue.place make them: file:line.
func (s *spots) add(place string) { s.at = append(s.at, s.spot(place)) }

func (s *spots) spot(place string) spot {
	file, line := place, 0
	if i := strings.LastIndexByte(place, ':'); i >= 0 {
		if n, err := strconv.Atoi(place[i+1:]); err == nil {
			file, line = place[:i], n
		}
	}
	i, ok := s.known[file]
	if !ok {
		if s.known == nil {
			s.known = map[string]int32{}
		}
		file = strings.Clone(file)
		i = int32(len(s.files))
		s.known[file], s.files = i, append(s.files, file)
	}
	return spot{i, int32(line)}
}

func (s *spots) place(i int) string { return s.text(s.at[i]) }

func (s *spots) text(at spot) string {
	if at.line == 0 {
		return s.files[at.file]
	}
	return fmt.Sprintf("%s:%d", s.files[at.file], at.line)
}
