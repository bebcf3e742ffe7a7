package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// RareDocuments is the most documents that an entity may occur in and still
// link them: what many speak of says little about any two.
const RareDocuments = 5

// Link is why one document leads to another. A shared entity links both ways;
// a reference does too, for who is pointed at is as close as who points.
type Link struct {
	From, To string // document ids
	Via      string // the entity, or the kind of reference
	Weight   float64
}

// resolved are references with the one document that they mean. A name that
// several documents bear leads nowhere, unless it is the id of one of them.
const resolved = `document_references r JOIN names n ON n.name = r.target AND NOT EXISTS (
	SELECT 1 FROM names o WHERE o.name = n.name AND o.document <> n.document AND o.alias <= n.alias)`

var countLinks = fmt.Sprintf(`
	SELECT (SELECT coalesce(sum(documents * (documents - 1) / 2), 0) FROM entities WHERE documents BETWEEN 2 AND %d)
	     + (SELECT count(*) FROM (SELECT DISTINCT r.document, n.document FROM %s WHERE r.document <> n.document))`, RareDocuments, resolved)

var anyLink = fmt.Sprintf(`
	SELECT EXISTS (SELECT 1 FROM entities WHERE documents BETWEEN 2 AND %d)
	    OR EXISTS (SELECT 1 FROM %s WHERE r.document <> n.document)`, RareDocuments, resolved)

// Links returns the links of documents, ordered by the document's place in
// ids, then by the other's id and the reason.
func (s *Store) Links(ctx context.Context, ids ...string) ([]Link, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, `
		WITH seeds AS (SELECT j.key AS place, d.document, d.id FROM json_each(?1) j JOIN documents d ON d.id = j.value)
		SELECT s.place, s.id, d.id, 'entity ' || e.kind || ' ' || e.name, 1.0 / e.documents
		FROM seeds s JOIN mentions a ON a.document = s.document JOIN entities e ON e.entity = a.entity
		JOIN mentions b ON b.entity = e.entity AND b.document <> a.document JOIN documents d ON d.document = b.document
		WHERE e.documents BETWEEN 2 AND ?2
		UNION
		SELECT s.place, s.id, d.id, 'reference to', 1.0
		FROM seeds s CROSS JOIN `+resolved+` JOIN documents d ON d.document = n.document
		WHERE r.document = s.document AND n.document <> r.document
		UNION
		SELECT s.place, s.id, d.id, 'reference from', 1.0
		FROM seeds s CROSS JOIN `+resolved+` JOIN documents d ON d.document = r.document
		WHERE n.document = s.document AND n.document <> r.document
		ORDER BY 1, 3, 4`, string(list), RareDocuments)
	if err != nil {
		return nil, fmt.Errorf("store %s: read links: %w", s.path, err)
	}
	defer rows.Close()
	var out []Link
	for rows.Next() {
		var l Link
		var place int
		if err := rows.Scan(&place, &l.From, &l.To, &l.Via, &l.Weight); err != nil {
			return nil, fmt.Errorf("store %s: read links: %w", s.path, err)
		}
		out = append(out, l)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store %s: read links: %w", s.path, err)
	}
	return out, nil
}

// enumerateLinks meets every link at both of its ends, and counts it at one.
func (s *Store) enumerateLinks(ctx context.Context) (int, error) {
	ids, err := texts(s.read.QueryContext(ctx, `SELECT id FROM documents`))
	if err != nil {
		return 0, fmt.Errorf("store %s: enumerate links: %w", s.path, err)
	}
	n := 0
	for part := range slices.Chunk(ids, 200) {
		links, err := s.Links(ctx, part...)
		if err != nil {
			return 0, err
		}
		for _, l := range links {
			if l.Via == "reference to" || l.Via != "reference from" && l.From < l.To {
				n++
			}
		}
	}
	return n, nil
}
