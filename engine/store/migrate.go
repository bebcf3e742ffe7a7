package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

type migration struct {
	number int
	name   string
	text   string
}

func (m migration) hash() string {
	sum := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(sum[:])
}

// migrations are in the order of their numbers, which have no gap.
var migrations = mustLoadMigrations(migrationFiles)

func mustLoadMigrations(files fs.FS) []migration {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted by name
	if err != nil {
		panic(err)
	}
	var out []migration
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		m := migration{name: strings.TrimPrefix(name, "migrations/"), text: string(text)}
		if _, err := fmt.Sscanf(m.name, "%04d_", &m.number); err != nil || m.number != i+1 {
			panic(fmt.Sprintf("store: migration %s: want number %04d next", m.name, i+1))
		}
		out = append(out, m)
	}
	return out
}

// SchemaHash identifies the tables that this version of the package makes:
// SHA-256 over the hashes of all migrations, hex.
func SchemaHash() string {
	h := sha256.New()
	for _, m := range migrations {
		fmt.Fprintf(h, "%04d %s\n", m.number, m.hash())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// migrate brings the file up to date. Each migration and the note that it was
// applied are one transaction.
func migrate(ctx context.Context, db *sql.DB, path string, readOnly bool) error {
	applied, err := appliedMigrations(ctx, db)
	if err != nil {
		return fmt.Errorf("store %s: read its migrations: %w", path, err)
	}
	if len(applied) > len(migrations) {
		return fmt.Errorf("store %s: has %d migrations, this version knows %d: open it with a newer version",
			path, len(applied), len(migrations))
	}
	for i, hash := range applied {
		if m := migrations[i]; hash != m.hash() {
			return fmt.Errorf("store %s: migration %s was applied with another text (%.12s, here %.12s): "+
				"open it with the version that made it, or ingest into a new folder", path, m.name, hash, m.hash())
		}
	}
	pending := migrations[len(applied):]
	if len(pending) > 0 && readOnly {
		return fmt.Errorf("store %s: needs migration %s and is opened read-only: open it once for writing", path, pending[0].name)
	}
	for _, m := range pending {
		if err := apply(ctx, db, m); err != nil {
			return fmt.Errorf("store %s: migration %s: %w", path, m.name, err)
		}
	}
	return nil
}

// appliedMigrations returns the hashes of the applied migrations in order.
func appliedMigrations(ctx context.Context, db *sql.DB) ([]string, error) {
	var exists bool
	err := db.QueryRowContext(ctx, `SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'`).Scan(&exists)
	if err != nil || !exists {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT number, hash FROM migrations ORDER BY number`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hashes []string
	for rows.Next() {
		var number int
		var hash string
		if err := rows.Scan(&number, &hash); err != nil {
			return nil, err
		}
		if number != len(hashes)+1 {
			return nil, fmt.Errorf("migration %d is noted where %d was expected", number, len(hashes)+1)
		}
		hashes = append(hashes, hash)
	}
	return hashes, rows.Err()
}

func apply(ctx context.Context, db *sql.DB, m migration) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	const notes = `CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)`
	if _, err := tx.ExecContext(ctx, notes); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, m.text); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, ?, ?)`, m.number, m.name, m.hash()); err != nil {
		return err
	}
	return tx.Commit()
}
