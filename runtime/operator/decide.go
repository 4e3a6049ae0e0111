package operator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/words"
)

// errNotTyped is the error of an approval that was not confirmed.
var errNotTyped = errors.New("not approved: you did not type approve")

// longestLine bounds what is read from the terminal, in bytes.
const longestLine = 4 << 10

// openTerminal opens the terminal that controls the process, whatever its standard input is.
func openTerminal() (io.ReadWriteCloser, error) {
	if runtime.GOOS == "windows" {
		in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		return console{in, out}, nil
	}
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}

// console is the terminal of Windows, whose two directions are two files.
type console struct{ in, out *os.File }

func (c console) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c console) Close() error                { return errors.Join(c.in.Close(), c.out.Close()) }

// approve shows an item on the terminal, and approves it if the person types that.
func (d *Desk) approve(ctx context.Context, f Flags, id string) error {
	item, err := d.Inbox.Get(ctx, id)
	if err != nil {
		return err
	}
	terminal, err := d.Terminal()
	if err != nil {
		return fmt.Errorf("an approval is typed at a terminal, and this program has none: %w", err)
	}
	defer terminal.Close()
	lines := bufio.NewReader(io.LimitReader(terminal, longestLine))
	ask := func(prompt string) (string, error) {
		if _, err := io.WriteString(terminal, prompt); err != nil {
			return "", fmt.Errorf("asking on the terminal: %w", err)
		}
		line, err := lines.ReadString('\n')
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			return "", fmt.Errorf("reading from the terminal: %w", err)
		}
		return strings.TrimSpace(line), nil
	}
	if err := d.writeItem(terminal, &item); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	if item.StateAt(d.now()) == approve.Open {
		what := "this request run once"
		if item.Kind == approve.Enquiry {
			what = "this execution go on"
		}
		typed, err := ask("\nType approve to let " + what + ": ")
		if err != nil {
			return err
		}
		if typed != "approve" {
			return errNotTyped
		}
		if item.Needs.Reason && f.Reason == "" {
			if f.Reason, err = ask("Reason: "); err != nil {
				return err
			}
		}
	}
	return d.vote(ctx, id, true, f.Reason)
}

// vote votes, records the vote, and says what has become of the item.
func (d *Desk) vote(ctx context.Context, id string, approves bool, reason string) error {
	item, err := d.Inbox.Vote(ctx, id, approve.Vote{
		By: d.Who, Groups: d.Groups, Channel: approve.Terminal, Approve: approves, Reason: reason, At: d.now(),
	})
	switch {
	case errors.Is(err, approve.ErrNotApprover):
		return fmt.Errorf("%w: %s", err, words.Printable(needs(&item.Needs)))
	case errors.Is(err, approve.ErrTooEarly):
		return fmt.Errorf("%w; wait until %s", err, clockTime(item.Ready))
	case errors.Is(err, approve.ErrDecided):
		return fmt.Errorf("%w: it is %s", err, words.Printable(string(item.State)))
	case err != nil:
		return err
	}
	fmt.Fprintln(d.Stdout, outcome(&item))
	if d.Audit == nil {
		return nil
	}
	event := audit.ApprovalGranted
	if !approves {
		event = audit.ApprovalDenied
	}
	err = d.Audit.Write(ctx, audit.Record{
		Time: d.now(), Event: event, Adapter: item.Adapter, Operation: item.Operation, DangerLevel: item.Danger.Level(),
		Outcome: audit.Success, Reason: reason, Rule: item.Rule, ApprovalID: item.ID, Caller: d.Who,
	})
	if err != nil {
		return fmt.Errorf("the vote counts, but it is not in the audit log: %w", err)
	}
	return nil
}

// outcome says what has become of an item after a vote.
func outcome(item *approve.Item) string {
	id := words.Printable(item.ID)
	switch item.State {
	case approve.Approved:
		if item.Kind == approve.Enquiry {
			return fmt.Sprintf("%s is approved. The execution goes on.", id)
		}
		return fmt.Sprintf("%s is approved. The agent can send its request again until %s; it then runs once.",
			id, clockTime(item.Expires))
	case approve.Denied:
		if item.Kind == approve.Enquiry {
			return fmt.Sprintf("%s is denied. The execution is told so.", id)
		}
		return fmt.Sprintf("%s is denied. The agent is told so when it sends its request again.", id)
	}
	var missing []string
	for _, factor := range item.Missing() {
		missing = append(missing, people(factor))
	}
	return fmt.Sprintf("Your approval of %s counts. It still needs %s.", id,
		words.Printable(strings.Join(missing, ", and ")))
}
