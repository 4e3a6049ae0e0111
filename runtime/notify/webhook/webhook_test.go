package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/webhook"
	"github.com/aqltag/aqltag/runtime/verify"
)

// received is what a receiver has got.
type received struct {
	header http.Header
	body   string
}

// receiver starts a server that answers with a status, and keeps what it gets.
func receiver(t *testing.T, status int) (url string, got chan received) {
	t.Helper()
	got = make(chan received, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- received{r.Header, r.Method + " " + r.URL.String() + "\n" + string(body)}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

var at = time.Date(2026, 11, 23, 14, 2, 0, 0, time.UTC)

func notice() notify.Notice {
	return notify.Notice{
		ID: "msg_AAAA", Adapter: "notes", At: at, Waiting: 3, Link: "https://console.example.com/",
		Items: []notify.Item{
			{
				ID: "ask_B", Kind: approve.Block, Caller: identity.Caller{Subject: "bob", Issuer: "test", Scopes: []string{"x"}},
				Agent: "evil\u202ebot", Opened: at,
			},
			{
				ID: "ask_A", Kind: approve.Confirmation, Operation: "delete_note", Danger: gen.Destructive,
				Caller: identity.Caller{Subject: "ann"}, Opened: at, Expires: at.Add(5 * time.Minute),
				Link:    "https://console.example.com/items/ask_A",
				Details: &notify.Details{Message: "Delete?", Reasons: []string{"It is gone"}, Params: `{"id":"n1\u202e"}`},
			},
		},
	}
}

// key is 32 bytes in the form of the specification.
var (
	raw = []byte("0123456789abcdef0123456789abcdef")
	key = []byte("whsec_" + base64.StdEncoding.EncodeToString(raw))
)

// The body of a webhook has what is told, in a documented form, and is signed with every key over id, time and body.
func TestNoticesArePostedAndSigned(t *testing.T) {
	url, got := receiver(t, http.StatusNoContent)
	old := []byte("an old key, which receivers may still have")
	hook, err := webhook.New(url+"/aql?team=notes", [][]byte{key, old})
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now().Unix()
	if err := hook.Tell(t.Context(), notice()); err != nil {
		t.Fatal(err)
	}
	request := <-got
	line, body, _ := strings.Cut(request.body, "\n")
	if line != "POST /aql?team=notes" {
		t.Errorf("the request is %q", line)
	}
	if got := request.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("the type of the body is %q", got)
	}
	if id := request.header.Get("webhook-id"); id != "msg_AAAA" {
		t.Errorf("the identity is %q", id)
	}
	var signed int64
	if err := json.Unmarshal([]byte(request.header.Get("webhook-timestamp")), &signed); err != nil ||
		signed < before || signed > time.Now().Unix() {
		t.Errorf("it was signed at %d, %v", signed, err)
	}
	signatures := strings.Fields(request.header.Get("webhook-signature"))
	if len(signatures) != 2 {
		t.Fatalf("there are %d signatures", len(signatures))
	}
	for i, key := range [][]byte{raw, old} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("msg_AAAA." + request.header.Get("webhook-timestamp") + "." + body))
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); signatures[i] != want {
			t.Errorf("the signature of key %d is %s, want %s", i, signatures[i], want)
		}
	}
	want := `{
  "type": "items.waiting",
  "timestamp": "2026-11-23T14:02:00Z",
  "data": {
    "adapter": "notes",
    "title": "notes: an agent is blocked",
    "urgent": true,
    "waiting": 3,
    "items": [
      {
        "id": "ask_B",
        "kind": "block",
        "caller": {
          "subject": "bob",
          "issuer": "test"
        },
        "agent": "evil\\u202ebot",
        "opened": "2026-11-23T14:02:00Z"
      },
      {
        "id": "ask_A",
        "kind": "confirmation",
        "operation": "delete_note",
        "danger_level": "destructive",
        "caller": {
          "subject": "ann"
        },
        "opened": "2026-11-23T14:02:00Z",
        "expires": "2026-11-23T14:07:00Z",
        "link": "https://console.example.com/items/ask_A",
        "details": {
          "message": "Delete?",
          "reasons": [
            "It is gone"
          ],
          "params": {
            "id": "n1\u202e"
          }
        }
      }
    ],
    "more": 0,
    "link": "https://console.example.com/"
  },
  "text": "` + strings.Join([]string{
		"notes: an agent is blocked", `Agent 'evil\\u202ebot' of bob (test) is blocked until somebody lets it go on.`,
		"ann asks for delete_note (destructive), until 14:07 UTC.", "  question: Delete?", "  why: It is gone",
		"  the agent has chosen:", `    id  \"n1\\u202e\"`, "In all, 3 items wait.", "https://console.example.com/",
	}, `\n`) + `"
}`
	if diff := cmp.Diff(want, indented(t, body)); diff != "" {
		t.Errorf("the body differs (-want +got):\n%s", diff)
	}
}

