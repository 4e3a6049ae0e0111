package state

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/verify"
)

// bySecret are the parts of a request that have a secret, or are made with one: its first line with the address, the
// headers that show who sends it, and the topic.
var bySecret = regexp.MustCompile(
	`^POST .*\r\n|(?m)^Authorization: Bearer .*\r\n|^Webhook-Signature: .*\r\n|"topic":"[^"]*"`)

// REQ-OV-03: no code, no passphrase and no secret is in a byte that people are sent, in the log of the process that
// sends it, in its arguments and its environment, or in the state. Nor is what agents say and choose, where nobody has
// asked for details.
func TestNoticesHaveNoSecrets(t *testing.T) {
	const (
		passphrase = "correct horse battery"
		key, token = "a key that signs webhooks, of 39 bytes!", "tk_agqdq7mvbofd37zqvn29rhumznz2xx"
		path       = "a-path-that-nobody-guesses-1234567890"
		topic      = "a-topic-that-nobody-guesses-1234567890"
		chosen     = "chosen by the agent, and long enough"
		said       = "said by the agent, rm -rf and so on"
	)
	requests := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		dump, err := httputil.DumpRequest(r, true)
		if err != nil {
			t.Error(err)
		}
		requests <- string(dump)
	}))
	defer server.Close()
	kept, dir := t.TempDir(), t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(kept, name)
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	channels := "webhook=@" + file("hook", server.URL+"/"+path) + ",ntfy=@" + file("topic", server.URL+"/"+topic)
	keys := "webhook=" + file("key", key) + ",ntfy=" + file("token", token)

	location := filepath.Join(dir, "state.db")
	state, err := openStore(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	chooses := startTyping(t, "-state", location, "operator", "passphrase")
	chooses.types(t, "New passphrase, of 12 characters or more: ", 1, passphrase)
	chooses.types(t, "The same once more: ", 1, passphrase)
	chooses.ends(t)

	var seen, printed strings.Builder
	tells := exec.CommandContext(t.Context(), os.Args[0],
		"-state", location, "-log-level", "debug", "-notify", channels, "-notify-key", keys,
		"-policy", file("policy.yaml", "version: 1\nloop: {challenge: {channel: same_user}}"))
	tells.Env = append(os.Environ(), workerVariable+"=service")
	tells.Stdout, tells.Stderr = &printed, &printed
	client, err := tells.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tells.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- tells.Wait() }()
	told := func() {
		for range 2 {
			request := ""
			select {
			case request = <-requests:
			case err := <-ended:
				t.Fatalf("the process has ended: %v\n%s", err, &printed)
			}
			if len(bySecret.FindAllString(request, -1)) < 2 {
				t.Errorf("the request has no part that is made with a secret: %s", request)
			}
			seen.WriteString(bySecret.ReplaceAllString(request, ""))
		}
	}
	box, err := verify.New(verify.Options{Store: state, Adapter: "things"})
	if err != nil {
		t.Fatal(err)
	}
	caller := aql.Caller{Subject: "ann", Issuer: "test"}
	id, err := box.Open(t.Context(), verify.Subject{Caller: caller, Agent: "release_bot", Block: true, Says: said})
	if err != nil {
		t.Fatal(err)
	}
	told()
	looks := startTyping(t, "-state", location, "operator", "show-code", id.String())
	looks.types(t, "Passphrase of ", 1, passphrase)
	looks.ends(t)
	shown := codeOnScreen.FindStringSubmatch(looks.sees())
	if shown == nil {
		t.Fatalf("the terminal shows %q", looks.sees())
	}
	if _, _, err := approve.New(state).Ask(t.Context(), approve.Question{
		Binding: approve.Binding{1}, Kind: approve.Confirmation, Adapter: "things", Operation: "delete_thing",
		Caller: caller, Message: "Delete '" + chosen + "'?", Params: `{"id":"` + chosen + `"}`,
		At: time.Now(), Lifetime: time.Hour,
	}); err != nil {
		t.Fatal(err)
	}
	told()
	if _, err := box.Verify(t.Context(), caller, id.String(), shown[1]); err != nil {
		t.Fatal(err)
	}
	told()
	findNone(t, seen.String(), []string{chosen, said}, "release_bot", "delete_thing", "no longer blocked")
	seen.WriteString(tracesOf(t, tells.Process.Pid))
	client.Close()
	if err := <-ended; err != nil {
		t.Fatalf("%v: %s", err, &printed)
	}
	seen.WriteString(printed.String())
	addFiles(t, &seen, dir)
	findNone(t, seen.String(), []string{shown[1], passphrase, key, token, path, topic},
		"people are told what waits for them", "release_bot", "delete_thing", "-notify")
}
