package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// Label is what a document says about itself beside its text.
type Label struct {
	Source string
	Title  string
	Date   string // as given
}

// Labels returns the labels of documents by id. One that is absent is an error
// that wraps [ErrNotFound].
func (s *Store) Labels(ctx context.Context, ids ...string) (map[string]Label, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, `
		SELECT d.id, s.name, d.title, d.date FROM documents d JOIN sources s USING (source)
		WHERE d.id IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return nil, fmt.Errorf("store %s: read labels: %w", s.path, err)
	}
	defer rows.Close()
	out := make(map[string]Label, len(ids))
	for rows.Next() {
		var id string
		var l Label
		if err := rows.Scan(&id, &l.Source, &l.Title, &l.Date); err != nil {
			return nil, fmt.Errorf("store %s: read labels: %w", s.path, err)
		}
		out[id] = l
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store %s: read labels: %w", s.path, err)
	}
	for _, id := range ids {
		if _, ok := out[id]; !ok {
			return nil, fmt.Errorf("store %s: document %q: %w", s.path, id, ErrNotFound)
		}
	}
	return out, nil
}
