package house_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/webhook"
)

// delivery is a webhook as a receiver has it.
type delivery struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// deliver sends a notice that is signed with keys, and returns what arrives.
func deliver(t *testing.T, keys ...string) (got delivery) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = delivery{make(map[string]string), string(body)}
		for name := range r.Header {
			got.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
	}))
	defer server.Close()
	secrets := make([][]byte, len(keys))
	for i, key := range keys {
		secrets[i] = []byte(key)
	}
	hook, err := webhook.New(server.URL, secrets)
	if err != nil {
		t.Fatal(err)
	}
	if err := hook.Tell(t.Context(), notify.Notice{
		ID: "msg_1", Adapter: "nötes", Waiting: 1, Items: []notify.Item{{ID: "ask_1", Kind: approve.Block, Agent: "bot</>"}},
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// The verifier on the page about notifications accepts what webhooks send with its key, alone or beside another one,
// and nothing else.
func TestVerifierOfWebhooks(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("AQL_REQUIRE_SERVERS") == "1" {
			t.Fatal("there is no node, which AQL_REQUIRE_SERVERS=1 demands: install the package nodejs")
		}
		t.Skip("there is no node: install the package nodejs to run this test")
	}
	_, code, found := strings.Cut(pages(t)["docs/notifications.md"], "```js\n")
	if code, _, _ = strings.Cut(code, "```"); !found {
		t.Fatal("the page has no verifier")
	}
	secret := func(char string) string {
		return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(char, 32)))
	}
	type question struct {
		delivery
		Secret string `json:"secret"`
		Later  int64  `json:"later"` // milliseconds
		Sent   int64  `json:"sent"`
	}
	sent := time.Now().UnixMilli() // from when it is later or before, however long a program takes to start
	good := deliver(t, secret("k"))
	longer := good
	longer.Body += " "
	with := func(header string, change func(was string) string) question {
		other := good
		other.Headers = maps.Clone(good.Headers)
		other.Headers[header] = change(other.Headers[header])
		return question{other, secret("k"), 0, sent}
	}
	for name, tt := range map[string]struct {
		question question
		want     string
	}{
		"as it came":            {question{good, secret("k"), 0, sent}, "true"},
		"the key before":        {question{deliver(t, secret("n"), secret("k")), secret("k"), 0, sent}, "true"},
		"the new key":           {question{deliver(t, secret("n"), secret("k")), secret("n"), 0, sent}, "true"},
		"another key":           {question{good, secret("x"), 0, sent}, "false"},
		"six minutes later":     {question{good, secret("k"), 360_000, sent}, "false"},
		"six minutes before":    {question{good, secret("k"), -360_000, sent}, "false"},
		"another body":          {question{longer, secret("k"), 0, sent}, "false"},
		"another identity":      {with("webhook-id", func(string) string { return "msg_2" }), "false"},
		"another time":          {with("webhook-timestamp", func(was string) string { return was + ".5" }), "false"},
		"no signature":          {with("webhook-signature", func(string) string { return "" }), "false"},
		"a part of a signature": {with("webhook-signature", func(was string) string { return was[:20] }), "false"},
	} {
		text, err := json.Marshal(tt.question)
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(t.TempDir(), "receiver.mjs")
		if err := os.WriteFile(program, []byte(code+`
const q = JSON.parse(await new Response(process.stdin).text());
console.log(verify(q.secret, q.headers, q.body, q.sent + q.later));
`), 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.Command(node, program)
		run.Stdin, run.Stderr = strings.NewReader(string(text)), os.Stderr
		out, err := run.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
			t.Errorf("%s: the verifier says %s, %v; want %s", name, got, err, tt.want)
		}
	}
}
