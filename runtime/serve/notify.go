package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/notify"
)

// Notify tells people that something waits for them: notify.Teller.
type Notify interface {
	// Open opens the channels that a text names, with the secrets of each kind.
	Open(channels string, keys map[string][][]byte) ([]notify.Channel, error)
	// Start has people told, until ctx ends. wait returns when that is over.
	Start(ctx context.Context, o notify.Options) (wait func(), err error)
}

// tell has people told that something waits for them, until the function that it returns is called, which waits for the
// end of what is being told.
func (s settings) tell(ctx context.Context, n Notify, adapter aql.Options, log *slog.Logger) (end func(), err error) {
	switch {
	case s.notify == "" && s.notifyKey+s.notifyLink == "" && !s.notifyDetails:
		return func() {}, nil
	case s.notify == "":
		return nil, errors.New("-notify-key, -notify-link and -notify-details: there is no -notify, so nobody is told " +
			"anything")
	case n == nil:
		return nil, errors.New("-notify: this service cannot tell people anything. " +
			"Its author adds channels with serve.Options.Notify")
	case adapter.State == nil || adapter.Confirmation.Inbox == nil:
		return nil, errors.New("-notify: nothing waits for people here: it takes a state that is not in memory (-state), " +
			"and an inbox, which the service has with serve.Options.Operator")
	}
	keys, err := s.notifyKeys()
	if err != nil {
		return nil, err
	}
	channels, err := n.Open(s.notify, keys)
	if err != nil {
		return nil, fmt.Errorf("-notify: %w", err)
	}
	state, err := unsealed(&adapter)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	wait, err := n.Start(ctx, notify.Options{
		Store: state, Adapter: adapter.Name, Channels: channels, Link: s.notifyLink, Details: s.notifyDetails, Logger: log,
	})
	if err != nil {
		stop()
		return nil, fmt.Errorf("-notify: %w", err)
	}
	return func() {
		stop()
		wait()
	}, nil
}

// notifyKeys reads the files of -notify-key: for each kind of channel the key, and those before it.
func (s settings) notifyKeys() (map[string][][]byte, error) {
	keys := make(map[string][][]byte)
	if s.notifyKey == "" {
		return keys, nil
	}
	for part := range strings.SplitSeq(s.notifyKey, ",") {
		kind, path, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found || kind == "" || path == "" {
			return nil, fmt.Errorf("-notify-key %s: it is the kind of a channel and a file, such as webhook=hook.key",
				s.notifyKey)
		}
		key, err := readKey("notify-key", path)
		if err != nil {
			return nil, err
		}
		keys[kind] = append(keys[kind], key)
	}
	return keys, nil
}
