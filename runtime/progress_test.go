package aql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// progressReports makes one call to an adapter whose operation work does what a function does, and returns what the
// client is told.
func progressReports(t *testing.T, request string, work func(context.Context, *Session) error) []string {
	t.Helper()
	var session *Session
	handler := noteOperation("work", gen.Read, gen.Safe, func(ctx context.Context, _ *noteRequest) (string, error) {
		return "", work(ctx, session)
	})
	adapter, err := New(gen.NewRegistry([]gen.Handler{handler}, noteTypes), Options{Mode: ModeSingle})
	if err != nil {
		t.Fatal(err)
	}
	session = adapter.NewSession()
	var reports []string
	ctx := WithProgress(t.Context(), func(p Progress) {
		reports = append(reports, strings.TrimSpace(fmt.Sprintf("%v/%v %s", p.Done, p.Total, p.Message)))
	})
	session.Call(ctx, "mcp_aql", []byte(request))
	return reports
}

// REQ-TL-16, REQ-TL-17, D5: what a client that asks for progress is told.
func TestProgress(t *testing.T) {
	const single = `{"operation":"work"}`
	const batch = `{"operations":[{"operation":"work"},{"operation":"x"},{"operation":"work"}]}`
	pause := func() { time.Sleep(progressInterval) }
	for name, tt := range map[string]struct {
		request string
		work    func(context.Context, *Session) error
		want    []string
	}{
		"the handler has the part from 10 to 90": {single, func(ctx context.Context, _ *Session) error {
			for done := range 3 {
				ReportProgress(ctx, done, 2, "Reading rows")
				pause()
			}
			return nil
		}, []string{"10/100 Reading rows", "50/100 Reading rows", "90/100 Reading rows", "100/100"}},
		"a handler that reports nothing": {single, func(context.Context, *Session) error { return nil }, nil},
		"it never decreases, and stays within its part": {single, func(ctx context.Context, _ *Session) error {
			for _, done := range []int{1, 0, 1, 7, -1} {
				ReportProgress(ctx, done, 2, "")
				pause()
			}
			return nil
		}, []string{"50/100", "90/100", "100/100"}},
		"ten reports in a second": {single, func(ctx context.Context, _ *Session) error {
			for done := range 300 { // three a tenth of a second
				ReportProgress(ctx, done, 300, "")
				time.Sleep(progressInterval / 25)
			}
			return nil
		}, func() (want []string) {
			for i := range 12 {
				want = append(want, fmt.Sprintf("%v/100", 10+80*float64(25*i)/300))
			}
			return append(want, "100/100")
		}()},
		"a failure does not complete": {single, func(ctx context.Context, _ *Session) error {
			ReportProgress(ctx, 1, 2, "")
			return errors.New("no")
		}, []string{"50/100"}},
		"an unknown total": {single, func(ctx context.Context, _ *Session) error {
			ReportProgress(ctx, 7, 0, "7 rows")
			pause()
			ReportProgress(ctx, 9, 0, "9 rows")
			return nil
		}, []string{"7/0 7 rows", "9/0 9 rows"}},
		"a message that discloses something is left out": {single, func(ctx context.Context, _ *Session) error {
			ReportProgress(ctx, 1, 2, "panic: runtime error: at main.go:7")
			return nil
		}, []string{"50/100", "100/100"}},
		"a request that the handler sends reports nothing": {single, func(ctx context.Context, s *Session) error {
			s.Call(ctx, "mcp_aql", []byte(`{"operations":[{"operation":"introspect","params":{"query":"types"}}]}`))
			return nil
		}, nil},
		"items of a batch, and handlers between them": {batch, func(ctx context.Context, _ *Session) error {
			pause()
			ReportProgress(ctx, 1, 2, "Half of it")
			ReportProgress(ctx, 5, 0, "without a total")
			pause()
			return nil
		}, []string{
			"0.5/3 Half of it", "1/3 'work' succeeded, 1 of 3", "2.5/3 Half of it", "3/3 'work' succeeded, 3 of 3",
		}},
		"items that are done in no time": {batch, func(context.Context, *Session) error { return nil },
			[]string{"1/3 'work' succeeded, 1 of 3", "3/3 'work' succeeded, 3 of 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if diff := cmp.Diff(tt.want, progressReports(t, tt.request, tt.work)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Goroutines that a handler leaves behind report nothing after the call.
func TestProgressEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, err := range []error{nil, errors.New("no")} {
			var late sync.WaitGroup
			reports := progressReports(t, `{"operation":"work"}`, func(ctx context.Context, _ *Session) error {
				late.Go(func() {
					time.Sleep(time.Minute)
					ReportProgress(ctx, 1, 2, "late")
				})
				return err
			})
			if late.Wait(); reports != nil {
				t.Errorf("after %v: %q", err, reports)
			}
		}
	})
}

// A context that belongs to no request, and one whose client did not ask, change nothing.
func TestProgressThatNobodyAskedFor(t *testing.T) {
	ReportProgress(t.Context(), 1, 2, "")
	ReportProgress(WithProgress(t.Context(), nil), 1, 2, "")
	ReportProgress(&handling{Context: t.Context()}, 1, 2, "")
	ReportProgress(&handling{Context: WithProgress(t.Context(), nil)}, 1, 2, "")
}
