package console

import (
	"errors"
	"net/http"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// What fails for two reasons has the same answer each time.
func TestErrorsOfSeveralReasons(t *testing.T) {
	for name, tt := range map[string]struct {
		all  []known
		err  error
		want known
	}{
		"a vote": {
			statuses, errors.Join(approve.ErrMistyped, approve.ErrDecided), known{approve.ErrDecided, http.StatusConflict},
		},
		"an execution":  {cancelStatuses, errors.Join(passphrase.ErrWrong, errEnded), known{errEnded, http.StatusConflict}},
		"of one reason": {statuses, approve.ErrNoReason, known{approve.ErrNoReason, http.StatusUnprocessableEntity}},
		"a passkey":     {passkeyStatuses, errors.Join(errNoDeed, errNoSite), known{errNoSite, http.StatusForbidden}},
	} {
		for range 50 {
			if got, ok := knownError(tt.err, tt.all); !ok || got != tt.want {
				t.Fatalf("%s: %v, want %v", name, got, tt.want)
			}
		}
	}
	if got, ok := knownError(errors.New("the disk is full"), statuses); ok {
		t.Errorf("people are told %v", got)
	}
}
