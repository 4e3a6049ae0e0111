package doors

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// exitWithParent ends this process when the test does.
func exitWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// thing is the request of every operation.
type thing struct{ ID string }

// large is an answer that nobody should leave unread.
var large = strings.Repeat("x", 1<<20)

// reports is how often report_thing reports.
const reports = 200

// verify takes every token for the name of its owner.
func verify(_ context.Context, token string) (aql.Caller, time.Time, error) {
	return aql.Caller{Subject: token}, time.Now().Add(time.Hour), nil
}

// serveOurs serves an adapter as services do.
func serveOurs() {
	go exitWithParent()
	operation := func(name string, run func(ctx context.Context, id string) string) gen.Handler {
		return gen.Handler{
			Name: name, Category: gen.Read, Danger: gen.Safe, Description: "Does it.", Returns: "Text",
			Params:  []gen.Field{{Name: "id", Go: "ID", Type: "string"}},
			Request: (*thing)(nil), Result: (*string)(nil),
			Call: func(ctx context.Context, _ []any, request any) (any, error) {
				return run(ctx, request.(*thing).ID), nil
			},
		}
	}
	registry := gen.NewRegistry([]gen.Handler{
		operation("get_thing", func(_ context.Context, id string) string { return "got " + id }),
		operation("list_thing", func(context.Context, string) string { return large }),
		operation("report_thing", func(ctx context.Context, _ string) string {
			for i := range reports {
				aql.ReportProgress(ctx, i, reports, large[:1000])
			}
			return large
		}),
	}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
	serve.Main(registry, serve.Options{
		Name: "things", Version: "1", MCP: mcpserver.Options{Bearer: &mcpserver.Bearer{Verify: verify}},
	})
}

// serveSDK serves the same with a plain server of the SDK.
func serveSDK() {
	go exitWithParent()
	server := mcp.NewServer(&mcp.Implementation{Name: "things", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "mcp_aql_read", InputSchema: json.RawMessage(`{"type":"object"}`)}, sdkTool)
	find := func(*http.Request) *mcp.Server { return server }
	sessions := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{SessionTimeout: 30 * time.Minute})
	stateless := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
	})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	authenticate := func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		caller, expires, err := verify(ctx, token)
		return &auth.TokenInfo{UserID: caller.Subject, Expiration: expires}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "http://%s/mcp\n", listener.Addr())
	web := &http.Server{
		Handler: auth.RequireBearerToken(authenticate, nil)(handler), ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute,
	}
	panic(web.Serve(listener))
}

// sdkTool does what the operations do.
func sdkTool(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var arguments struct {
		Operation string
		Params    thing
	}
	if err := json.Unmarshal(request.Params.Arguments, &arguments); err != nil {
		return nil, err
	}
	text := large
	switch arguments.Operation {
	case "get_thing":
		text = "got " + arguments.Params.ID
	case "report_thing":
		for i := range reports {
			_ = request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // the client may have gone
				ProgressToken: request.Params.GetProgressToken(), Progress: float64(i), Total: reports, Message: large[:1000],
			})
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}
