package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// REQ-TL-16, REQ-MT-05, T-82: a client that gives a token, in either place, learns how far a batch is; one that gives
// none is left alone: on every transport, in both eras of the protocol.
func TestProgressOfABatch(t *testing.T) {
	server := newServer(t, Options{}, nil)
	server.lastReports = time.Hour // a slow machine, unlike a client that does not read, loses none
	web := httpServer(t, server)
	transports := map[string]func() mcp.Transport{
		"in memory": func() mcp.Transport {
			serverSide, clientSide := mcp.NewInMemoryTransports()
			go server.Run(t.Context(), serverSide)
			return clientSide
		},
		"stdio": func() mcp.Transport {
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			go server.RunStdio(t.Context(), in, out)
			return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
		},
		"HTTP": func() mcp.Transport { return &mcp.StreamableClientTransport{Endpoint: web.URL} },
	}
	for name, open := range transports {
		for _, version := range []string{"", "2025-06-18"} {
			t.Run(name+" "+version, func(t *testing.T) { checkProgress(t, open(), version) })
		}
	}
}

func checkProgress(t *testing.T, transport mcp.Transport, version string) {
	t.Helper()
	reports := make(chan string, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			p := request.Params
			reports <- fmt.Sprintf("%v %v/%v %s", p.ProgressToken, p.Progress, p.Total, p.Message)
		},
	})
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	const item = `{"operation":"get_thing","params":{"id":"1"}}`
	params := &mcp.CallToolParams{Name: "mcp_aql_read", Arguments: json.RawMessage(`{"operations":[` + item + `]}`)}
	call := func() {
		if _, err := session.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
	}
	call()
	params.SetProgressToken("p1")
	call()
	params.Meta = nil
	params.Arguments = json.RawMessage(`{"operations":[` + item + `],"_meta":{"progressToken":"p2"}}`)
	call()
	for _, token := range []string{"p1", "p2"} {
		want := token + " 1/1 'get_thing' succeeded, 1 of 1"
		if got := <-reports; got != want {
			t.Errorf("report %q, want %q", got, want)
		}
	}
}

// REQ-MT-05: which token counts, and what is none.
func TestProgressToken(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"_meta":{"progressToken":"p"}}`:           `"p"`,
		`{"_meta":{"progressToken":7}}`:             `7`,
		`{"_meta":{"progressToken":null}}`:          `null`,
		`{"_meta":{"progressToken":{}}}`:            `null`,
		`{"_meta":{}}`:                              `null`,
		`{"_meta":"progressToken"}`:                 `null`,
		`{"params":{"progressToken":"p"}}`:          `null`,
		`{"_meta":{"progressToken":"p"}`:            `null`,
		`{}`:                                        `null`,
		`{"operation":"x","a":"\"progressToken\""}`: `null`,
	} {
		got, err := json.Marshal(progressToken(&mcp.CallToolParamsRaw{Arguments: json.RawMessage(arguments)}))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", arguments, got, err, want)
		}
	}
	both := &mcp.CallToolParamsRaw{Arguments: json.RawMessage(`{"_meta":{"progressToken":"p"}}`)}
	both.SetProgressToken("first")
	if got := progressToken(both); got != "first" {
		t.Errorf("with both: %v", got)
	}
}

// C2: a client that does not read its notifications holds up a call for a quarter of a second at its end, and no report
// at all. What it does read is the newest.
func TestProgressDoesNotWaitForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		reads := make(chan struct{})
		n := &notifier{ctx: t.Context(), log: slog.New(slog.DiscardHandler), wait: lastReports,
			send: func(ctx context.Context, p aql.Progress) error {
				select {
				case <-reads:
					sent = append(sent, p.Message)
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		}
		start := time.Now()
		for i := range 1000 {
			n.report(aql.Progress{Message: fmt.Sprint(i)})
			synctest.Wait()
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("the reports took %v", took)
		}
		reads <- struct{}{} // the one that was being sent while the others came
		reads <- struct{}{}
		if took := time.Since(start); took != reportInterval {
			t.Errorf("the second report was sent after %v, want %v", took, reportInterval)
		}
		n.report(aql.Progress{Message: "last"})
		n.end()
		if took := time.Since(start); took != reportInterval+lastReports {
			t.Errorf("the end took %v, want %v", took-reportInterval, lastReports)
		}
		<-n.done // nothing is sent after the answer
		if diff := cmp.Diff([]string{"0", "999"}, sent); diff != "" {
			t.Error(diff)
		}
	})
}

// A client that is gone does not stop a call, and one that was told nothing is not waited for.
func TestProgressToNobody(t *testing.T) {
	n := &notifier{ctx: t.Context(), log: slog.New(slog.DiscardHandler),
		send: func(context.Context, aql.Progress) error { return errors.New("connection closed") }}
	n.end()
	n.report(aql.Progress{})
	n.end()
}
