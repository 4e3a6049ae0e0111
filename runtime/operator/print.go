package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// lookEvery is how often watch looks at the inbox without a hint.
const lookEvery = 2 * time.Second

func (d *Desk) now() time.Time { return d.Now() }

// items returns the items, and unread, an error about entries that are none, if there are some.
func (d *Desk) items(ctx context.Context) (items []approve.Item, unread, err error) {
	items, err = d.Inbox.List(ctx)
	if _, ok := errors.AsType[*approve.UnreadableError](err); ok {
		return items, err, nil
	}
	return items, nil, err
}

// list prints the items.
func (d *Desk) list(ctx context.Context, f Flags) error {
	items, unread, err := d.items(ctx)
	if err != nil {
		return err
	}
	now, shown := d.now(), 0
	table := tabwriter.NewWriter(d.Stdout, 0, 0, 2, ' ', 0)
	for i := range items {
		item := &items[i]
		item.State = item.StateAt(now)
		if item.State != approve.Open && !f.All || !f.selects(item) {
			continue
		}
		shown++
		if f.JSON {
			if err := d.printJSON(item); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(table, d.line(item, now))
	}
	if shown == 0 && !f.JSON && unread == nil {
		fmt.Fprintln(d.Stdout, "Nothing waits for a decision.")
	}
	return errors.Join(table.Flush(), unread)
}

// line is an item in one line, with tabs between its columns.
func (d *Desk) line(item *approve.Item, now time.Time) string {
	what := item.Operation + " " + string(item.Danger)
	switch {
	case desk.Holds(item):
		what = strings.TrimSpace("agent " + item.Agent + " " + item.Execution)
	case item.Kind == approve.Continuation:
		what = "all operations"
	}
	columns := []string{
		item.ID, string(item.State), what, string(item.Kind), "by " + desk.Name(item.Caller),
		now.Sub(item.Opened).Round(time.Second).String() + " ago",
	}
	if left := desk.Missing(item); len(item.Votes) > 0 && item.State == approve.Open {
		columns = append(columns, "still needs "+left)
	}
	for i := range columns {
		columns[i] = words.Printable(columns[i])
	}
	if what := about(item); what != "" {
		columns = append(columns, what)
	}
	return strings.Join(columns, "\t")
}

// show prints everything about one item.
func (d *Desk) show(ctx context.Context, f Flags, id string) error {
	item, err := d.Inbox.Get(ctx, id)
	if err != nil {
		return err
	}
	item.State = item.StateAt(d.now())
	switch {
	case f.Full:
		return d.showWhole(ctx, f, &item)
	case f.JSON:
		return d.printJSON(&item)
	}
	return d.writeItem(d.Stdout, &item)
}

// printJSON prints an item on one line, with an escape for each character that cannot be seen or misleads.
func (d *Desk) printJSON(item *approve.Item) error {
	text, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("encoding an item: %w", err)
	}
	_, err = fmt.Fprintln(d.Stdout, words.PrintableJSON(string(text)))
	return err
}

