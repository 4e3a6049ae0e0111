package notify

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/words"
)

const (
	// mostLines bounds the items that a text describes.
	mostLines = 5
	// longestName bounds names in a text, and longestDetail each line of details, in characters.
	longestName, longestDetail = 60, 300
	// mostDetails bounds the lines of the details of one item.
	mostDetails = 20
)

// Title returns the notice in a few words, which no agent has chosen.
func (n *Notice) Title() string {
	name := shorten(n.Adapter, longestName)
	if n.Urgent() {
		return name + ": an agent is blocked"
	}
	if len(n.Items) == 0 && len(n.Lifted) > 0 {
		return name + ": an agent is no longer blocked"
	}
	return name + ": " + waits(n.Waiting) + " for you"
}

// waits says how many items wait.
func waits(count int) string {
	if count == 1 {
		return "1 item waits"
	}
	return fmt.Sprintf("%d items wait", count)
}

// Text returns the notice in lines, without the link. What agents have chosen stands in quotation marks, or in lines
// behind a title that says so; every character of it is printable.
func (n *Notice) Text() string {
	var lines []string
	for i := range n.Items[:min(len(n.Items), mostLines)] {
		lines = append(lines, n.Items[i].line())
		lines = append(lines, n.Items[i].details()...)
	}
	for i := range n.Lifted[:min(len(n.Lifted), mostLines)] {
		lines = append(lines, n.Lifted[i].line())
	}
	if rest := len(n.Items) - mostLines; rest > 0 || n.More > 0 {
		lines = append(lines, fmt.Sprintf("And %d more.", max(rest, 0)+n.More))
	}
	if before := n.Waiting - len(n.Items) - n.More; before > 0 {
		lines = append(lines, "In all, "+waits(n.Waiting)+".")
	}
	if n.Last {
		lines = append(lines, "You are told no more here for up to an hour. Look at what waits from time to time.")
	}
	return strings.Join(lines, "\n")
}

// line describes an item in one line.
func (i *Item) line() string {
	operation, caller := shorten(i.Operation, longestName), who(i.Caller)
	var text string
	switch i.Kind {
	case approve.Block:
		return fmt.Sprintf("Agent %s of %s is blocked until somebody lets it go on.", quoted(i.Agent), caller)
	case approve.Pause:
		text = fmt.Sprintf("Agent %s of %s is paused", quoted(i.Agent), caller)
	case approve.Continuation:
		text = fmt.Sprintf("A quota pauses all calls of %s; the last was %s", caller, operation)
	case approve.Enquiry:
		text = fmt.Sprintf("An execution of %s for %s asks how to go on", operation, caller)
	default:
		text = fmt.Sprintf("%s asks for %s", caller, operation)
	}
	if i.Danger != "" && i.Kind != approve.Continuation && i.Kind != approve.Pause {
		text += " (" + shorten(string(i.Danger), longestName) + ")"
	}
	if i.Expires.IsZero() {
		return text + "."
	}
	until := "until " + i.Expires.UTC().Format("15:04 MST")
	if i.Soon {
		until = "which expires at " + i.Expires.UTC().Format("15:04:05 MST")
	}
	return text + ", " + until + "."
}

// line describes a block that was lifted.
func (l *Lifted) line() string {
	text := fmt.Sprintf("Agent %s of %s is no longer blocked", quoted(l.Agent), who(l.Caller))
	for i, person := range l.By {
		if i == 0 {
			text += ": lifted by "
		} else {
			text += ", "
		}
		text += who(person)
	}
	return text + "."
}

// details returns the lines of an item's details.
func (i *Item) details() []string {
	d := i.Details
	if d == nil {
		return nil
	}
	var lines []string
	add := func(title, text string) {
		if text != "" {
			lines = append(lines, "  "+title+": "+shorten(text, longestDetail))
		}
	}
	add("question", d.Message)
	for _, reason := range d.Reasons {
		add("why", reason)
	}
	title := "  the agent has chosen:"
	if i.Kind == approve.Pause || i.Kind == approve.Block {
		title = "  the agent says:"
	}
	decoder := json.NewDecoder(strings.NewReader(d.Params))
	_, err := decoder.Token()
	for first := true; err == nil && decoder.More() && len(lines) < mostDetails; first = false {
		var name json.Token
		var value json.RawMessage
		if name, err = decoder.Token(); err != nil {
			break
		}
		if err = decoder.Decode(&value); err != nil {
			break
		}
		if first {
			lines = append(lines, title)
		}
		lines = append(lines, fmt.Sprintf("    %s  %s", shorten(fmt.Sprint(name), longestName),
			shorten(words.PrintableJSON(string(value)), longestDetail)))
	}
	if len(lines) >= mostDetails {
		lines = append(lines[:mostDetails], "    and more, which only the item has")
	}
	return lines
}

// who returns a caller for people to read.
func who(c identity.Caller) string {
	switch {
	case c.Anonymous():
		return "an anonymous caller"
	case c.Issuer == "":
		return shorten(c.Subject, longestName)
	}
	return shorten(c.Subject, longestName) + " (" + shorten(c.Issuer, longestName) + ")"
}

// quoted returns a name that an agent may have chosen, in quotation marks that are not in it. It is no link: programs
// that show notices make links of addresses, and some of what stands between < and >, and people would follow them to a
// page that looks like the console.
func quoted(name string) string {
	text := words.Quote(name, longestName, '\'')
	text = strings.ReplaceAll(text, "://", ": //")
	return "'" + strings.ReplaceAll(text, "<", "< ") + "'"
}

// shorten returns a text that is printable, and of a longer one so many characters.
func shorten(text string, most int) string { return words.Clip(text, most) }
