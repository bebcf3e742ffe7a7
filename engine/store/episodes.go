package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/touchstone-eval/touchstone/engine/enrich"
)

// EpisodeGap is the longest time between two documents of one source that
// still belong to one episode. Documents that are dated by the day alone are
// in one if it is the same day.
const EpisodeGap = 6 * time.Hour

const episodeSeconds = int64(EpisodeGap / time.Second)

// countEpisodes counts the documents that are the second of an episode.
var countEpisodes = fmt.Sprintf(`
	WITH steps AS (
		SELECT source, seconds, id,
			coalesce(seconds - lag(seconds) OVER (PARTITION BY source ORDER BY seconds, id) <= %d, 0) AS joined
		FROM moments),
	pairs AS (
		SELECT joined, lag(joined, 1, 0) OVER (PARTITION BY source ORDER BY seconds, id) AS before FROM steps)
	SELECT count(*) FROM pairs WHERE joined AND NOT before`, episodeSeconds)

var anyEpisode = fmt.Sprintf(`
	SELECT EXISTS (SELECT 1 FROM moments a JOIN moments b ON b.source = a.source
		AND (b.seconds, b.id) > (a.seconds, a.id) AND b.seconds <= a.seconds + %d)`, episodeSeconds)

// Neighbour is a document of the same episode.
type Neighbour struct {
	Document string
	Distance int // places away in the order of time, then id; at least 1
}

// EpisodeNeighbours returns up to window documents on either side of a
// document within its episode, nearest first, of two equally near the earlier
// one. A document without a date has none.
func (s *Store) EpisodeNeighbours(ctx context.Context, id string, window int) ([]Neighbour, error) {
	var source, seconds int64
	err := s.read.QueryRowContext(ctx, `SELECT m.source, m.seconds FROM moments m JOIN documents d USING (document) WHERE d.id = ?`, id).Scan(&source, &seconds)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: read the episode of %q: %w", s.path, id, err)
	}
	var out []Neighbour
	for _, query := range []string{
		`SELECT seconds, id FROM moments WHERE source = ? AND (seconds, id) < (?, ?) ORDER BY seconds DESC, id DESC LIMIT ?`,
		`SELECT seconds, id FROM moments WHERE source = ? AND (seconds, id) > (?, ?) ORDER BY seconds, id LIMIT ?`,
	} {
		side, err := s.episodeSide(ctx, query, source, seconds, id, window)
		if err != nil {
			return nil, fmt.Errorf("store %s: read the episode of %q: %w", s.path, id, err)
		}
		out = append(out, side...)
	}
	slices.SortStableFunc(out, func(a, b Neighbour) int { return a.Distance - b.Distance })
	return out, nil
}

func (s *Store) episodeSide(ctx context.Context, query string, source, seconds int64, id string, window int) ([]Neighbour, error) {
	rows, err := s.read.QueryContext(ctx, query, source, seconds, id, window)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Neighbour
	for rows.Next() {
		var at int64
		n := Neighbour{Distance: len(out) + 1}
		if err := rows.Scan(&at, &n.Document); err != nil {
			return nil, err
		}
		if max(at-seconds, seconds-at) > episodeSeconds {
			break
		}
		seconds = at
		out = append(out, n)
	}
	return out, rows.Err()
}

// enumerateEpisodes starts an episode at each document that has a neighbour
// after it and none before.
func (s *Store) enumerateEpisodes(ctx context.Context) (int, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT m.source, m.seconds FROM moments m JOIN documents USING (document) ORDER BY m.source, m.seconds, m.id`)
	if err != nil {
		return 0, fmt.Errorf("store %s: enumerate episodes: %w", s.path, err)
	}
	defer rows.Close()
	n, length := 0, 0
	var lastSource, lastSeconds int64
	for rows.Next() {
		var source, seconds int64
		if err := rows.Scan(&source, &seconds); err != nil {
			return 0, fmt.Errorf("store %s: enumerate episodes: %w", s.path, err)
		}
		if length > 0 && source == lastSource && seconds-lastSeconds <= episodeSeconds {
			if length++; length == 2 {
				n++
			}
		} else {
			length = 1
		}
		lastSource, lastSeconds = source, seconds
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("store %s: enumerate episodes: %w", s.path, err)
	}
	return n, nil
}

// Event is a date that a document tells of.
type Event struct {
	Document    string
	Start       int // byte offset in its text; -1 if the date is in the title
	First, Last enrich.Day
}

// Events returns the dates that share a day with the period from first to
// last, by document and place.
func (s *Store) Events(ctx context.Context, first, last enrich.Day) ([]Event, error) {
	rows, err := s.read.QueryContext(ctx, `
		SELECT d.id, iif(in_title, -1, start_byte), first_day, last_day
		FROM event_dates e JOIN documents d USING (document)
		WHERE first_day <= ? AND last_day >= ? ORDER BY d.id, in_title DESC, start_byte`, last, first)
	if err != nil {
		return nil, fmt.Errorf("store %s: read event dates: %w", s.path, err)
	}
	defer rows.Close()
	var out []Event
	for rows.Next() {
		var e Event
		if err := rows.Scan(&e.Document, &e.Start, &e.First, &e.Last); err != nil {
			return nil, fmt.Errorf("store %s: read event dates: %w", s.path, err)
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store %s: read event dates: %w", s.path, err)
	}
	return out, nil
}
