package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	attempts = 5                // of one download, if none of them brings a byte
	idle     = 60 * time.Second // without a byte ends an attempt
)

// refusal is an answer that asking again would not change.
type refusal struct{ error }

func (g Getter) client() *http.Client {
	if g.HTTP != nil {
		return g.HTTP
	}
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   30 * time.Second,
		ResponseHeaderTimeout: idle,
		ForceAttemptHTTP2:     true,
	}}
}

// download brings the file that from serves to path. It goes on with what is
// there, and checks the whole. A file that turns out wrong is removed, and
// fetched once more if part of it was an earlier attempt's.
func (g Getter) download(ctx context.Context, from string, f File, path string) error {
	u, err := url.Parse(from)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("%q is no address of http or https", from)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	for {
		resumed, err := g.complete(ctx, u, f.Size, path)
		if err != nil {
			return fmt.Errorf("%s: %w", u.Redacted(), err)
		}
		err = f.verify(path)
		if err == nil {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		if !resumed {
			return fmt.Errorf("%s: %w", u.Redacted(), err)
		}
		g.log("%v: part of it was left from before; once more from the start", err)
	}
}

// complete brings path to its full size, over as many connections as it
// takes, and says whether it found part of it there. It gives up after some
// connections that brought nothing.
func (g Getter) complete(ctx context.Context, u *url.URL, size int64, path string) (resumed bool, err error) {
	pause := g.pause
	if pause == 0 {
		pause = time.Second
	}
	for first, fruitless := true, 0; ; first = false {
		have := int64(0)
		if info, err := os.Stat(path); err == nil {
			have = info.Size()
		}
		if have > size { // not ours, or of another version
			if err := os.Remove(path); err != nil {
				return resumed, err
			}
			have = 0
		}
		resumed = resumed || first && have > 0
		if have == size {
			return resumed, nil
		}
		if have > 0 {
			g.log("%s: going on at byte %d of %d", u.Redacted(), have, size)
		}
		got, err := g.attempt(ctx, u, have, size, path)
		var no refusal
		if ctx.Err() != nil || errors.As(err, &no) {
			return resumed, err
		}
		if err == nil {
			continue
		}
		if fruitless++; got > 0 {
			fruitless = 0
		}
		if fruitless == attempts {
			return resumed, fmt.Errorf("%d attempts in a row brought nothing: %w", attempts, err)
		}
		g.log("%s: %v; once more", u.Redacted(), err)
		select {
		case <-time.After(pause << min(fruitless, 4)):
		case <-ctx.Done():
			return resumed, ctx.Err()
		}
	}
}

// attempt asks for the rest of a file and appends what comes.
func (g Getter) attempt(ctx context.Context, u *url.URL, have, size int64, path string) (got int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, refusal{err}
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := g.client().Do(req)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // the address may hold a password
		}
		return 0, err
	}
	defer resp.Body.Close()
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	switch {
	case resp.StatusCode == http.StatusPartialContent:
		if start, err := rangeStart(resp.Header.Get("Content-Range")); err != nil || start != have {
			return 0, refusal{fmt.Errorf("asked for bytes from %d, the answer has %q", have, resp.Header.Get("Content-Range"))}
		}
	case resp.StatusCode == http.StatusOK: // the server knows no ranges
		flags |= os.O_TRUNC
		have = 0
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return 0, errors.Join(errors.New(resp.Status), os.Remove(path))
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return 0, errors.New(resp.Status)
	default:
		return 0, refusal{errors.New(resp.Status)}
	}
	w, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return 0, refusal{err}
	}
	stall := time.AfterFunc(idle, func() { cancel(fmt.Errorf("no byte in %s", idle)) })
	defer stall.Stop()
	got, err = io.Copy(w, readFunc(func(p []byte) (int, error) {
		n, err := resp.Body.Read(p)
		stall.Reset(idle)
		return n, err
	}))
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	err = errors.Join(err, w.Sync(), w.Close())
	if err == nil && have+got < size {
		err = fmt.Errorf("the answer ended at byte %d of %d: %w", have+got, size, io.ErrUnexpectedEOF)
	}
	if err == nil && have+got > size {
		err = refusal{errors.Join(fmt.Errorf("the answer is longer than %d bytes", size), os.Remove(path))}
	}
	return got, err
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// rangeStart is the 3 of "bytes 3-9/10".
func rangeStart(header string) (int64, error) {
	rest, ok := strings.CutPrefix(header, "bytes ")
	start, _, dash := strings.Cut(rest, "-")
	if !ok || !dash {
		return 0, fmt.Errorf("content range %q", header)
	}
	return strconv.ParseInt(start, 10, 64)
}
