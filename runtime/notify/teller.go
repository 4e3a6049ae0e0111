package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

const (
	// lookEvery is how often the inbox is looked at without a hint, and restBetween how long after a look the next one
	// is at the earliest, whatever the number of hints.
	lookEvery, restBetween = 5 * time.Second, time.Second
	// tellTimeout bounds how long a channel may take to tell people, storeTimeout the store for what belongs to that, and
	// lookTimeout the store for all of the inbox.
	tellTimeout, storeTimeout, lookTimeout = 10 * time.Second, 5 * time.Second, time.Minute
	// firstPause is how long a channel is left alone after a failure. It doubles with each one, up to longestPause.
	firstPause, longestPause = time.Second, 5 * time.Minute
	// perMinute bounds the notices of a channel within a minute.
	perMinute = 4
	// standardPerHour is the PerHour of zero Options.
	standardPerHour = 30
)

// Options configures Start. Store, Adapter and Channels are required.
type Options struct {
	// Store is the one of the adapter, and opens what that has sealed. Adapter is its name: others may share the store.
	Store    store.Store
	Adapter  string
	Channels []Channel
	// Link is the address of the console of the adapter, where people decide; empty: there is none to link to.
	Link string
	// Details has channels that no agent on this machine can read tell the questions, the reasons and the parameters of
	// items, too.
	Details bool
	// Again is how long before an item expires people are told once more; zero: never.
	Again time.Duration
	// PerHour bounds the notices of each channel within an hour, over all processes; default 30. The last one says that it
	// is. What comes then is told in one notice when there is room again. Those about agents that are blocked have as much
	// room of their own.
	PerHour int
	// Logger gets failures; nil: slog.Default.
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Start has people told what waits, until ctx ends. It fails if an option is missing or wrong; what fails later is
// logged and tried again. wait returns when ctx has ended and what was being told then is told. Where nobody starts it,
// nobody is told: it may run in every process that shares the store.
func Start(ctx context.Context, o Options) (wait func(), err error) {
	inbox, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("telling people what waits: %w", err)
	}
	var running sync.WaitGroup
	lines := make([]*line, len(o.Channels))
	names := make(map[string]int)
	for i, channel := range o.Channels {
		name := channel.Name()
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, names[name])
		}
		lines[i] = &line{
			o: &o, inbox: inbox, channel: channel, name: name, key: keyOf(o.Adapter, name), items: make(chan []approve.Item, 1),
		}
		running.Go(func() { lines[i].run(ctx) })
		o.Logger.Info("People are told what waits for them", "channel", name, "strength", channel.Strength())
	}
	running.Go(func() { watch(ctx, &o, inbox, lines) })
	return running.Wait, nil
}

// check completes the options, and returns the inbox of what waits.
func (o *Options) check() (approve.Inbox, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.PerHour == 0 {
		o.PerHour = standardPerHour
	}
	if o.Store == nil || o.Adapter == "" || len(o.Channels) == 0 || o.PerHour < 0 || o.Again < 0 {
		return nil, errors.New("it needs a store, the name of the adapter, a channel, and no negative number")
	}
	if err := o.checkLink(); err != nil {
		return nil, err
	}
	box, err := verify.New(verify.Options{Store: o.Store, Adapter: o.Adapter, Logger: o.Logger, Now: o.Now})
	if err != nil {
		return nil, err
	}
	return box.Inbox(approve.New(o.Store)), nil
}

// checkLink fails if people could not open the link.
func (o *Options) checkLink() error {
	if o.Link == "" {
		return nil
	}
	link, err := url.Parse(o.Link)
	if err != nil || link.Scheme != "https" && link.Scheme != "http" || link.Host == "" || link.User != nil ||
		link.RawQuery != "" || link.Fragment != "" {
		return fmt.Errorf("the link %q is not the address of a console, such as https://console.example.com", o.Link)
	}
	return nil
}

// watch gives every line what waits, again and again, until ctx ends.
func watch(ctx context.Context, o *Options, inbox approve.Inbox, lines []*line) {
	changes := inbox.Changes(ctx)
	failing := false
	for ctx.Err() == nil {
		items, err := look(ctx, inbox)
		if _, some := errors.AsType[*approve.UnreadableError](err); some { // who decides is told
			err = nil
		}
		switch {
		case err == nil:
			failing = false
			waiting := o.waiting(items, o.Now())
			for _, line := range lines {
				line.offer(waiting)
			}
		case ctx.Err() == nil && !failing:
			failing = true
			o.Logger.Error("what waits for people cannot be read, so they are not told", slog.Any("error", err))
		}
		if !sleep(ctx, restBetween) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery - restBetween):
		case _, open := <-changes:
			if !open {
				changes = nil
			}
		}
	}
}

// look reads the inbox.
func look(ctx context.Context, inbox approve.Inbox) ([]approve.Item, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return inbox.List(ctx)
}

// sleep waits for a while, and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
