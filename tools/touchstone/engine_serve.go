package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

func engineServeCommand() *cobra.Command {
	var (
		o    engineOptions
		addr string
	)
	c := &cobra.Command{
		Use:   "serve DIR",
		Short: "Serve a search page of an indexed folder, to this machine only",
		Long: `Serve a search page of an indexed folder, to this machine only: any other
address than a loopback one is refused. The page needs no JavaScript and fetches
nothing from elsewhere. /search.json?q=QUESTION&k=10 gives the same as JSON.
Prints the address; Ctrl-C stops. Index again after stopping it.`,
		Example: "  touchstone engine serve ~/notes\n  touchstone engine serve ~/notes --addr 127.0.0.1:0",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := loopback(addr)
			if err != nil {
				return &exit{exitUsage, fmt.Errorf("engine serve: %w", err)}
			}
			x, err := o.open(cmd.Context(), args[0], true, 0)
			if err != nil {
				return err
			}
			defer x.Close()
			documents, err := x.Documents(cmd.Context())
			if err != nil {
				return refused(err)
			}
			listener, err := net.Listen("tcp", at)
			if err != nil {
				return refused(fmt.Errorf("engine serve: %w", err))
			}
			name := args[0]
			if abs, err := filepath.Abs(name); err == nil {
				name = filepath.Base(abs)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "http://%s/\n", listener.Addr())
			fmt.Fprintf(cmd.ErrOrStderr(), "touchstone: serving %d documents; Ctrl-C stops\n", documents)
			return refused(serve(cmd.Context(), listener, newSearchServer(x, name, documents)))
		},
	}
	o.flags(c)
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:8777", "loopback address and port; port 0 takes a free one")
	return c
}

// loopback returns the address to listen on. A name other than localhost is
// refused without asking a resolver, which could say anything.
func loopback(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("--addr %q: %w; want such as 127.0.0.1:8777", addr, err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Unmap().IsLoopback() || ip.Zone() != "" {
		return "", fmt.Errorf("--addr %q: not a loopback address; the page is for this machine only: want such as 127.0.0.1:8777", addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return "", fmt.Errorf("--addr %q: no such port; want such as 127.0.0.1:8777", addr)
	}
	return net.JoinHostPort(ip.String(), port), nil
}

// stopTime is how long running requests may take after Ctrl-C.
const stopTime = 5 * time.Second

// serve runs until ctx ends, which is no error.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	s := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := s.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close()
	}
	return err
}
