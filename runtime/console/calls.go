package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/console/internal/calls"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/words"
)

// callsPage is what the replicas were asked for lately.
type callsPage struct {
	Figures *figures // nil: of an older part, or nothing has happened
	Rows    []callRow
	Several bool   // there is more than one replica
	Stands  bool   // it does not follow what happens
	Here    string // the address of this page as it stands
	Older   string // the address of the page with older calls; empty: there are none
	Missing string // why the calls of other replicas are missing
	lately  uint64 // calls of the last hour
	At      moment
	follows
	Seen string
}

// callRow is a call.
type callRow struct {
	At                                       moment
	Caller, Operation, Danger, Code, Replica string
	Outcome                                  outcome
	Millis                                   string
}

// outcome is what came of a call: as a word, and a class of the style sheet.
type outcome struct{ Word, Class string }

// spot is where a call stands among those of all replicas. The latest is the greatest.
type spot struct {
	at      int64 // in nanoseconds since 1970
	replica string
	number  uint64
}

func (p spot) compare(other spot) int {
	return cmp.Or(cmp.Compare(p.at, other.at), strings.Compare(p.replica, other.replica),
		cmp.Compare(p.number, other.number))
}

// String returns the spot as it stands in an address.
func (p spot) String() string { return fmt.Sprintf("%d.%d.%s", p.at, p.number, p.replica) }

// spotOf reads a spot in an address; nil: there is none.
func spotOf(text string) *spot {
	at, rest, _ := strings.Cut(text, ".")
	number, replica, ok := strings.Cut(rest, ".")
	var p spot
	var err, wrong error
	p.at, err = strconv.ParseInt(at, 10, 64)
	p.number, wrong = strconv.ParseUint(number, 10, 64)
	if p.replica = replica; !ok || err != nil || wrong != nil {
		return nil
	}
	return &p
}

// showCalls is GET /calls.
func (c *console) showCalls(w http.ResponseWriter, r *http.Request, v *visit) {
	body := c.callsPage(c.feed.look(r.Context()), r.FormValue)
	c.write(w, r, http.StatusOK, "calls", body.title(), v, body)
}

// callsPage returns the page of what the replicas were asked for. Before a spot it stands as it was.
func (c *console) callsPage(all *doings, chosen func(string) string) *callsPage {
	now := c.now()
	before := spotOf(chosen(beforeField))
	body := &callsPage{At: momentOf(now, now), Several: len(all.replicas) > 1, Stands: before != nil}
	if all.err != nil {
		body.Missing = "The state cannot be reached, so the calls of other replicas are missing."
	}
	for i := range all.replicas {
		body.lately += lately(&all.replicas[i], now)
	}
	places := all.before(before)
	address := func(p spot) string {
		return c.o.Path + "/calls?" + url.Values{beforeField: {p.String()}}.Encode()
	}
	shown := places[:min(len(places), perPage)]
	for _, at := range shown {
		body.Rows = append(body.Rows, rowOfCall(at.of, c.nameOf(at.in), now))
	}
	body.Here = address(spot{at: now.UnixNano()})
	if len(shown) < len(places) {
		body.Older = address(shown[len(shown)-1].spot)
	}
	body.Seen = all.digest
	if !body.Stands {
		body.Figures = figuresOf(all, now)
		body.Live = c.o.Path + "/calls/events?" + url.Values{seenField: {body.Seen}}.Encode()
	}
	return body
}

// listed is a call with its replica and its spot.
type listed struct {
	spot
	of *calls.Call
	in *replica
}

// before returns the calls before a spot, the latest first.
func (d *doings) before(before *spot) []listed {
	var all []listed
	for i := range d.replicas {
		in := &d.replicas[i]
		for j := range in.Calls {
			of := &in.Calls[j]
			at := spot{of.At.UnixNano(), in.ID, of.Number}
			if before == nil || at.compare(*before) < 0 {
				all = append(all, listed{at, of, in})
			}
		}
	}
	slices.SortFunc(all, func(x, y listed) int { return y.compare(x.spot) })
	return all
}

// title is the title of the page.
func (p *callsPage) title() string { return "Calls" }

// Count says how many calls there were.
func (p *callsPage) Count() string {
	text := "No calls"
	if p.lately > 0 {
		text = words.Count(int(min(p.lately, 1<<31-1)), "call")
	}
	return text + " in the last hour, at " + p.At.Clock
}

// rowOfCall returns the row of a call of a replica.
func rowOfCall(call *calls.Call, replica string, now time.Time) callRow {
	row := callRow{
		At: momentOf(call.At, now), Caller: words.Clip(desk.Name(call.Caller()), longestShownParam),
		Operation: words.Clip(call.Operation, longestLine), Code: words.Clip(call.Code, longestShownParam),
		Outcome: outcomeOf(call), Millis: millis(call.Took), Replica: replica,
	}
	if gen.Danger(call.Danger).Level() >= 0 {
		row.Danger = call.Danger
	}
	return row
}

// nameOf returns a replica for people to read.
func (c *console) nameOf(r *replica) string {
	if r.ID == c.feed.own.ID {
		return "this one"
	}
	return words.Clip(cmp.Or(r.Host, "this host"), longestShownParam) + " " + strconv.Itoa(r.Process)
}

// outcomeOf says what came of a call. What waits for a confirmation, or was denied, has failed for another reason than
// its own.
func outcomeOf(call *calls.Call) outcome {
	switch {
	case call.Code == "":
		return outcome{"done", "good"}
	case call.Effect == observe.Held:
		return outcome{"held", "warn"}
	case call.Effect == observe.Denied:
		return outcome{"denied", "bad"}
	}
	return outcome{"failed", "bad"}
}

// millis returns a time in milliseconds, to two digits where it is short. What is shorter than a tenth of one counts as
// that.
func millis(d time.Duration) string {
	ms := max(float64(d)/float64(time.Millisecond), 0.1)
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return strconv.FormatFloat(ms, 'f', 0, 64)
}
