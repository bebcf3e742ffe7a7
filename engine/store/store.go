package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

// Options say how a store is opened.
type Options struct {
	ReadOnly bool // never writes, migrates or creates
}

// Store is one SQLite file. It is safe for concurrent use; writes wait for
// each other, reads do not wait for writes.
type Store struct {
	path     string
	readOnly bool
	write    *sql.DB // one connection; nil when read-only
	read     *sql.DB
}

// Open opens the file at path, creates it if needed, and brings its tables up
// to date. With [Options.ReadOnly] a file that is absent or not up to date is
// an error.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	s := &Store{path: path, readOnly: opts.ReadOnly}
	if opts.ReadOnly {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("store %s: nothing to open read-only: %w", path, err)
		}
		s.read = openPool(path, "mode=ro", "_query_only=1")
		if err := migrate(ctx, s.read, path, true); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
	// NORMAL loses the last transactions when the machine loses power, and
	// none when the process dies; it never leaves a damaged file.
	s.write = openPool(path, "mode=rwc", "_journal_mode=WAL", "_synchronous=NORMAL", "_txlock=immediate")
	s.write.SetMaxOpenConns(1)
	if err := migrate(ctx, s.write, path, false); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.read = openPool(path, "mode=rw", "_query_only=1")
	return s, nil
}

// openPool never fails: database/sql connects at the first use.
func openPool(path string, params ...string) *sql.DB {
	params = append(params, "_busy_timeout=10000", "_foreign_keys=1")
	// The path becomes part of a URI, where these would end it or be decoded.
	path = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	db, err := sql.Open("sqlite3", "file:"+path+"?"+strings.Join(params, "&"))
	if err != nil {
		panic(err) // only for a driver that is not registered
	}
	db.SetMaxIdleConns(8)
	return db
}

// Close waits for running queries. A closed store refuses all calls.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} { // the writer last: it removes the write-ahead log
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Path is the file's name as given to [Open].
func (s *Store) Path() string { return s.path }

// update runs fn in a transaction and returns the state that the store is in
// after it. digest stands for what fn writes.
func (s *Store) update(ctx context.Context, what, digest string, fn func(*sql.Tx) error) (state State, err error) {
	err = s.quietly(ctx, what, func(tx *sql.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		state, err = advance(ctx, tx, digest)
		return err
	})
	return state, err
}

// quietly runs fn in a transaction that commits only if fn succeeds, and
// leaves the state alone.
func (s *Store) quietly(ctx context.Context, what string, fn func(*sql.Tx) error) error {
	if s.write == nil {
		return fmt.Errorf("store %s: %s: opened read-only", s.path, what)
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store %s: %s: %w", s.path, what, err)
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return fmt.Errorf("store %s: %s: %w", s.path, what, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store %s: %s: commit: %w", s.path, what, err)
	}
	return nil
}
