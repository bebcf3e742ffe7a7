package trec

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"sync/atomic"
)

// hitLog keeps the hits of one question in reading order: length of the id,
// id, score; in blocks, so that growing copies nothing.
type hitLog struct {
	blocks [][]byte
	hits   int
}

const (
	firstBlock = 128
	lastBlock  = 8 << 10
)

func (l *hitLog) add(id []byte, score float64) {
	need := binary.MaxVarintLen64 + len(id) + 8
	at := len(l.blocks) - 1
	if at < 0 || cap(l.blocks[at])-len(l.blocks[at]) < need {
		size := firstBlock
		if at >= 0 {
			size = min(2*cap(l.blocks[at]), lastBlock)
		}
		l.blocks = append(l.blocks, make([]byte, 0, max(size, need)))
		at++
	}
	b := binary.AppendUvarint(l.blocks[at], uint64(len(id)))
	b = append(b, id...)
	l.blocks[at] = binary.LittleEndian.AppendUint64(b, math.Float64bits(score))
	l.hits++
}

// unpack lists the hits; the ids point into the log.
func (l *hitLog) unpack(g *group) {
	g.ids, g.scores = g.ids[:0], g.scores[:0]
	for _, b := range l.blocks {
		for len(b) > 0 {
			n, k := binary.Uvarint(b)
			end := k + int(n)
			g.ids = append(g.ids, b[k:end:end])
			g.scores = append(g.scores, math.Float64frombits(binary.LittleEndian.Uint64(b[end:])))
			b = b[end+8:]
		}
	}
}

// scattered measures a run whose questions do not stand together: it reads all
// of it, then measures on all cores.
func (e *evaluation) scattered(path string) error {
	*e = evaluation{plan: e.plan, golds: e.golds}
	logs, err := e.readAll(path)
	if err != nil {
		return err
	}
	questions := slices.Sorted(maps.Keys(logs))
	var next atomic.Int64
	return e.onAllCores(func(s *scorer) error {
		var g group
		for {
			i := int(next.Add(1)) - 1
			if i >= len(questions) {
				return nil
			}
			logs[questions[i]].unpack(&g)
			if err := e.measure(s, questions[i], g.ids, g.scores); err != nil {
				return err
			}
		}
	})
}

func (e *evaluation) readAll(path string) (map[string]*hitLog, error) {
	r, done, err := open(path)
	if err != nil {
		return nil, err
	}
	defer done()
	source := &chunks{r: r, size: chunkSize}
	logs := make(map[string]*hitLog)
	var buf []byte
	var g group
	for {
		p, ok, err := source.next(&buf)
		if err != nil {
			return nil, err
		}
		if !ok {
			return logs, nil
		}
		tag, err := eachGroup(p, &g, func(g *group) error {
			l := logs[string(g.question)]
			if l == nil {
				l = new(hitLog)
				logs[string(g.question)] = l
			}
			for i, id := range g.ids {
				l.add(id, g.scores[i])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if tag != nil {
			e.tag = string(tag)
		}
	}
}