// No text of others that a receiver shows to people, as it is decoded, hides anything or changes how others look.
func TestTextsOfOthersMisleadNobody(t *testing.T) {
	url, got := receiver(t, http.StatusNoContent)
	hook, err := webhook.New(url, [][]byte{key})
	if err != nil {
		t.Fatal(err)
	}
	const evil = "safe\u202eevil"
	evilCaller := identity.Caller{Subject: evil, Issuer: evil}
	err = hook.Tell(t.Context(), notify.Notice{
		Adapter: "notes", Items: []notify.Item{{
			ID: "ask_A", Kind: approve.Confirmation, Operation: evil, Danger: evil, Caller: evilCaller, Agent: evil,
			Details: &notify.Details{Message: "Delete?\n" + evil, Reasons: []string{evil}},
		}},
		Lifted: []notify.Lifted{{Agent: evil, Caller: evilCaller, By: []identity.Caller{evilCaller}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	request := <-got
	_, body, _ := strings.Cut(request.body, "\n")
	var decoded any
	if err := json.Unmarshal([]byte(body), &decoded); err != nil {
		t.Fatal(err)
	}
	if shown := fmt.Sprint(decoded); strings.Contains(shown, "\u202e") || !strings.Contains(shown, "Delete?\n") {
		t.Errorf("the body has %q", shown)
	}
}

func indented(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(json.RawMessage(text)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// A webhook without a key, with a weak one, or to an address that others could read on the way is not opened. No error
// has the address, which may be a secret.
func TestWhatIsNotOpened(t *testing.T) {
	for name, tt := range map[string]struct {
		location string
		keys     [][]byte
		want     string
	}{
		"no key":                  {"https://h.example.com/SECRET", nil, "-notify-key webhook=FILE"},
		"a short key":             {"https://h.example.com/SECRET", [][]byte{[]byte("short")}, "it needs 24 random ones"},
		"a short key in base64":   {"https://h.example.com/SECRET", [][]byte{[]byte("whsec_MTIzNA==")}, "has 4 bytes"},
		"a key that is no base64": {"https://h.example.com/SECRET", [][]byte{[]byte("whsec_%%%")}, "is not base64"},
		"http elsewhere":          {"http://h.example.com/SECRET", [][]byte{key}, "it needs an https:// address"},
		"no address":              {"", [][]byte{key}, "it needs an address"},
		"no host":                 {"https:///SECRET", [][]byte{key}, "it needs an address"},
		"a password":              {"https://ann:SECRET@h.example.com/", [][]byte{key}, "a user or a password"},
		"another scheme":          {"file:///SECRET", [][]byte{key}, "it needs an address"},
		"no URL":                  {"https://h.example.com/%zzSECRET", [][]byte{key}, "is not a URL"},
	} {
		_, err := webhook.New(tt.location, tt.keys)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// A webhook is as strong as another device, unless it is on this machine, and its name has no secret.
func TestStrengthAndName(t *testing.T) {
	for location, want := range map[string]verify.Strength{
		"https://hooks.example.com:8443/SECRET?token=SECRET": verify.OtherDevice,
		"http://127.0.0.1:9/SECRET":                          verify.SameUser,
		"http://[::1]:9/SECRET":                              verify.SameUser,
		"https://localhost/SECRET":                           verify.SameUser,
	} {
		hook, err := webhook.New(location, [][]byte{key})
		if err != nil {
			t.Fatal(err)
		}
		if hook.Strength() != want || strings.Contains(hook.Name(), "SECRET") || !strings.HasPrefix(hook.Name(), "webhook ") {
			t.Errorf("%s is %q, as strong as %v", location, hook.Name(), hook.Strength())
		}
	}
}

// An answer other than success is a failure.
func TestFailures(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusBadGateway} {
		url, _ := receiver(t, status)
		hook, err := webhook.New(url+"/SECRET", [][]byte{key})
		if err != nil {
			t.Fatal(err)
		}
		if err := hook.Tell(t.Context(), notice()); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("the status %d is %v", status, err)
		}
	}
	url, _ := receiver(t, http.StatusOK)
	hook, err := webhook.New(url+"/SECRET", [][]byte{key})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := hook.Tell(ctx, notice()); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("what is cancelled ends with %v", err)
	}
}
