package console_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/console"
)

// Who has typed too many wrong passphrases is let in after the time that the answer names, whenever in a second that
// begins, and not before. The log has who came in, and nothing of what others have typed.
func TestWhoHasWaitedIsLetIn(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 999 * time.Millisecond, 5999 * time.Millisecond} {
		var log bytes.Buffer
		s := newSite(t, func(o *console.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		s.knows("eve", secretWord)
		s.now = s.now.Add(after)
		b, right := s.browser(), url.Values{"name": {"eve"}, "passphrase": {secretWord}}
		for range 10 {
			b.post("/login", url.Values{"name": {"eve"}, "passphrase": {"mistyped by eve"}})
		}
		refused := b.post("/login", right)
		wait, err := strconv.Atoi(refused.Header().Get("Retry-After"))
		if refused.Code != http.StatusTooManyRequests || err != nil {
			t.Fatalf("%d, Retry-After %v", refused.Code, refused.Header()["Retry-After"])
		}
		if text := log.String(); strings.Contains(text, "mistyped") || strings.Contains(text, "person") {
			t.Errorf("the log of refusals is\n%s", text)
		}
		s.now = s.now.Add(59 * time.Second)
		if early := b.post("/login", right); early.Code != http.StatusTooManyRequests {
			t.Errorf("within a minute: %d", early.Code)
		}
		s.now = s.now.Add(time.Duration(wait-59) * time.Second)
		if late := b.post("/login", right); late.Code != http.StatusSeeOther {
			t.Errorf("%v into a slot, after %d s: %d", after, wait, late.Code)
		}
		if text := log.String(); strings.Count(text, "a person has logged in to the console\" person=eve") != 1 {
			t.Errorf("then the log is\n%s", text)
		}
	}
}
