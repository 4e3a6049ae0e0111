// Command server serves tools that do nothing, with one of the libraries that are compared, over stdio or HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/bench/wire/service"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answer is the text with which every tool answers.
const answer = `{"success":true,"data":null}`

// peer serves with one library.
type peer struct {
	stdio   func(context.Context) error
	handler func() (http.Handler, error)
}

func peers() map[string]peer {
	return map[string]peer{
		"aql-tag":                oursIn(aql.ModeSemantic),
		"aql-tag -mode discrete": oursIn(aql.ModeDiscrete),
		"SDK AddTool": {
			func(ctx context.Context) error { return newSDK().Run(ctx, &mcp.StdioTransport{}) },
			func() (http.Handler, error) { return sdkHandler(newSDK()), nil },
		},
		"mcp-go": {
			func(ctx context.Context) error {
				return mcpgoserver.NewStdioServer(newMCPGo()).Listen(ctx, os.Stdin, os.Stdout)
			},
			func() (http.Handler, error) { return mcpgoserver.NewStreamableHTTPServer(newMCPGo()), nil },
		},
		"net/http": {nil, func() (http.Handler, error) { return http.HandlerFunc(bare), nil }},
	}
}

// oursIn serves with our library in a mode.
func oursIn(mode aql.Mode) peer {
	return peer{
		func(ctx context.Context) error {
			s, err := newServer(mode)
			if err != nil {
				return err
			}
			return s.RunStdio(ctx, os.Stdin, os.Stdout)
		},
		func() (http.Handler, error) {
			s, err := newServer(mode)
			if err != nil {
				return nil, err
			}
			return s.Handler()
		},
	}
}

func newServer(mode aql.Mode) (*mcpserver.Server, error) {
	adapter, err := aql.New(service.NewRegistry(new(service.Service)),
		aql.Options{Name: "bench", Version: "1.0.0", Mode: mode})
	if err != nil {
		return nil, err
	}
	s := mcpserver.New(adapter, mcpserver.Options{MaxSessions: 100_000})
	return s, s.Err()
}

func newMCPGo() *mcpgoserver.MCPServer {
	s := mcpgoserver.NewMCPServer("bench", "1.0.0")
	tool := mcpgo.NewTool("create_todo", mcpgo.WithDescription("Does nothing."),
		mcpgo.WithInputSchema[service.CreateTodoRequest]())
	s.AddTool(tool, mcpgo.NewTypedToolHandler(
		func(context.Context, mcpgo.CallToolRequest, service.CreateTodoRequest) (*mcpgo.CallToolResult, error) {
			return mcpgo.NewToolResultText(answer), nil
		}))
	return s
}

// bare reads a request and writes an answer that could be ours.
func bare(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"jsonrpc":"2.0","id":1000000000,"result":{"content":[{"type":"text",`+
		`"text":"{\"success\":true,\"data\":null}"}]}}`) //nolint:errcheck // the client is gone
}

func main() {
	name := flag.String("peer", "aql-tag", "the library")
	transport := flag.String("transport", "stdio", "stdio or http")
	flag.Parse()
	if err := run(context.Background(), *name, *transport); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name, transport string) error {
	p, ok := peers()[name]
	switch {
	case !ok:
		return fmt.Errorf("there is no peer %q", name)
	case transport == "stdio" && p.stdio == nil:
		return errors.New("it has no stdio")
	case transport == "stdio":
		return p.stdio(ctx)
	}
	handler, err := p.handler()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.HandleFunc("/collect", func(http.ResponseWriter, *http.Request) { // before memory is measured
		runtime.GC()
		debug.FreeOSMemory()
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, mux) //nolint:gosec // on loopback, for a benchmark
}
