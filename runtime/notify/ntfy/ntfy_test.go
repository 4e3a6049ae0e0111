package ntfy_test

import (
	"encoding/json"
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
	"github.com/aqltag/aqltag/runtime/notify/ntfy"
	"github.com/aqltag/aqltag/runtime/verify"
)

// published is a message as the server's documentation describes it, with no other members
// (https://docs.ntfy.sh/publish/#publish-as-json).
type published struct {
	Topic, Title, Message, Click string
	Priority                     int
	Tags                         []string
}

const token = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"

// server starts a server of topics, which keeps what is published, and demands the token.
func server(t *testing.T) (url string, got chan published) {
	t.Helper()
	got = make(chan published, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p published
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		switch {
		case r.Method != http.MethodPost || r.URL.String() != "/push/":
			t.Errorf("the request is %s %s", r.Method, r.URL)
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusForbidden)
		case decoder.Decode(&p) != nil:
			w.WriteHeader(http.StatusBadRequest)
		default:
			got <- p
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/push", got
}

var at = time.Date(2026, 11, 23, 14, 2, 0, 0, time.UTC)

func notice(change func(*notify.Notice)) notify.Notice {
	n := notify.Notice{
		ID: "msg_A", Adapter: "notes", At: at, Waiting: 1, Link: "https://console.example.com/items/ask_A",
		Items: []notify.Item{{
			ID: "ask_A", Kind: approve.Confirmation, Operation: "delete_note", Danger: gen.Destructive,
			Caller: identity.Caller{Subject: "änn"}, Opened: at, Expires: at.Add(5 * time.Minute),
		}},
	}
	change(&n)
	return n
}

// What waits is published with the priority that it deserves, and opens the console.
func TestNoticesArePublished(t *testing.T) {
	url, got := server(t)
	topic, err := ntfy.New(url+"/secret-topic", [][]byte{[]byte(token)})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		notice notify.Notice
		want   published
	}{
		"a confirmation": {notice(func(*notify.Notice) {}), published{
			Topic: "secret-topic", Title: "notes: 1 item waits for you", Priority: 3, Tags: []string{"raised_hand"},
			Message: "änn asks for delete_note (destructive), until 14:07 UTC.",
			Click:   "https://console.example.com/items/ask_A",
		}},
		"one that expires soon": {notice(func(n *notify.Notice) { n.Items[0].Soon, n.Link = true, "" }), published{
			Topic: "secret-topic", Title: "notes: 1 item waits for you", Priority: 4, Tags: []string{"raised_hand"},
			Message: "änn asks for delete_note (destructive), which expires at 14:07:00 UTC.",
		}},
		"a block": {
			notice(func(n *notify.Notice) {
				n.Items[0] = notify.Item{Kind: approve.Block, Agent: "bot\n\x1b[2J", Opened: at}
			}),
			published{
				Topic: "secret-topic", Title: "notes: an agent is blocked", Priority: 5, Tags: []string{"no_entry"},
				Message: `Agent 'bot\u000a\u001b[2J' of an anonymous caller is blocked until somebody lets it go on.`,
				Click:   "https://console.example.com/items/ask_A",
			},
		},
	} {
		if err := topic.Tell(t.Context(), tt.notice); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, <-got); diff != "" {
			t.Errorf("%s: what is published differs (-want +got):\n%s", name, diff)
		}
	}
}

// A long text stays a message: servers make files of longer ones than 4,096 bytes.
func TestLongTextsAreCut(t *testing.T) {
	url, got := server(t)
	topic, err := ntfy.New(url+"/topic", [][]byte{[]byte(token)})
	if err != nil {
		t.Fatal(err)
	}
	n := notice(func(n *notify.Notice) {
		n.Items[0].Details = &notify.Details{Message: strings.Repeat("é", 300)}
		for range 19 {
			n.Items[0].Details.Reasons = append(n.Items[0].Details.Reasons, strings.Repeat("é", 300))
		}
	})
	if err := topic.Tell(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if p := <-got; len(p.Message) > 4096 || !strings.HasSuffix(p.Message, "é…") {
		t.Errorf("the text has %d bytes and ends with %q", len(p.Message), p.Message[len(p.Message)-8:])
	}
}

// What the server refuses is a failure, in whose text neither the topic nor the token is.
func TestRefusals(t *testing.T) {
	url, _ := server(t)
	topic, err := ntfy.New(url+"/secret-topic", [][]byte{[]byte("tk_wrong")})
	if err != nil {
		t.Fatal(err)
	}
	err = topic.Tell(t.Context(), notice(func(*notify.Notice) {}))
	if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "tk_wrong") ||
		strings.Contains(err.Error(), "secret-topic") {
		t.Errorf("the refusal is %v", err)
	}
}

// An address without a topic, or a token that would end its header, is refused at once.
func TestWhatIsNotOpened(t *testing.T) {
	for name, tt := range map[string]struct {
		location string
		keys     [][]byte
	}{
		"no topic":                 {"https://ntfy.sh", nil},
		"no topic behind a slash":  {"https://ntfy.sh/", nil},
		"http elsewhere":           {"http://ntfy.sh/topic", nil},
		"a token in a query":       {"https://ntfy.sh/topic?auth=dGs", nil},
		"two tokens":               {"https://ntfy.sh/topic", [][]byte{[]byte("a"), []byte("b")}},
		"a token of several lines": {"https://ntfy.sh/topic", [][]byte{[]byte("tk_a\r\nX-Other: b")}},
		"a token with a blank":     {"https://ntfy.sh/topic", [][]byte{[]byte("tk a")}},
	} {
		if _, err := ntfy.New(tt.location, tt.keys); err == nil {
			t.Errorf("%s: there is no error", name)
		}
	}
	topic, err := ntfy.New("https://ntfy.sh/secret-topic", nil)
	if err != nil {
		t.Fatal(err)
	}
	if topic.Name() != "ntfy ntfy.sh" || topic.Strength() != verify.OtherDevice {
		t.Errorf("the channel is %q, as strong as %v", topic.Name(), topic.Strength())
	}
}
