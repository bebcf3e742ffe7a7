package folder

import (
	"context"
	"fmt"

	"github.com/touchstone-eval/touchstone/engine"
)

// Question is what is asked of an [Index].
type Question struct {
	Text    string
	K       int  // most files to return, at least 1
	Explain bool // also say how each hit's scores came about
}

// Answer is a ranking of files.
type Answer struct {
	Question string  `json:"question"`
	Hits     []Hit   `json:"hits"`
	Stages   []Stage `json:"stages"`
}

// Hit is a file, shown by its best passage.
type Hit struct {
	Rank    int         `json:"rank"` // from 1
	Path    string      `json:"path"`
	Title   string      `json:"title"`
	Date    string      `json:"date"`
	Score   float64     `json:"score"` // of the final stage
	Snippet []Span      `json:"snippet"`
	Ranks   []StageRank `json:"ranks"` // of the passage in each stage that was executed, in their order
	Explain string      `json:"explain,omitempty"`
	Passage string      `json:"-"` // whole
}

// Stage is what one stage of the search did.
type Stage struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Hits   int    `json:"hits"`  // passages that it handed on
	Total  int    `json:"total"` // passages that it could have handed on
	Micros int64  `json:"micros"`
}

// StageRank is the place of a passage in a stage.
type StageRank struct {
	Stage string  `json:"stage"`
	Rank  int     `json:"rank"` // from 1; 0 if the stage has it not
	Score float64 `json:"score"`
}

// Search asks the engine, and fetches what a reader needs of each hit. Any
// text is a valid question.
func (x *Index) Search(ctx context.Context, q Question) (*Answer, error) {
	r, err := x.engine.Search(ctx, engine.Query{Text: q.Text, K: q.K, Unit: engine.UnitDocument, Explain: q.Explain})
	if err != nil {
		return nil, err
	}
	a := &Answer{Question: q.Text, Hits: []Hit{}}
	for _, s := range r.Stages {
		a.Stages = append(a.Stages, Stage{Name: s.Name, State: string(s.State), Reason: s.Reason, Hits: len(s.Hits), Total: s.Total, Micros: s.Latency.Microseconds()})
	}
	var chunks, documents []string
	for _, h := range r.Hits {
		chunks, documents = append(chunks, h.ChunkID), append(documents, h.DocumentID)
	}
	passages, err := x.store.Passages(ctx, chunks...)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	labels, err := x.store.Labels(ctx, documents...)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	for i, h := range r.Hits {
		hit := Hit{Rank: i + 1, Path: h.DocumentID, Title: passages[i].Title, Date: labels[h.DocumentID].Date, Score: h.Score,
			Snippet: Snippet(q.Text, passages[i].Text), Explain: h.Explain, Passage: passages[i].Text}
		for _, s := range r.Stages {
			if s.State == engine.Executed {
				hit.Ranks = append(hit.Ranks, rankIn(s, h.ChunkID))
			}
		}
		a.Hits = append(a.Hits, hit)
	}
	return a, nil
}

func rankIn(s engine.Stage, chunk string) StageRank {
	at := StageRank{Stage: s.Name}
	for i, h := range s.Hits {
		if h.ChunkID == chunk {
			at.Rank, at.Score = i+1, h.Score
			break
		}
	}
	return at
}
