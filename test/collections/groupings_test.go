package collections_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// REQ-DE-10: of the requests that ask for as many groups as they may, eight run at the same time. The next one waits,
// and is answered when one of them has ended; those without groups do not wait.
func TestGroupsOfFewRequestsAreMadeAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		var running, answered atomic.Int32
		store := manyParts(3)
		store.Answer = func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
			running.Add(1)
			<-ended
			return q.Slice(ctx, store.Parts)
		}
		session := adapterOf(t, store, aql.Options{}).NewSession()
		call := func(ctx context.Context, params, want string) {
			reply := session.Call(ctx, "mcp_aql_read", fmt.Appendf(nil, `{"operation":"list_taken","params":%s}`, params))
			if answered.Add(1); !bytes.Contains(reply.JSON, []byte(want)) {
				t.Errorf("%s: %s", params, reply.JSON)
			}
		}
		expect := func(what string, wantRunning, wantAnswered int32) {
			t.Helper()
			synctest.Wait()
			if running.Load() != wantRunning || answered.Load() != wantAnswered {
				t.Errorf("%s: %d handlers were called and %d requests answered, not %d and %d", what, running.Load(),
					answered.Load(), wantRunning, wantAnswered)
			}
		}
		groups := `{"aggregate":` + strings.ReplaceAll(summaries("minutes"), `"sum":"weight"`, `"sum":"small"`) + `}`
		for range 9 {
			go call(t.Context(), groups, `"aggregations":{`)
		}
		expect("nine requests with groups", 8, 0)
		go call(t.Context(), `{"aggregate":{"n":{"count":true}}}`, `"aggregations":{"n":3}`)
		go call(t.Context(), `{"filter":{"minutes":1}}`, `"items":[{`)
		expect("two without groups beside them", 10, 0)
		ctx, cancel := context.WithCancel(t.Context())
		go call(ctx, groups, `"code":"INTERNAL_ERROR"`)
		expect("another one with groups", 10, 0)
		cancel()
		expect("the other one was cancelled", 10, 1)
		close(ended)
		expect("all have ended", 11, 12)
	})
}
