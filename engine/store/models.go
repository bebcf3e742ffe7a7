package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/touchstone-eval/touchstone/engine/embed"
)

// ModelDigest identifies a space of vectors: SHA-256 over everything that the
// model says about itself, hex. Vectors with different digests must never be
// compared.
func ModelDigest(info embed.Info) string {
	sum := sha256.Sum256(infoJSON(info))
	return hex.EncodeToString(sum[:])
}

func infoJSON(info embed.Info) []byte {
	data, err := json.Marshal(info)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return data
}

func modelRow(ctx context.Context, tx *sql.Tx, info embed.Info) (int64, error) {
	return rowFor(ctx, tx, `INSERT INTO models (digest, info) VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET digest = digest RETURNING model`,
		ModelDigest(info), string(infoJSON(info)))
}

// Models returns the models that made the vectors in the store, in the order
// of their digests.
func (s *Store) Models(ctx context.Context) ([]embed.Info, error) {
	list, err := texts(s.read.QueryContext(ctx, `
		SELECT info FROM models WHERE EXISTS (SELECT 1 FROM vectors WHERE vectors.model = models.model) ORDER BY digest`))
	if err != nil {
		return nil, fmt.Errorf("store %s: read the models: %w", s.path, err)
	}
	var models []embed.Info
	for _, text := range list {
		var info embed.Info
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			return nil, fmt.Errorf("store %s: model %q: %w", s.path, text, err)
		}
		models = append(models, info)
	}
	return models, nil
}
