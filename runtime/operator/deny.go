package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// What is wrong with a command that denies.
var (
	errNothingNamed = errors.New("deny needs the ID of an item, as list prints it, or -agent or -operation")
	errNamedTwice   = errors.New("deny takes either IDs, or -agent and -operation")
	errNothingWaits = errors.New("nothing is denied: nothing waits that these flags select and you may decide about")
	errNotAllDenied = errors.New("not all of these items are denied")
	errNoCommon     = errors.New("nothing is denied: several items at once need a reason")
)

// deny denies the items with these IDs, or those that the flags select.
func (d *Desk) deny(ctx context.Context, f Flags, ids []string) error {
	selects := f.Agent != "" || f.Operation != ""
	switch {
	case len(ids) > 0 && selects:
		return errNamedTwice
	case len(ids) == 1:
		return d.vote(ctx, ids[0], f, approve.Vote{})
	case len(ids) > 1:
		return d.denyNamed(ctx, f, ids)
	case selects:
		return d.denySelected(ctx, f)
	}
	return errNothingNamed
}

func (d *Desk) denyNamed(ctx context.Context, f Flags, ids []string) error {
	var items []approve.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		item, err := d.Inbox.Get(ctx, id)
		if err == nil && desk.Holds(&item) {
			err = approve.ErrHeld
		}
		if err == nil {
			err = d.person.Refuses(&item, false, d.now())
		}
		if err != nil {
			return fmt.Errorf("nothing is denied: %s: %w", id, d.explain(err, &item))
		}
		items = append(items, item)
	}
	return d.denyAll(ctx, f, items)
}

func (d *Desk) denySelected(ctx context.Context, f Flags) error {
	items, unread, err := d.items(ctx)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(item approve.Item) bool {
		return item.StateAt(d.now()) != approve.Open || desk.Holds(&item) || !f.selects(&item) ||
			d.person.Refuses(&item, false, d.now()) != nil
	})
	if len(items) == 0 {
		return errors.Join(errNothingWaits, unread)
	}
	return errors.Join(d.denyAll(ctx, f, items), unread)
}

// denyAll lists items on the terminal, and denies them when the person has typed how many there are, with one reason.
// What comes meanwhile is not among them.
func (d *Desk) denyAll(ctx context.Context, f Flags, items []approve.Item) error {
	t, err := d.dialog("a denial of several items is typed")
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.logIn(ctx, t, false); err != nil {
		return err
	}
	table := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	for i := range items {
		items[i].State = items[i].StateAt(d.now())
		fmt.Fprintln(table, d.line(&items[i], d.now()))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	word := fmt.Sprintf("deny %d", len(items))
	typed, err := t.ask(ctx, fmt.Sprintf("\nType %s to deny these %d items: ", word, len(items)))
	if err == nil && typed != word {
		err = fmt.Errorf("%w %s", errNotTyped, word)
	}
	if err == nil && f.Reason == "" {
		f.Reason, err = t.ask(ctx, "Reason, which the agents are told: ")
	}
	if err != nil {
		return err
	}
	if strings.TrimSpace(f.Reason) == "" {
		return errNoCommon
	}
	denied := 0
	for i := range items {
		switch err := d.vote(ctx, items[i].ID, f, approve.Vote{}); {
		case err == nil:
			denied++
		case isRefused(err): // somebody was faster, or it has expired
			fmt.Fprintf(d.Stderr, "%s operator: %s: %v\n", d.Program, words.Printable(items[i].ID), err)
		default:
			return fmt.Errorf("after %d of %d items: %w", denied, len(items), err)
		}
	}
	if !f.JSON {
		fmt.Fprintf(d.Stdout, "%d of %d items are denied.\n", denied, len(items))
	}
	if denied < len(items) {
		return errNotAllDenied
	}
	return nil
}
