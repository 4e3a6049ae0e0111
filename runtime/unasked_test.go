package aql

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/google/go-cmp/cmp"
)

// REQ-AU-03, REQ-NT-07: where only a person can confirm and none can be asked, the call is denied, and on record as
// that: nobody was given a token. The agent is told who can change it.
func TestNobodyCanBeAsked(t *testing.T) {
	const params = ` {"note_id":"n1","limit":25}`
	const typedParams = ` {"note_id":"n1"}`
	paused := quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerDay, Pause: 1}}}
	denied := []string{"start it with -state", "and its program needs Operator"}
	for name, tt := range map[string]struct {
		typed   bool
		options Options
		asks    bool // the client asks its user about other calls
		request string
		records []string
		says    []string
	}{
		"a value is typed": {
			true, Options{}, false, deleteN1,
			[]string{"OPERATION_DENIED delete_note denied reason=nobody can be asked" + typedParams}, denied,
		},
		"only people confirm": {
			false, Options{Confirmation: Confirmation{HumanOnly: true}}, false, deleteN1,
			[]string{"OPERATION_DENIED delete_note denied reason=nobody can be asked" + params}, denied,
		},
		"in a batch": {
			true, Options{}, false, `{"operations":[` + deleteN1 + `]}`,
			[]string{"OPERATION_DENIED delete_note denied reason=nobody can be asked" + typedParams}, denied,
		},
		"in a batch of a client that asks": {
			true, Options{}, true, `{"operations":[` + deleteN1 + `]}`,
			[]string{"OPERATION_DENIED delete_note denied reason=nobody can be asked" + typedParams},
			[]string{"not asked within a batch; send it as a request of its own"},
		},
		"after a quota has paused": {
			false, Options{Quota: paused, Confirmation: Confirmation{HumanOnly: true, Off: true}}, false, deleteN1,
			[]string{"OPERATION_DENIED delete_note denied reason=quota pause" + params}, []string{"RATE_LIMIT_QUOTA_PAUSE"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			book := new(notebook)
			tt.options.Audit = audit.New(audit.Options{Sinks: []audit.Sink{book}, Wait: true})
			t.Cleanup(func() { tt.options.Audit.Close(t.Context()) })
			var f *fixture
			if tt.typed {
				f = typedFixture(t, tt.options).fixture
			} else {
				f = newFixture(t, tt.options)
			}
			ctx := t.Context()
			if tt.asks {
				ctx = f.adapter.WithAsker(ctx)
			}
			if tt.options.Quota.Quotas != nil {
				f.session.Call(ctx, "mcp_aql_delete", []byte(tt.request))
				f.ran, book.records = nil, nil
			}
			reply := f.session.Call(ctx, "mcp_aql_delete", []byte(tt.request))
			if diff := cmp.Diff(tt.records, book.lines()); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if reply.Question != nil || len(f.ran) > 0 || strings.Contains(string(reply.JSON), "conf_") {
				t.Errorf("a question %+v, ran %q: %s", reply.Question, f.ran, reply.JSON)
			}
			for _, want := range tt.says {
				if !strings.Contains(string(reply.JSON), want) {
					t.Errorf("%s\nlacks %q", reply.JSON, want)
				}
			}
		})
	}
}
