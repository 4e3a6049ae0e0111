package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// memory is what our server holds.
type memory struct {
	after   int64 // bytes in memory after a million calls over stdio
	session int64 // bytes of a session over HTTP that has made a call
}

const manyCalls, manySessions = 1_000_000, 5_000

// remember measures the memory of our server.
func remember(ctx context.Context, p programs) (m memory, err error) {
	all := transports()
	if m.after, err = ofOurs(ctx, p, all[0], afterCalls); err != nil {
		return m, err
	}
	m.session, err = ofOurs(ctx, p, all[1], ofSession)
	return m, err
}

// ofOurs starts our server, and returns what is measured of it.
func ofOurs(
	ctx context.Context, p programs, t transport, measure func(*process) (int64, error),
) (bytes int64, err error) {
	s, err := start(ctx, p, ours, t)
	if err != nil {
		return 0, err
	}
	defer func() {
		if stopped := s.stop(); err == nil {
			err = stopped
		}
	}()
	return measure(s)
}

func afterCalls(s *process) (bytes int64, err error) {
	for made := 0; made < manyCalls; {
		answered, err := s.client.call(64, time.Second, nil)
		if err != nil {
			return 0, err
		}
		made += answered
	}
	return resident(s.command.Process.Pid)
}

func ofSession(s *process) (bytes int64, err error) {
	if err := s.sessions(100); err != nil { // warms up
		return 0, err
	}
	before, err := s.collected()
	if err != nil {
		return 0, err
	}
	if err := s.sessions(manySessions); err != nil {
		return 0, err
	}
	after, err := s.collected()
	return (after - before) / manySessions, err
}

// sessions begins sessions over HTTP, and makes a call in each.
func (s *process) sessions(count int) error {
	conn, err := dial(s.address)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // all is read
	t := transports()[1]
	message := call(ours, t)
	for range count {
		session, err := s.session()
		if err != nil {
			return err
		}
		head := post(len(message), "Mcp-Protocol-Version: 2025-11-25\r\n", "Mcp-Session-Id: "+session+"\r\n")
		if err := conn.exchange([]byte(head + message)); err != nil {
			return err
		}
	}
	return nil
}

// collected returns the bytes in memory after a garbage collection.
func (s *process) collected() (int64, error) {
	conn, err := dial(s.address)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // all is read
	if _, err := io.WriteString(conn, "GET /collect HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		return 0, err
	}
	if _, err := conn.answer(); err != nil {
		return 0, fmt.Errorf("collecting garbage: %w", err)
	}
	return resident(s.command.Process.Pid)
}
