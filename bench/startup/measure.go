package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

// figures are what a large adapter costs. Times are processor time, garbage collection included.
type figures struct {
	Made       time.Duration // from what generated code declares to an adapter
	Introspect time.Duration // the first summary
	Search     time.Duration // the first search, which makes the index
	Heap       int64         // bytes that are in use then and were not before

	Listed time.Duration // the server is made, and answers tools/list page by page
	Pages  int
	Bytes  int // of the answers
}

const (
	summary = `{"operation":"introspect","params":{"query":"operations"}}`
	search  = `{"operation":"introspect","params":{"query":"operations","search":"give a customer money back"}}`
	found   = "refund_payment"
)

// adapter makes an adapter of so many operations, and sends it what an agent sends first. In discrete mode that is
// tools/list.
func adapter(ctx context.Context, operations int, mode aql.Mode) (f figures, err error) {
	handlers, types := large(operations)
	before := heap()
	used := cpuTime()
	lap := func() time.Duration {
		last := used
		used = cpuTime()
		return used - last
	}
	a, err := aql.New(gen.NewRegistry(handlers, types), aql.Options{Name: "company", Version: "1.0.0", Mode: mode})
	if err != nil {
		return f, err
	}
	f.Made = lap()
	if mode == aql.ModeDiscrete {
		if f.Pages, f.Bytes, err = list(ctx, a); err != nil {
			return f, fmt.Errorf("listing tools: %w", err)
		}
		f.Listed = lap()
	} else {
		session := a.NewSession()
		if reply := session.Call(ctx, "mcp_aql_read", []byte(summary)); reply.IsError {
			return f, fmt.Errorf("the answer to %s is %s", summary, reply.JSON)
		}
		f.Introspect = lap()
		if reply := session.Call(ctx, "mcp_aql_read", []byte(search)); !bytes.Contains(reply.JSON, []byte(found)) {
			return f, fmt.Errorf("the answer to %s is %s", search, reply.JSON)
		}
		f.Search = lap()
	}
	f.Heap = heap() - before
	runtime.KeepAlive(a)
	runtime.KeepAlive(handlers)
	return f, nil
}

// heap returns the bytes that are in use.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// list asks an adapter for all its tools, over pipes.
func list(ctx context.Context, a *aql.Adapter) (pages, size int, err error) {
	server := mcpserver.New(a, mcpserver.Options{})
	if err := server.Err(); err != nil {
		return 0, 0, err
	}
	defer server.Close()
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := server.RunStdio(ctx, in, out)
		out.CloseWithError(err)
		done <- err
	}()
	defer func() {
		requests.Close()
		err = errors.Join(err, <-done)
	}()
	lines := bufio.NewReader(answers)
	ask := func(request string) ([]byte, error) {
		if _, err := fmt.Fprintln(requests, request); err != nil {
			return nil, err
		}
		return lines.ReadBytes('\n')
	}
	if _, err := ask(initialize); err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Fprintln(requests, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return 0, 0, err
	}
	for params := "{}"; params != ""; pages++ {
		answer, err := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":` + params + `}`)
		if err != nil {
			return pages, size, err
		}
		if !bytes.Contains(answer, []byte(`"tools":[`)) {
			return pages, size, fmt.Errorf("the server answered %.300s", answer)
		}
		size += len(answer)
		_, rest, more := bytes.Cut(answer, []byte(`"nextCursor":"`))
		params = ""
		if cursor, _, _ := bytes.Cut(rest, []byte(`"`)); more && len(cursor) > 0 {
			params = `{"cursor":"` + string(cursor) + `"}`
		}
	}
	return pages, size, nil
}
