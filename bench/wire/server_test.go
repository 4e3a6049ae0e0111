//go:build unix

package wire

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What would fail the test for which a server is started, or skip it, fails a benchmark, and what was started is ended,
// the last of it first.
func TestServersThatDoNotStart(t *testing.T) {
	for _, tt := range []struct {
		name    string
		end     func(testing.TB)
		missing bool
	}{
		{"one that is not installed", func(t testing.TB) { t.Skipf("there is no %s", "server") }, true},
		{"one that is required", func(t testing.TB) { t.Fatalf("there is no %s", "server") }, false},
		{"one that fails", func(t testing.TB) { t.Fatal(errors.New("there is no server")) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ended []string
			_, _, err := serve(t.Context(), func(host testing.TB) *sql.DB {
				host.Cleanup(func() { ended = append(ended, "first") })
				host.Cleanup(func() { ended = append(ended, "second") })
				tt.end(host)
				t.Error("it goes on")
				return nil
			})
			if err == nil || errors.Is(err, ErrMissing) != tt.missing {
				t.Errorf("the error is %v", err)
			}
			if diff := cmp.Diff([]string{"second", "first"}, ended); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
