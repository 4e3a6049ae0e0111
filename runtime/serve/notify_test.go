package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/ntfy"
	"github.com/aqltag/aqltag/runtime/notify/webhook"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
)

var drivers = []notify.Driver{webhook.Driver(), ntfy.Driver()}

// keyFile writes a key into a file.
func keyFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(strings.Repeat("k", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What waits for a person is told on each channel of -notify, also from a sealed state, with the link of -notify-link,
// and with what is asked only on channels that leave the machine.
func TestPeopleAreTold(t *testing.T) {
	bodies := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- r.URL.Path + " " + string(body)
	}))
	defer receiver.Close()
	key, address := keyFile(t), filepath.Join(t.TempDir(), "address")
	if err := os.WriteFile(address, []byte(receiver.URL+"/topic\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := new(shared)
	options := Options{
		Stores: []store.Driver{state.driver()}, Operator: operator.Command{}, Notify: notify.Teller{Drivers: drivers},
	}
	c := run(t, options, "-state", "test://", "-state-key", keyFile(t), "-human-only",
		"-notify", "webhook="+receiver.URL+"/hook,ntfy=@"+address, "-notify-key", "webhook="+key,
		"-notify-link", "https://console.example.com", "-notify-details")
	defer c.end(t)
	id := itemID.FindString(c.remove(t, ""))
	got := make(map[string]string)
	for range 2 {
		path, body, _ := strings.Cut(<-bodies, " ")
		got[path] = body
	}
	var message struct {
		Data struct {
			Items []struct{ ID, Link string }
		}
	}
	if err := json.Unmarshal([]byte(got["/hook"]), &message); err != nil || len(message.Data.Items) != 1 ||
		message.Data.Items[0].ID != id || message.Data.Items[0].Link != "https://console.example.com/items/"+id {
		t.Errorf("the webhook is told %s, %v; want %s", got["/hook"], err, id)
	}
	if body := got["/"]; !strings.Contains(body, `"topic":"topic"`) || !strings.Contains(body, "asks for delete_note") {
		t.Errorf("the topic is told %s", body)
	}
	for path, body := range got {
		if strings.Contains(body, "question") || strings.Contains(body, "params") {
			t.Errorf("%s on this machine is told details: %s", path, body)
		}
	}
}

// What -notify cannot do is said at once, with exit code 3.
func TestNotifyUsage(t *testing.T) {
	key := keyFile(t)
	state := new(shared)
	full := Options{
		Stores: []store.Driver{state.driver()}, Operator: operator.Command{}, Notify: notify.Teller{Drivers: drivers},
	}
	mute, alone := full, full
	mute.Notify, alone.Operator = nil, nil
	for want, tt := range map[string]struct {
		options Options
		args    []string
	}{
		"this service cannot tell people anything": {mute, []string{"-state", "test://", "-notify", "desktop"}},
		"a state that is not in memory":            {full, []string{"-notify", "ntfy=https://ntfy.sh/x"}},
		"an inbox, which the service has": {
			alone, []string{"-state", "test://", "-notify", "ntfy=https://ntfy.sh/x"},
		},
		"there is no -notify": {full, []string{"-notify-key", "webhook=" + key}},
		`no channel "pigeon": this service has ntfy, webhook`: {
			full, []string{"-state", "test://", "-notify", "pigeon"},
		},
		`no channel "pigeon"`: {
			full, []string{"-state", "test://", "-notify", "ntfy=https://ntfy.sh/x", "-notify-key", "pigeon=" + key},
		},
		"-notify-key webhook=FILE": {full, []string{"-state", "test://", "-notify", "webhook=https://h.example.com/"}},
		"the kind of a channel and a file": {
			full, []string{"-state", "test://", "-notify", "webhook=https://h.example.com/", "-notify-key", key},
		},
		"reading the key file": {
			full, []string{"-state", "test://", "-notify", "webhook=https://h.example.com/", "-notify-key", "webhook=/nowhere"},
		},
		"reading where people are told": {full, []string{"-state", "test://", "-notify", "ntfy=@/nowhere"}},
		"is not the address of a console": {
			full, []string{"-state", "test://", "-notify", "ntfy=https://ntfy.sh/x", "-notify-link", "console"},
		},
	} {
		var out bytes.Buffer
		env := environment{stdin: strings.NewReader(""), stdout: &out, stderr: &out, lookup: lookup(nil)}
		tt.options.Name = "notes"
		if code := env.run(t.Context(), registry(nil, nil), tt.options, tt.args); code != exitUsage ||
			!strings.Contains(out.String(), want) {
			t.Errorf("%v: code %d, %s, want %q", tt.args, code, &out, want)
		}
	}
}
