package aql

import (
	"context"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// stageBatch runs a batch whose items are named by what performing them does: done, fails, confirm, rendered, invalid.
func stageBatch(ctx context.Context, limit int, skip, stop bool, report *progress, names ...string) (string, *Error) {
	o := stageOperation("any", "read", gen.Param{Name: "id"}, gen.Param{Name: "pin", Sensitive: true})
	var items []*item
	for _, name := range names {
		it := &item{request: request{operation: o},
			text: `{"operation":"` + name + `","params":{"id":1,"pin":2},"extra":3,"_meta":4}`}
		it.envelope.operation = name
		if name == "invalid" {
			it.failed = Denied("invalid")
		}
		items = append(items, it)
	}
	run := batchRun{
		items:           items,
		limit:           limit,
		stopOnFailure:   stop,
		skipUnconfirmed: skip,
		report:          report,
		reader:          new(wire.Reader),
		perform: func(_ context.Context, q *request, invalid *Error, w *wire.Writer) ([]byte, *Error) {
			switch {
			case invalid != nil:
				return nil, invalid
			case q.envelope.operation == "rendered":
				return []byte(`{"success":true}`), nil
			case q.envelope.operation == "confirm":
				return nil, failure(codeConfirm, "Confirm")
			case q.envelope.operation == "fails":
				w.Raw("half of a res")
				return nil, Denied("no")
			}
			w.Raw(`{"done":1}`)
			return nil, nil
		},
	}
	w := wire.NewWriter(nil)
	failed := run.write(ctx, w)
	return strings.TrimPrefix(string(w.Bytes()), `{"success":true,"data":null,`), failed
}

// What came of each item, and of all.
func TestBatchRun(t *testing.T) {
	const done = `{"index":0,"operation":"done","result":{"done":1}}`
	const unconfirmed = `"result":{"success":false,"error":{"code":"CONFIRMATION_REQUIRED","message":"Confirm"}}`
	for _, tt := range []struct {
		name, items string
		skip, stop  bool
		reports     int // of progress
		want        string
	}{
		{name: "an item fails", items: "done fails rendered", reports: 3,
			want: `"results":[` + done + `,{"index":1,"operation":"fails","result":{"success":false,` +
				`"error":{"code":"PERMISSION_DENIED","message":"Permission denied: 'no'","details":{"reason":"no"}}}},` +
				`{"index":2,"operation":"rendered","result":{"success":true}}],"summary":{"total":3,"succeeded":2,"failed":1}`},
		{name: "it halts, and tells what did not run", items: "done confirm done", reports: 1,
			want: `"results":[` + done + `],` +
				`"halted_at":{"index":1,"operation":"confirm",` + unconfirmed + `},` +
				`"pending_operations":[{"index":2,"operation":"done","params":{"id":1,"extra":3}}],` +
				`"summary":{"total":3,"succeeded":1,"failed":0,"halted":1,"pending":1}`},
		{name: "it skips what requires confirmation", items: "done confirm", skip: true, reports: 2,
			want: `"results":[` + done + `,` +
				`{"index":1,"operation":"confirm",` + unconfirmed + `,"status":"pending_confirmation"}],` +
				`"summary":{"total":2,"succeeded":1,"failed":0,"pending_confirmation":1}`},
		{name: "REQ-BA-15: it stops at a failure", items: "done fails done", stop: true, reports: 2,
			want: `"results":[` + done + `,{"index":1,"operation":"fails","result":{"success":false,` +
				`"error":{"code":"PERMISSION_DENIED","message":"Permission denied: 'no'","details":{"reason":"no"}}}}],` +
				`"pending_operations":[{"index":2,"operation":"done","params":{"id":1,"extra":3}}],` +
				`"summary":{"total":3,"succeeded":1,"failed":1,"pending":1}`},
		{name: "REQ-BA-15: a failure of the last one leaves nothing", items: "done fails", stop: true, reports: 2,
			want: `"results":[` + done + `,{"index":1,"operation":"fails","result":{"success":false,` +
				`"error":{"code":"PERMISSION_DENIED","message":"Permission denied: 'no'","details":{"reason":"no"}}}}],` +
				`"summary":{"total":2,"succeeded":1,"failed":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			items := strings.Fields(tt.items)
			report := &progress{report: func(Progress) {}, items: len(items), last: -1}
			got, failed := stageBatch(t.Context(), 1<<20, tt.skip, tt.stop, report, items...)
			if failed != nil {
				t.Fatal(failed)
			}
			checkText(t, "answer", tt.want, got)
			if report.done != tt.reports {
				t.Errorf("%d reports of progress, want %d", report.done, tt.reports)
			}
		})
	}
}

// After its request was cancelled, no item runs; those that were not valid still say so.
func TestBatchRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, _ := stageBatch(ctx, 1<<20, false, false, nil, "done", "invalid", "done")
	if strings.Count(got, "request was cancelled") != 2 || strings.Count(got, "'invalid'") != 1 {
		t.Error(got)
	}
}

// The answer has a limit, and what did not run is told without parameters before it is exceeded.
func TestBatchRunLimit(t *testing.T) {
	if _, failed := stageBatch(t.Context(), 60, false, false, nil, "done", "done"); failed == nil ||
		failed.Code != "VALIDATION_PAYLOAD_TOO_LARGE" {
		t.Errorf("beyond the limit: %v", failed)
	}
	got, _ := stageBatch(t.Context(), 300, false, false, nil, "confirm", "done", "done", "done")
	if !strings.Contains(got, `"pending_operations":[{"index":1,"operation":"done"},`) {
		t.Error(got)
	}
}
