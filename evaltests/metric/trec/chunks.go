package trec

import (
	"bytes"
	"io"
	"sync"
)

// chunks cuts a file into pieces that hold whole questions, as long as the
// lines of a question stand together. Several workers may take pieces; memory
// is theirs, and does not grow with the file.
type chunks struct {
	mu    sync.Mutex
	r     io.Reader
	size  int    // of a piece, unless a question is longer
	carry []byte // read already, belongs to the next piece
	taken int
	ended bool
	err   error
}

const (
	chunkSize = 1 << 20
	// slack follows each piece, so that eight bytes may be read at once from
	// any place in it. It starts with a line end.
	slack = 16
)

// piece is a part of a file: whole lines, the last of which may lack its end.
type piece struct {
	data  []byte // of the buffer, followed there by a line end and zeros
	index int    // 0 for the first
}

// next reads a piece into buf, which it may replace by a larger one; false at
// the end. After an error there are no more pieces.
func (c *chunks) next(buf *[]byte) (piece, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.ended {
		return piece{}, false, c.err
	}
	if need := max(c.size, len(c.carry)) + slack; len(*buf) < need {
		*buf = make([]byte, need)
	}
	n := copy(*buf, c.carry)
	c.carry = c.carry[:0]
	for {
		m, err := readUpTo(c.r, (*buf)[n:len(*buf)-slack])
		n += m
		if err == io.EOF {
			c.ended = true
			return c.cut(*buf, n, n), n > 0, nil
		}
		if err != nil {
			c.err = err
			return piece{}, false, err
		}
		if n-bytes.LastIndexByte((*buf)[:n], '\n')-1 > maxLine+len(byteOrderMark) {
			c.err = errStrict // before a line without an end takes all memory
			return piece{}, false, c.err
		}
		if end := wholeQuestions((*buf)[:n]); end > 0 {
			return c.cut(*buf, end, n), true, nil
		}
		larger := make([]byte, 2*len(*buf))
		copy(larger, (*buf)[:n])
		*buf = larger
	}
}

// readUpTo fills buf, or reads to the end and gives io.EOF. Unlike io.ReadFull
// it does not take a gzip file that is cut short, which ends with
// io.ErrUnexpectedEOF, for one that has ended.
func readUpTo(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	if n == len(buf) {
		return n, nil
	}
	return n, err
}

// cut keeps what follows end for the next piece.
func (c *chunks) cut(buf []byte, end, n int) piece {
	c.carry = append(c.carry, buf[end:n]...)
	clear(buf[end : end+slack])
	buf[end] = '\n'
	p := piece{buf[:end], c.taken}
	c.taken++
	if p.index == 0 {
		p.data = bytes.TrimPrefix(p.data, byteOrderMark)
	}
	return p
}

// stop lets the workers run out of pieces.
func (c *chunks) stop() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
}

// wholeQuestions is the length of data without its last question, whose lines
// may go on beyond it; 0 if there is only one. Lines without content are whole.
func wholeQuestions(data []byte) int {
	end := bytes.LastIndexByte(data, '\n') + 1
	whole := end
	var last []byte // the last question
	for end > 0 {
		start := bytes.LastIndexByte(data[:end-1], '\n') + 1
		line := data[start : end-1]
		if !skipped(line) {
			q := firstField(line)
			if last == nil {
				last = q
			} else if !bytes.Equal(q, last) {
				return end
			}
		}
		end = start
	}
	if last == nil {
		return whole
	}
	return 0
}

func firstField(line []byte) []byte {
	line = bytes.TrimLeft(line, " \t\v\f\r")
	for i, c := range line {
		if blank(c) {
			return line[:i]
		}
	}
	return line
}
