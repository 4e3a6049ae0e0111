package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

// allocated is what one call allocates in our server.
type allocated struct{ allocs, bytes int64 }

// allocations measures our server in this process, over pipes and at its HTTP handler. The client allocates nothing.
func allocations(ctx context.Context) (stdio, handler allocated, err error) {
	adapter, err := aql.New(service.NewRegistry(new(service.Service)), aql.Options{Name: "bench", Version: "1.0.0"})
	if err != nil {
		return stdio, handler, err
	}
	server := mcpserver.New(adapter, mcpserver.Options{})
	defer server.Close()
	all := transports()
	if stdio, err = overPipes(ctx, server, all[0]); err != nil {
		return stdio, handler, fmt.Errorf("allocations over pipes: %w", err)
	}
	if handler, err = atHandler(server, all[2]); err != nil {
		return stdio, handler, fmt.Errorf("allocations of the handler: %w", err)
	}
	return stdio, handler, nil
}

func benchmark(run func() error) (allocated, error) {
	var failed error
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if failed = run(); failed != nil {
				b.Fatal(failed)
			}
		}
	})
	return allocated{result.AllocsPerOp(), result.AllocedBytesPerOp()}, failed
}

func overPipes(ctx context.Context, server *mcpserver.Server, t transport) (allocated, error) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := server.RunStdio(ctx, in, out)
		out.CloseWithError(err)
		done <- err
	}()
	opened, err := openStdio(toServer, bufio.NewReaderSize(fromServer, 1<<20), call(ours, t))
	if err != nil {
		return allocated{}, err
	}
	c := opened.(*stdioClient)
	result, err := benchmark(func() error {
		text, _ := c.calls.following()
		if _, err := c.in.Write(text); err != nil {
			return err
		}
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return err
		}
		_, err = c.calls.check(line)
		return err
	})
	toServer.Close()
	return result, errors.Join(err, <-done)
}

// response is what the handler writes.
type response struct {
	header http.Header
	status int
	body   []byte
}

func (r *response) Header() http.Header    { return r.header }
func (r *response) WriteHeader(status int) { r.status = status }
func (r *response) Flush()                 {}
func (r *response) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return len(p), nil
}

// body is the body of a request.
type body struct{ *strings.Reader }

func (body) Close() error { return nil }

func atHandler(server *mcpserver.Server, t transport) (allocated, error) {
	handler, err := server.Handler()
	if err != nil {
		return allocated{}, err
	}
	message := call(ours, t)
	text := body{strings.NewReader(message)}
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", text)
	if err != nil {
		return allocated{}, err
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool(ours)},
	}
	w := &response{header: make(http.Header)}
	return benchmark(func() error {
		text.Reset(message)
		request.Body = text
		clear(w.header)
		w.status, w.body = http.StatusOK, w.body[:0]
		handler.ServeHTTP(w, request)
		if w.status != http.StatusOK || len(w.body) < 50 {
			return fmt.Errorf("the server answered %d %s", w.status, w.body)
		}
		return nil
	})
}