// writeItem writes everything about an item. What others have written is in it with an escape for each character that
// could control the terminal, cannot be seen, or misleads.
func (d *Desk) writeItem(w io.Writer, item *approve.Item) error {
	now := d.now()
	var out strings.Builder
	fmt.Fprintf(&out, "%s is %s.\n\n", words.Printable(item.ID), words.Printable(string(item.StateAt(now))))
	fact := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&out, "  %-11s %s\n", title, text)
		}
	}
	switch {
	case desk.Holds(item):
		fact("agent", words.Printable(item.Agent)+", of "+words.Printable(item.Adapter))
	case item.Kind == approve.Continuation:
		fact("operation", "all of "+words.Printable(item.Adapter)+"; a call of "+words.Printable(item.Operation)+
			" met the pause")
	default:
		fact("operation", words.Printable(item.Operation)+" ("+words.Printable(string(item.Danger))+") of "+
			words.Printable(item.Adapter))
	}
	for line := range strings.SplitSeq(item.Message, "\n") {
		fact("question", words.Printable(line))
	}
	for _, reason := range item.Reasons {
		fact("why", words.Printable(reason))
	}
	fact("rule", words.Printable(item.Rule))
	fact("execution", words.Printable(item.Execution))
	asked := "asked by"
	if desk.Holds(item) {
		asked = "caller"
	}
	fact(asked, fmt.Sprintf("%s, %s ago", desk.Name(item.Caller), now.Sub(item.Opened).Round(time.Second)))
	fact("needs", desk.Needs(&item.Needs))
	if typing := item.Typing; typing.Param != "" {
		fact("to approve", words.Printable("type the value of "+typing.Param+": "+typing.Value))
	}
	if item.Ready.After(now) {
		fact("not before", d.clock(item.Ready))
	}
	if item.Expires.IsZero() {
		fact("until", "it is lifted")
	} else {
		fact("until", d.clock(item.Expires))
	}
	for _, vote := range item.Votes {
		did := "approved"
		if !vote.Approve {
			did = "denied"
		}
		text := fmt.Sprintf("%s%s %s at %s", desk.Name(vote.By), desk.Called(vote.Name), did, d.clock(vote.At))
		if vote.Reason != "" {
			text += ": " + words.Printable(vote.Reason)
		}
		fact("vote", text)
	}
	writeParams(&out, paramsTitle(item), item.Params)
	if item.Whole > 0 {
		fmt.Fprintf(&out, "  Parts of these %d bytes are left out. All of them: %s operator show -full %s\n",
			item.Whole, d.Program, words.Printable(item.ID))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// paramsTitle is the title of the parameters of an item.
func paramsTitle(item *approve.Item) string {
	if desk.Holds(item) {
		return "the agent says"
	}
	return "parameters, which the agent chose"
}

// writeParams writes a JSON object, each member on a line.
func writeParams(out *strings.Builder, title, object string) {
	params := desk.Params(object)
	if len(params) == 0 {
		return
	}
	out.WriteString("  " + title + ":\n")
	for _, param := range params {
		fmt.Fprintf(out, "    %s  %s\n", param.Name, param.Value)
	}
}

// watch prints the items that wait and what becomes of each, until ctx ends. It warns of entries that it cannot read,
// and ends with an error about them.
func (d *Desk) watch(ctx context.Context, f Flags) error {
	seen := make(map[string]string)
	var unread error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := d.Inbox.Changes(ctx)
	for first := true; ; first = false {
		items, unreadNow, err := d.items(ctx)
		switch {
		case ctx.Err() != nil:
			return unread // it was interrupted
		case err != nil:
			return err
		case unreadNow != nil && (unread == nil || unread.Error() != unreadNow.Error()):
			fmt.Fprintf(d.Stderr, "%s operator: %v\n", d.Program, unreadNow)
		}
		unread = unreadNow
		now, known := d.now(), make(map[string]string)
		for i := range items {
			item := &items[i]
			item.State = item.StateAt(now)
			known[item.ID] = fmt.Sprint(item.State, len(item.Votes))
			if seen[item.ID] == known[item.ID] || first && item.State != approve.Open {
				continue
			}
			if f.JSON {
				err = d.printJSON(item)
			} else {
				_, err = fmt.Fprintln(d.Stdout, d.clock(now)+"  "+strings.ReplaceAll(d.line(item, now), "\t", "  "))
			}
			if err != nil {
				return err
			}
		}
		seen = known
		select {
		case <-ctx.Done():
			return unread
		case <-time.After(lookEvery):
		case _, open := <-changes:
			if !open {
				changes = nil
			}
		}
	}
}

// clock is a time for people to read: with its date, unless that is today.
func (d *Desk) clock(t time.Time) string { return desk.Clock(t, d.now().Local()) }
