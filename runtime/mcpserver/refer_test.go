package mcpserver

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// referred is a client whose user can open pages.
type referred struct {
	pages     chan *mcp.ElicitParams
	completed chan string
}

func (r *referred) connect(
	t *testing.T, server *Server, version string, c *mcp.ElicitationCapabilities,
) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: c},
		ElicitationCompleteHandler: func(_ context.Context, request *mcp.ElicitationCompleteNotificationRequest) {
			r.completed <- request.Params.ElicitationID
		},
	}
	if c != nil {
		options.ElicitationHandler = func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			r.pages <- request.Params
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go server.RunStdio(t.Context(), in, out)
	transport := &mcp.IOTransport{Reader: fromServer, Writer: toServer}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// A client that can open a page refers its user to the one for the item, and is told of the decision: before a form,
// and also where only people confirm. One that cannot is asked in a form, or its request waits.
func TestReferral(t *testing.T) {
	both := &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	pages := &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}
	forms := &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
	for name, tt := range map[string]struct {
		client    *mcp.ElicitationCapabilities
		humanOnly bool
		mode      string // of the question; empty: none
		first     string // in the answer to the first call
	}{
		"forms and pages":                  {both, false, "url", `"approval_id":"ask_`},
		"forms and pages, and people":      {both, true, "url", `"approval_id":"ask_`},
		"pages":                            {pages, false, "url", `"approval_id":"ask_`},
		"forms":                            {forms, true, "form", "deleted x"},
		"nothing":                          {nil, false, "", `"confirmation_token":"conf_`},
		"nothing, where only people count": {nil, true, "", `"approval_id":"ask_`},
	} {
		for era, version := range map[string]string{"sessionless protocol": "", "2025-11-25": "2025-11-25"} {
			t.Run(name+", "+era, func(t *testing.T) {
				state := new(store.Memory)
				server := newServerOf(t, aql.Options{
					State: state, Confirmation: aql.Confirmation{HumanOnly: tt.humanOnly, Inbox: approve.New},
				}, Options{Elicit: true, ApprovalURL: func(id string) string { return "https://console.example/" + id }}, nil)
				r := &referred{pages: make(chan *mcp.ElicitParams, 2), completed: make(chan string, 2)}
				session := r.connect(t, server, version, tt.client)
				text, _ := call(t, session, "mcp_aql_delete", deleteX)
				if !strings.Contains(text, tt.first) || tt.mode == "url" && strings.Contains(text, "conf_") {
					t.Errorf("the first call: %s", text)
				}
				if tt.mode == "" {
					if len(r.pages) > 0 {
						t.Errorf("the user is asked %+v", <-r.pages)
					}
					return
				}
				asked := <-r.pages
				if asked.Mode != tt.mode || !strings.Contains(asked.Message, "operation 'delete_thing'") {
					t.Fatalf("the user is asked %+v", asked)
				}
				if tt.mode == "form" {
					return
				}
				if asked.URL != "https://console.example/"+asked.ElicitationID ||
					!strings.Contains(text, `"approval_id":"`+asked.ElicitationID+`"`) {
					t.Fatalf("the user is referred to %+v after %s", asked, text)
				}
				vote := approve.Vote{By: aql.Caller{Subject: "eve"}, Channel: "page", Approve: true, At: time.Now()}
				if _, err := approve.New(state).Vote(t.Context(), asked.ElicitationID, vote); err != nil {
					t.Fatal(err)
				}
				if completed := <-r.completed; completed != asked.ElicitationID {
					t.Errorf("told of %s", completed)
				}
				if text, _ := call(t, session, "mcp_aql_delete", deleteX); !strings.Contains(text, "deleted x") {
					t.Errorf("after the approval: %s", text)
				}
			})
		}
	}
}

// A client that shows forms and opens pages is asked in a form where there is no page for the item, also where only
// people confirm.
func TestFormWithoutPage(t *testing.T) {
	both := &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	for name, humanOnly := range map[string]bool{"anybody confirms": false, "people confirm": true} {
		for era, version := range map[string]string{"sessionless protocol": "", "2025-11-25": "2025-11-25"} {
			t.Run(name+", "+era, func(t *testing.T) {
				server := newServerOf(t, aql.Options{
					State: new(store.Memory), Confirmation: aql.Confirmation{HumanOnly: humanOnly, Inbox: approve.New},
				}, Options{Elicit: true, ApprovalURL: func(string) string { return "" }}, nil)
				r := &referred{pages: make(chan *mcp.ElicitParams, 2), completed: make(chan string, 1)}
				session := r.connect(t, server, version, both)
				for range 2 { // also while the item of the first call waits
					if text, _ := call(t, session, "mcp_aql_delete", deleteX); !strings.Contains(text, "deleted x") {
						t.Fatal(text)
					}
					if asked := <-r.pages; asked.Mode != "form" {
						t.Errorf("the user is asked %+v", asked)
					}
				}
			})
		}
	}
}

// A service that has no page for an item leaves it in the inbox.
func TestNoPage(t *testing.T) {
	server := newServerOf(t, aql.Options{State: new(store.Memory), Confirmation: aql.Confirmation{Inbox: approve.New}},
		Options{ApprovalURL: func(string) string { return "" }}, nil)
	r := &referred{pages: make(chan *mcp.ElicitParams, 1), completed: make(chan string, 1)}
	session := r.connect(t, server, "", &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}})
	if text, _ := call(t, session, "mcp_aql_delete", deleteX); !strings.Contains(text, `"approval_id":"ask_`) ||
		len(r.pages) > 0 {
		t.Error(text)
	}
}

// Nothing that follows an item is left when that is decided, while the session goes on.
func TestReferralsEndWithTheirItems(t *testing.T) {
	state := new(store.Memory)
	server := newServerOf(t, aql.Options{State: state, Confirmation: aql.Confirmation{Inbox: approve.New}},
		Options{ApprovalURL: func(id string) string { return "https://console.example/" + id }}, nil)
	r := &referred{pages: make(chan *mcp.ElicitParams, 1), completed: make(chan string, 1)}
	session := r.connect(t, server, "2025-11-25", &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}})
	waiting := func() int {
		stacks := make([]byte, 1<<22)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "mcp.(*ServerSession).Wait(")
	}
	before := waiting() // without those of the server, which may not have begun
	const items = 16
	for i := range items {
		call(t, session, "mcp_aql_delete", strings.Replace(deleteX, `"x"`, fmt.Sprintf(`"x%d"`, i), 1))
		asked := <-r.pages
		vote := approve.Vote{By: aql.Caller{Subject: "eve"}, Approve: true, At: time.Now()}
		if _, err := approve.New(state).Vote(t.Context(), asked.ElicitationID, vote); err != nil {
			t.Fatal(err)
		}
		<-r.completed
	}
	if after := waiting(); after-before >= items {
		t.Errorf("%d goroutines wait for the end of one session, and %d did before", after, before)
	}
}
