package console

import (
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostWhole bounds the parameters that have a place of their own on the page of all of them. The others share one.
const mostWhole = 200

// said is what the agent has chosen or says, as far as the page of its item has it.
type said struct {
	Held   bool
	Params []desk.Param
	Whole  int    // the bytes of which parts are left out; zero: nothing is
	All    string // the address of the page with all of them
}

// saidOf returns what the agent says in an item.
func (c *console) saidOf(item *approve.Item) said {
	return said{
		Held: desk.Holds(item), Params: desk.Params(item.Params), Whole: item.Whole,
		All: setup.ItemAddress(c.o.Path, item.ID) + "/whole",
	}
}

// wholePage has all parameters of an item.
type wholePage struct {
	ID, Title, Danger, Asker string
	Held                     bool
	Bytes                    int
	Params                   []whole
	Rest                     whole // of those without a place of their own
}

// whole is all of a parameter, or of several.
type whole struct {
	Name  string
	Count int    // of lines, or of parameters
	Text  string // in lines, of which the agent has begun none
}

// showWhole is GET /items/{id}/whole.
func (c *console) showWhole(w http.ResponseWriter, r *http.Request, v *visit) {
	item, err := c.item(r.Context(), r.PathValue("id"))
	var object string
	if err == nil {
		object, err = c.inbox.Whole(r.Context(), item)
	}
	switch {
	case errors.Is(err, approve.ErrUnknown):
		c.showGone(w, r, v)
	case errors.Is(err, approve.ErrNotKept):
		c.write(w, r, http.StatusNotFound, "problem", "Not all of it is kept", v, problem{
			"Not all of it is kept", "There was more than 128 KiB, or too much of callers without a name, or the item has " +
				"expired. Deny such a request, or look elsewhere at what it does.",
		})
	case err != nil:
		c.fail(w, r, err)
	default:
		c.write(w, r, http.StatusOK, "whole", "All of "+title(&item), v, wholeOf(&item, object))
	}
}

// wholeOf returns the page of an item with all parameters, which are those of a JSON object.
func wholeOf(item *approve.Item, object string) *wholePage {
	body := &wholePage{
		ID: item.ID, Title: title(item), Danger: danger(item), Asker: desk.Name(item.Caller), Held: desk.Holds(item),
		Bytes: len(object),
	}
	var rest []string
	for name, value := range desk.All(object) {
		if len(body.Params) < mostWhole {
			body.Params = append(body.Params, inLines(words.Printable(name), desk.Lines(value)))
			continue
		}
		quoted, err := json.Marshal(name)
		if err != nil { // of a text, it cannot fail
			quoted = []byte(`"?"`)
		}
		body.Rest.Count++
		rest = slices.AppendSeq(rest, desk.Lines(slices.Concat(quoted, []byte(": "), value)))
	}
	body.Rest.Text = strings.Join(rest, "\n")
	return body
}

// inLines returns a parameter in its lines.
func inLines(name string, lines iter.Seq[string]) whole {
	all := slices.Collect(lines)
	return whole{Name: name, Count: len(all), Text: strings.Join(all, "\n")}
}
