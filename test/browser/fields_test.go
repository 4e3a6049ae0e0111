package browser

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
)

// hostile is a text that runs a script, wherever it stands as HTML, in an attribute or as an address. It has the name
// of the field in it.
func hostile(field string) string {
	return fmt.Sprintf(`javascript:alert('%[1]s')//</code></title></textarea></script><script>alert('%[1]s')</script>'">`+
		`<img src=x onerror=alert('%[1]s')><svg onload=alert('%[1]s')>{{.}}`, field)
}

// plant puts a hostile text into all strings of a value, except for fields that have words of their own, and returns
// where they are.
func plant(v reflect.Value, path string, own []string) (fields []string) {
	switch v.Kind() {
	case reflect.String:
		if slices.Contains(own, path) {
			return nil
		}
		v.SetString(hostile(path))
		return []string{path}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type() != reflect.TypeFor[time.Time]() {
				fields = append(fields, plant(v.Field(i), path+"."+v.Type().Field(i).Name, own)...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fields = append(fields, plant(v.Index(i), path, own)...)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fields = plant(v.Elem(), path, own)
		}
	case reflect.Map, reflect.Interface, reflect.Array:
		panic("a field of a kind in which nothing is planted yet: " + path)
	}
	return fields
}

// hostileItem returns an item with hostile texts in all its fields, and where they are.
func hostileItem(kind approve.Kind, state approve.State, id string) (approve.Item, []string) {
	item := approve.Item{
		ID: id, Kind: kind, State: state, Danger: gen.Destructive, Caller: identity.Caller{Subject: "x", Issuer: "x"},
		Reasons: []string{"", ""}, Opened: time.Now(), Expires: time.Now().Add(time.Hour), Lifetime: time.Hour,
		Needs: approve.Needs{Factors: []approve.Factor{{Count: 1, Groups: []string{"", ""}}}},
		Votes: []approve.Vote{{Groups: []string{"", ""}, Approve: state != approve.Denied, At: time.Now()}},
	}
	if state == approve.Open {
		item.Needs.Factors[0].Count = 3
	}
	fields := plant(reflect.ValueOf(&item), "", []string{".ID", ".Kind", ".State", ".Danger"})
	needed := &item.Needs.Factors[0]
	needed.Groups = append(needed.Groups, "ops") // so that the person can decide
	for i := range item.Votes {                  // the vote is of the group that is needed
		item.Votes[i].Groups = needed.Groups
	}
	text, err := json.Marshal(map[string]string{hostile(".Params"): hostile(".Params")})
	if err != nil {
		panic(err) // texts can be encoded
	}
	item.Params = string(text)
	return item, fields
}

// planted is a tab that looks for what was planted.
type planted struct {
	*tab
	shown   map[string]bool // by field
	mu      sync.Mutex
	dialogs []string // what those say that scripts have opened
}

func newPlanted(t *testing.T) *planted {
	t.Helper()
	p := &planted{tab: open(t), shown: make(map[string]bool)}
	err := chromedp.Listen(p.Context(), func(event any) {
		if opened, ok := event.(*page.EventJavascriptDialogOpening); ok {
			p.mu.Lock()
			p.dialogs = append(p.dialogs, opened.Message)
			p.mu.Unlock()
			go func() { // events are not answered while they are told
				_, _ = chromedp.Call(p.Context(), page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plants notes fields in which something is planted.
func (p *planted) plants(fields []string) {
	for _, field := range fields {
		p.shown[field] = p.shown[field] || false
	}
}

// check fails the test if the page has more than the text of what was planted.
func (p *planted) check(at string) {
	p.t.Helper()
	found := run(p.tab, chromedp.Evaluate[string](`[...document.querySelectorAll(
'main script, img, main svg :not(rect, path, line, text, title, desc, g), a[href^="javascript"], [onerror], [onload]')].
map((e) => e.outerHTML).join('\n')`))
	if found != "" {
		p.t.Errorf("%s: the page has elements that somebody else has made:\n%s", at, found)
	}
	text := p.text("body")
	for field := range p.shown {
		p.shown[field] = p.shown[field] || strings.Contains(text, "<script>alert('"+field+"')")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialogs != nil {
		p.t.Fatalf("%s: scripts of %v have run", at, p.dialogs)
	}
}

// onlyHidden fails the test if other fields are on no page than those that are known to be on none. What is on no page
// is no danger, and a field that is new is looked at.
func (p *planted) onlyHidden(known ...string) {
	p.t.Helper()
	var hidden []string
	for field, shown := range p.shown {
		if !shown {
			hidden = append(hidden, field)
		}
	}
	slices.Sort(hidden)
	slices.Sort(known)
	if !slices.Equal(hidden, known) {
		p.t.Errorf("on no page are %q, and known for that are %q", hidden, known)
	}
}

// Issue 19: every field of an item that an agent, an author, a policy or a person fills in is text on every page, for
// every kind and state of items, and also where it arrives by an event. No dialog opens, and no element is made of it.
func TestScriptInEveryField(t *testing.T) {
	s, b := newSite(t), newPlanted(t)
	s.logIn(b.tab, "eve")
	count := 0
	for _, kind := range []approve.Kind{approve.Confirmation, approve.Continuation, approve.Enquiry, approve.Step} {
		for _, state := range []approve.State{approve.Open, approve.Approved, approve.Denied, approve.Used} {
			count++
			id := "ask_" + strings.Repeat("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[count:count+1], 26)
			item, fields := hostileItem(kind, state, id)
			b.plants(fields)
			text, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			b.visit(s.url)
			b.waitFor("#rows")
			if _, err := s.state.Put(t.Context(), "approve/"+id, append([]byte{'1'}, text...), 0, 0); err != nil {
				t.Fatal(err)
			}
			if err := s.state.Notify(t.Context(), approve.Topic); err != nil {
				t.Fatal(err)
			}
			if state == approve.Open {
				b.waitFor(`#rows a[href$="` + id + `"]`) // by an event
			}
			for _, address := range []string{"", "?decided=" + id, "items/" + id, "items/" + id + "/whole"} {
				if address != "" {
					b.visit(s.url + address)
				}
				b.check(fmt.Sprintf("%s, %s: %s", kind, state, address))
			}
		}
	}
	b.onlyHidden(".Votes.Groups", ".Votes.Typed", ".Votes.Revision")
}

// The same of executions, in all their states.
func TestScriptInEveryFieldOfExecutions(t *testing.T) {
	var all begun
	var fields []string
	for _, state := range []execution.State{
		execution.Running, execution.Pending, execution.Paused, execution.Retrying, execution.Completed, execution.Failed,
		execution.Cancelled,
	} {
		of := aql.Overseen{Record: &execution.Record{
			State: state, Created: time.Now(), Started: time.Now(), Attempt: 2, Progress: new(execution.Progress),
			Failure: new(execution.Failure), Waiting: new(execution.Waiting), Cancel: state == execution.Cancelled,
		}}
		fields = plant(reflect.ValueOf(&of), "", []string{".Record.State"})
		of.ID += string(state)
		all = append(all, of)
	}
	s := newSite(t, func(o *console.Options) { o.Executions = all })
	b := newPlanted(t)
	b.plants(fields)
	s.logIn(b.tab, "eve")
	b.visit(s.url + "executions")
	b.check("all executions")
	for _, of := range all {
		b.visit(s.url + "executions/" + url.PathEscape(of.ID))
		b.check(string(of.State))
	}
	b.onlyHidden(".Danger", ".Item", ".Record.CallerKey", ".Record.Nonce", ".Record.Once", ".Record.Origin",
		".Record.Place", ".Record.ResultAside", ".Record.Waiting.About", ".Record.Waiting.From", ".Record.Waiting.Ref",
		".Record.Warnings")
}

// The same of records in the audit log.
func TestScriptInEveryFieldOfRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := newPlanted(t)
	for _, event := range []audit.Event{audit.OperationAllowed, audit.OperationDenied, audit.ApprovalDenied} {
		r := audit.Record{Time: time.Now(), ID: 1, Event: event, Outcome: audit.Denied, Identifiers: []string{""}}
		b.plants(plant(reflect.ValueOf(&r), "", []string{".Event", ".Outcome"}))
		quoted, err := json.Marshal(map[string]string{hostile(".Parameters"): hostile(".Parameters")})
		if err != nil {
			t.Fatal(err)
		}
		r.Parameters = quoted
		if err := file.Write(t.Context(), []audit.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *console.Options) { o.AuditFile = path })
	s.logIn(b.tab, "eve")
	for _, query := range []string{"", "?caller=" + url.QueryEscape(hostile("caller")), "?operation=alert", "?event=" +
		url.QueryEscape(hostile("event"))} {
		b.visit(s.url + "audit" + query)
		b.check("records" + query)
	}
	b.onlyHidden(".Adapter", ".ApprovalID", ".ChallengeID", ".Endpoint", ".Identifiers", ".RequestID", ".SessionID",
		".TokenID", ".Trust")
}
