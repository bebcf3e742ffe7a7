package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// Span is where a passage lies in its document's text.
type Span struct {
	ID         string
	Start, End int // byte offsets, End exclusive
}

// Spans returns the passages of documents in order, by document id. Documents
// that are absent or have no passage are left out.
func (s *Store) Spans(ctx context.Context, ids ...string) (map[string][]Span, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, `
		SELECT d.id, c.id, c.start_byte, c.end_byte FROM documents d JOIN chunks c USING (document)
		WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY c.document, c.ordinal`, string(list))
	if err != nil {
		return nil, fmt.Errorf("store %s: read spans: %w", s.path, err)
	}
	defer rows.Close()
	out := map[string][]Span{}
	for rows.Next() {
		var document string
		var span Span
		if err := rows.Scan(&document, &span.ID, &span.Start, &span.End); err != nil {
			return nil, fmt.Errorf("store %s: read spans: %w", s.path, err)
		}
		out[document] = append(out[document], span)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store %s: read spans: %w", s.path, err)
	}
	return out, nil
}
