//go:build !darwin && !windows

package desktop_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/notify/desktop"
	"github.com/aqltag/aqltag/runtime/verify"
)

// startBus starts a session bus of its own, and makes it that of the test.
func startBus(t *testing.T) (address string) {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		if os.Getenv("AQL_REQUIRE_SERVERS") == "1" {
			t.Fatal("there is no dbus-daemon, which AQL_REQUIRE_SERVERS=1 demands: install the package dbus-daemon")
		}
		t.Skip("there is no dbus-daemon: install the package dbus-daemon to run this test")
	}
	dir, err := os.MkdirTemp("", "bus") // the paths of t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "session.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, `<!DOCTYPE busconfig PUBLIC
 "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>`, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(daemon, "--config-file="+config, "--nofork", "--print-address")
	run.Stderr = os.Stderr
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("dbus-daemon says nothing: %v", err)
	}
	address = strings.TrimSpace(line)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	return address
}

// notification is what a desktop is to show.
type notification struct {
	App, Icon, Title, Text string
	Replaces               uint32
	Actions                []string
	Hints                  map[string]any
	Timeout                int32
}

// desk is a desktop: the methods of org.freedesktop.Notifications.
type desk struct {
	can   []string
	shown chan notification
}

func (d *desk) GetCapabilities() ([]string, *dbus.Error) { return d.can, nil }

func (d *desk) Notify(
	app string, replaces uint32, icon, title, text string, actions []string, hints map[string]dbus.Variant, timeout int32,
) (uint32, *dbus.Error) {
	n := notification{
		App: app, Replaces: replaces, Icon: icon, Title: title, Text: text, Actions: actions, Timeout: timeout,
		Hints: make(map[string]any),
	}
	for name, hint := range hints {
		n.Hints[name] = hint.Value()
	}
	d.shown <- n
	return 7, nil
}

// startDesk has a desktop on the bus that can do something.
func startDesk(t *testing.T, address string, can ...string) *desk {
	t.Helper()
	d := &desk{can: can, shown: make(chan notification, 10)}
	bus, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	if err := bus.Export(d, "/org/freedesktop/Notifications", "org.freedesktop.Notifications"); err != nil {
		t.Fatal(err)
	}
	if reply, err := bus.RequestName("org.freedesktop.Notifications", dbus.NameFlagReplaceExisting); err != nil ||
		reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return d
}

func notice() notify.Notice {
	at := time.Date(2026, 11, 23, 14, 2, 0, 0, time.UTC)
	return notify.Notice{
		ID: "msg_A", Adapter: "notes", At: at, Waiting: 1, Link: "https://console.example.com/?a&b",
		Items: []notify.Item{{
			ID: "ask_A", Kind: approve.Confirmation, Operation: "delete_note", Danger: gen.Destructive,
			Caller: identity.Caller{Subject: "<b>ann</b>"}, Opened: at, Expires: at.Add(5 * time.Minute),
		}},
	}
}

// What waits is shown on the desktop, with the markup of texts escaped where the desktop reads markup, and a block is
// critical.
func TestNoticesAreShown(t *testing.T) {
	address := startBus(t)
	blocked := notice()
	blocked.Link = ""
	blocked.Items[0] = notify.Item{Kind: approve.Block, Agent: "<img src=x>"}
	for name, tt := range map[string]struct {
		can    []string
		notice notify.Notice
		want   notification
	}{
		"a desktop without markup": {[]string{"body"}, notice(), notification{
			App: "notes", Title: "notes: 1 item waits for you", Timeout: -1, Actions: []string{},
			Text:  "<b>ann</b> asks for delete_note (destructive), until 14:07 UTC.\nhttps://console.example.com/?a&b",
			Hints: map[string]any{"urgency": byte(1)},
		}},
		"a desktop with markup": {[]string{"body", "body-markup"}, notice(), notification{
			App: "notes", Title: "notes: 1 item waits for you", Timeout: -1, Actions: []string{},
			Text: "&lt;b&gt;ann&lt;/b&gt; asks for delete_note (destructive), until 14:07 UTC.\n" +
				"https://console.example.com/?a&amp;b",
			Hints: map[string]any{"urgency": byte(1)},
		}},
		"a block": {[]string{"body-markup"}, blocked, notification{
			App: "notes", Title: "notes: an agent is blocked", Timeout: -1, Actions: []string{},
			Text:  "Agent '&lt; img src=x&gt;' of an anonymous caller is blocked until somebody lets it go on.",
			Hints: map[string]any{"urgency": byte(2)},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := startDesk(t, address, tt.can...)
			if err := desktop.New().Tell(t.Context(), tt.notice); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, <-d.shown); diff != "" {
				t.Errorf("what is shown differs (-want +got):\n%s", diff)
			}
		})
	}
}

// Where no desktop is, or no session, telling fails, and starts neither.
func TestNoDesktop(t *testing.T) {
	address := startBus(t)
	err := desktop.New().Tell(t.Context(), notice())
	if err == nil || !strings.Contains(err.Error(), "no desktop answers") {
		t.Errorf("without a desktop: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	startDesk(t, address)
	if err := desktop.New().Tell(ctx, notice()); err == nil {
		t.Error("what is cancelled is shown")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir) // where a bus would be started from
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if err := desktop.New().Tell(t.Context(), notice()); err == nil || !strings.Contains(err.Error(), "no session") {
		t.Errorf("without a session: %v", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+dir+"/bus")
	if err := desktop.New().Tell(t.Context(), notice()); err == nil || !strings.Contains(err.Error(), "connecting to") {
		t.Errorf("without a bus: %v", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	socket := strings.TrimPrefix(strings.Split(address, ",")[0], "unix:path=")
	t.Setenv("XDG_RUNTIME_DIR", filepath.Dir(socket))
	if err := desktop.New().Tell(t.Context(), notice()); err != nil {
		t.Errorf("with the bus of the runtime directory: %v", err)
	}
}

// A bus that accepts connections and says nothing, as that of a frozen session does, holds nobody up for longer than
// the context lasts.
func TestSilentBus(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+listener.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := desktop.New().Tell(ctx, notice()); err == nil {
		t.Error("a bus that says nothing has shown something")
	}
}

// The desktop has no address and no key, and is as strong as the programs of its user.
func TestDriver(t *testing.T) {
	d := desktop.Driver()
	if _, err := d.Open("DISPLAY=:0", nil); err == nil {
		t.Error("an address is accepted")
	}
	if _, err := d.Open("", [][]byte{[]byte("key")}); err == nil {
		t.Error("a key is accepted")
	}
	channel, err := d.Open("", nil)
	if err != nil || d.Name != "desktop" || channel.Name() != "desktop" || channel.Strength() != verify.SameUser {
		t.Errorf("%v, %v", channel, err)
	}
}
