package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mattn/go-sqlite3"
)

// backupPages are copied at once, between which writers have their turn.
const backupPages = 1024

// Backup copies the store in the file at path, which others may have open and
// write to, to a new file dest, by SQLite's online backup over a read-only
// connection: the file at path stays as it is to the byte. A store that is
// busy for longer than patience without any progress is an error.
func Backup(ctx context.Context, path, dest string, patience time.Duration) (err error) {
	fail := func(err error) error { return fmt.Errorf("store %s: back up: %w", path, err) }
	if _, err := os.Stat(path); err != nil {
		return fail(err)
	}
	out, err := os.OpenFile(dest, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err != nil {
			os.Remove(dest)
		}
	}()
	if err := out.Close(); err != nil {
		return fail(err)
	}
	from, to := openPool(path, "mode=ro"), openPool(dest, "mode=rw")
	defer func() { err = errors.Join(err, from.Close(), to.Close()) }()
	err = withRaw(ctx, from, func(src *sqlite3.SQLiteConn) error {
		return withRaw(ctx, to, func(dst *sqlite3.SQLiteConn) error { return copyPages(ctx, dst, src, patience) })
	})
	if err != nil {
		return fail(err)
	}
	return nil
}

func withRaw(ctx context.Context, db *sql.DB, fn func(*sqlite3.SQLiteConn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(driver any) error {
		c, ok := driver.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("a connection of another driver, %T", driver)
		}
		return fn(c)
	})
}

func copyPages(ctx context.Context, dst, src *sqlite3.SQLiteConn, patience time.Duration) error {
	b, err := dst.Backup("main", src, "main")
	if err != nil {
		return err
	}
	moved, remaining := time.Now(), -1
	for {
		done, err := b.Step(backupPages)
		if err != nil {
			return errors.Join(err, b.Close())
		}
		if done {
			return b.Close()
		}
		// The driver does not tell a step that copied from one that met a lock
		// (SQLITE_BUSY, SQLITE_LOCKED): what is left does.
		if left := b.Remaining(); left != remaining {
			moved, remaining = time.Now(), left
			continue
		}
		if time.Since(moved) > patience {
			return errors.Join(fmt.Errorf("busy for %v: close what writes to it, or try again", patience), b.Close())
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), b.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
