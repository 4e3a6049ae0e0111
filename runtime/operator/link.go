package operator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/internal/invite"
	"github.com/aqltag/aqltag/runtime/internal/loopback"
	"github.com/aqltag/aqltag/runtime/words"
)

// Why there is no link.
var (
	errNoConsole = errors.New("no console of this state is served now: start the adapter with -console, or say with -at " +
		"where people reach it")
	errOtherMachine = errors.New("the state says that the console is on another machine, and whoever can write the " +
		"state may have written that: say with -at where people reach it, or keep the state with -state-key")
	errNoAddress = errors.New("-at is the address at which people reach the console: https://, or http:// for this " +
		"machine, and a host")
)

// link shows a link that lets the person into the console, once, on the terminal and nowhere else.
func (d *Desk) link(ctx context.Context, f Flags) error {
	consoles, err := d.consoles(ctx, f.At)
	if err != nil {
		return err
	}
	t, err := d.dialog("a link is shown")
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.logIn(ctx, t, true); err != nil {
		return err
	}
	known, err := d.book().Account(ctx, d.Who)
	if err != nil {
		return err
	}
	secret, err := invite.Book{Store: d.State, Now: d.Now}.New(ctx, d.Who, known.Version)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, at := range consoles {
		fmt.Fprintf(&text, "\n  %s\n", words.Printable(setup.LinkAddress(at, secret)))
	}
	fmt.Fprintf(&text, "\nOpen it in a browser within %d minutes. It logs in whoever uses it first as %s, once.\n",
		int(invite.Lifetime.Minutes()), words.Printable(d.Who.Subject))
	return t.say(text.String())
}

// consoles returns where people reach consoles: at the address of a flag, or where they are served by now.
func (d *Desk) consoles(ctx context.Context, at string) ([]string, error) {
	if at != "" {
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
			u.Scheme != "https" && (u.Scheme != "http" || !loopback.Is(u.Host)) {
			return nil, errNoAddress
		}
		return []string{at}, nil
	}
	all, err := setup.Places(ctx, d.State)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, errNoConsole
	case len(d.Keys) > 0: // nobody else has written it
		return all, nil
	}
	if all = slices.DeleteFunc(all, func(at string) bool { return !setup.IsHere(at) }); len(all) == 0 {
		return nil, errOtherMachine
	}
	return all, nil
}
