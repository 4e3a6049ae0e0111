//go:build !darwin && !windows

package desktop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"github.com/aqltag/aqltag/runtime/notify"
)

// The interface of desktops, of the Desktop Notifications Specification
// (https://specifications.freedesktop.org/notification-spec/latest/).
const (
	service = "org.freedesktop.Notifications"
	object  = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// The urgency of a notification.
const (
	normal   = byte(1)
	critical = byte(2)
)

// Tell connects to the session bus for one notification, so that nothing stays open between two.
func (desktop) Tell(ctx context.Context, n notify.Notice) error {
	address, err := sessionBus()
	if err != nil {
		return err
	}
	bus, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("connecting to the session bus: %w", err)
	}
	defer func() { _ = bus.Close() }()
	desk := bus.Object(service, object)
	var can []string
	if err := desk.CallWithContext(ctx, service+".GetCapabilities", 0).Store(&can); err != nil {
		return fmt.Errorf("no desktop answers on the session bus: %w", err)
	}
	title, text := shown(&n)
	if slices.Contains(can, "body-markup") { // in the text, and never in the title
		text = escapes.Replace(text)
	}
	urgency := normal
	if n.Urgent() {
		urgency = critical
	}
	const standard = int32(-1) // how long it is shown
	var id uint32
	err = desk.CallWithContext(ctx, service+".Notify", 0, cut(n.Adapter, longestTitle), uint32(0), "", title, text,
		[]string{}, map[string]dbus.Variant{"urgency": dbus.MakeVariant(urgency)}, standard).Store(&id)
	if err != nil {
		return fmt.Errorf("the desktop shows nothing: %w", err)
	}
	return nil
}

// escapes writes characters of the markup of texts.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// sessionBus returns the address of the session bus. It starts none.
func sessionBus() (string, error) {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address, nil
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		path := filepath.Join(dir, "bus")
		if _, err := os.Stat(path); err == nil {
			return "unix:path=" + path, nil
		}
	}
	return "", errors.New("this process is in no session of a desktop: there is no DBUS_SESSION_BUS_ADDRESS")
}
