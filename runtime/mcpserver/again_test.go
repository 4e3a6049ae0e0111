package mcpserver

import (
	"context"
	"sync"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A message whose request is looked at twice is told as one call: where its approval comes before the cooldown is over,
// and where there is no page for an item, so that the user is asked in a form.
func TestCallsThatAreMadeAgainAreToldOnce(t *testing.T) {
	const held, done = "destructive CONFIRMATION_REQUIRED", "destructive "
	const cooldown = 10 * time.Millisecond
	both := &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	asked := []string{"call", held, "ended CONFIRMATION_REQUIRED"}
	for name, tt := range map[string]struct {
		adapting aql.Options
		options  Options
		client   *mcp.ElicitationCapabilities
		want     []string
	}{
		"a cooldown": {
			adapting: aql.Options{Confirmation: aql.Confirmation{
				Cooldown: map[gen.Danger]time.Duration{gen.Destructive: cooldown},
			}},
			client: both,
			want:   append(asked, "call", held, done, "ended "),
		},
		"no page": {
			adapting: aql.Options{Confirmation: aql.Confirmation{Inbox: approve.New}},
			options:  Options{ApprovalURL: func(string) string { return "" }},
			client:   both,
			want:     []string{"call", held, held, "ended CONFIRMATION_REQUIRED", "call", done, "ended "},
		},
	} {
		for era, version := range map[string]string{"sessionless protocol": "", "2025-11-25": "2025-11-25"} {
			t.Run(name+", "+era, func(t *testing.T) {
				var mutex sync.Mutex
				var told []string
				now := time.Now().Truncate(time.Millisecond) // cooldowns end at whole ones
				note := func(event string) {
					mutex.Lock()
					defer mutex.Unlock()
					told = append(told, event)
					if len(told) == len(asked)+2 { // the answer was looked at once
						now = now.Add(cooldown)
					}
				}
				tt.adapting.Now = func() time.Time {
					mutex.Lock()
					defer mutex.Unlock()
					return now
				}
				tt.adapting.Observe = &observe.Hooks{
					Call: func(ctx context.Context, _ observe.Call) (context.Context, func(observe.CallEnd)) {
						note("call")
						return ctx, func(e observe.CallEnd) { note("ended " + e.Code) }
					},
					Operation: func(ctx context.Context, o observe.Operation) (context.Context, func(observe.OperationEnd)) {
						return ctx, func(e observe.OperationEnd) { note(o.Danger + " " + e.Code) }
					},
				}
				tt.options.Elicit, tt.adapting.State = true, new(store.Memory)
				server := newServerOf(t, tt.adapting, tt.options, nil)
				session := stdio(t, server, version, &mcp.ClientOptions{
					Capabilities: &mcp.ClientCapabilities{Elicitation: tt.client},
					ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						return approves(nil), nil
					},
				})
				if text, _ := call(t, session, "mcp_aql_delete", deleteX); text == "" {
					t.Fatal("there is no answer")
				}
				mutex.Lock()
				defer mutex.Unlock()
				if diff := cmp.Diff(tt.want, told); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}
