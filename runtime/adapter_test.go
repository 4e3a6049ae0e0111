package aql

import (
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/trust"
)

// REQ-PM-09: where it is wanted, agents learn the identifier of their session, and nothing else changes.
func TestSessionIDInIntrospection(t *testing.T) {
	const list = `{"operation":"introspect","params":{"query":"operations"}}`
	f := newFixture(t, Options{SessionID: true})
	other := f.adapter.NewSession()
	plain := newFixture(t, Options{}).call("mcp_aql_read", list)
	for _, session := range []*Session{f.session, other} {
		f.session = session
		got := f.call("mcp_aql_read", list)
		without := strings.Replace(got, `"session_id":"`+session.ID()+`",`, "", 1)
		if without == got || without != plain {
			t.Errorf("session %s:\n%.300s\nand without it\n%.300s", session.ID(), got, plain)
		}
	}
}

// REQ-TR-12: an adapter whose validation is too old says so when it starts.
func TestDueValidationIsLogged(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		standing trust.Standing
		want     bool
	}{
		"validated six days ago":   {trust.Standing{Level: trust.Validated, ValidatedAt: now.AddDate(0, 0, -6)}, false},
		"validated eight days ago": {trust.Standing{Level: trust.Validated, ValidatedAt: now.AddDate(0, 0, -8)}, true},
		"reviewed eight days ago": {
			trust.Standing{Level: trust.CommunityReviewed, ValidatedAt: now.AddDate(0, 0, -8)}, false,
		},
		"never validated": {trust.Standing{Level: trust.Generated}, false},
	} {
		f := newFixture(t, Options{Trust: &trust.Options{Standing: tt.standing}, Now: func() time.Time { return now }})
		if got := strings.Contains(f.log.String(), "level=WARN msg=\"The adapter is due for validation\""); got != tt.want {
			t.Errorf("%s: logged %v\n%s", name, got, f.log)
		}
	}
}
