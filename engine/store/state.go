package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// State says which writes a store, or an index made from it, has seen. Equal
// states mean the same writes in the same order.
type State struct {
	Sequence int64  // number of writes
	Chain    string // hash over what was written and the Chain before it, hex
}

// String is a form that fits into one line of an index's own notes.
func (s State) String() string { return fmt.Sprintf("%d:%s", s.Sequence, s.Chain) }

// State returns the state after the last complete write.
func (s *Store) State(ctx context.Context) (State, error) {
	state, err := readState(ctx, s.read)
	if err != nil {
		return State{}, fmt.Errorf("store %s: read the state: %w", s.path, err)
	}
	return state, nil
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func readState(ctx context.Context, q querier) (State, error) {
	var s State
	err := q.QueryRowContext(ctx, `
		SELECT CAST((SELECT value FROM meta WHERE key = 'sequence') AS INTEGER), value
		FROM meta WHERE key = 'chain'`).Scan(&s.Sequence, &s.Chain)
	if errors.Is(err, sql.ErrNoRows) {
		return State{}, nil // nothing was ever written
	}
	return s, err
}

func advance(ctx context.Context, tx *sql.Tx, digest string) (State, error) {
	s, err := readState(ctx, tx)
	if err != nil {
		return State{}, err
	}
	sum := sha256.Sum256([]byte(s.Chain + "\n" + digest))
	s = State{Sequence: s.Sequence + 1, Chain: hex.EncodeToString(sum[:])}
	if err := setMeta(ctx, tx, "sequence", strconv.FormatInt(s.Sequence, 10)); err != nil {
		return State{}, err
	}
	return s, setMeta(ctx, tx, "chain", s.Chain)
}

func setMeta(ctx context.Context, tx *sql.Tx, key, value string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
	return err
}

// Meta returns the value noted under key, and whether there is one.
func (s *Store) Meta(ctx context.Context, key string) (value string, ok bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("store %s: read the note %q: %w", s.path, key, err)
	}
	return value, true, nil
}

// SetMeta notes a value under key. It is not a write in the sense of [State].
func (s *Store) SetMeta(ctx context.Context, key, value string) error {
	return s.quietly(ctx, fmt.Sprintf("note %q", key), func(tx *sql.Tx) error { return setMeta(ctx, tx, key, value) })
}

// ReadMeta reads a note of the file at path whatever version of this package
// wrote it, over a read-only connection.
func ReadMeta(ctx context.Context, path, key string) (value string, ok bool, err error) {
	s := &Store{path: path, readOnly: true, read: openPool(path, "mode=ro", "_query_only=1")}
	value, ok, err = s.Meta(ctx, key)
	return value, ok, errors.Join(err, s.Close())
}
