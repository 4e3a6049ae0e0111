package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
)

var inRow = regexp.MustCompile(`<h3><a href="/items/[A-Za-z0-9_-]+">([^<]*)</a>`)

// rows returns the titles of the items on a page, in their order.
func rows(page string) []string {
	var titles []string
	for _, found := range inRow.FindAllStringSubmatch(page, -1) {
		titles = append(titles, found[1])
	}
	return titles
}

// F63: what is urgent stands above, and within it, as in the rest, what has waited for longest.
func TestOrder(t *testing.T) {
	s := newSite(t, nil)
	ask := func(n byte, name string, lifetime time.Duration) {
		s.ask(func(q *approve.Question) {
			q.Operation, q.Binding[0], q.At, q.Lifetime = name, n, opened.Add(time.Duration(n)*time.Second), lifetime
		})
	}
	ask(1, "first", time.Hour)
	ask(2, "second", time.Hour)
	ask(3, "soon_over", time.Minute)
	ask(4, "over", 10*time.Second)
	s.hold(isBlocked)
	want := []string{"soon_over", "release_bot is blocked", "first", "second"}
	if diff := cmp.Diff(want, rows(s.person("eve").get("/").Body.String())); diff != "" {
		t.Error(diff)
	}
}

var (
	inLink  = regexp.MustCompile(`/items/(ask_[A-Z2-7]+)"`)
	besides = regexp.MustCompile(`rel="(prev|next)" href="([^"]*)"`)
)

// beside returns the address of the page before a page, prev, or after it, next; empty: there is none.
func beside(page, side string) string {
	for _, link := range besides.FindAllStringSubmatch(page, -1) {
		if link[1] == side {
			return html.UnescapeString(link[2])
		}
	}
	return ""
}

// Every item that waits is on one page of the inbox, and a page has fifty. Who goes back sees the same pages.
func TestPaging(t *testing.T) {
	s := newSite(t, nil)
	fill(s, 120)
	s.hold(isBlocked)
	b := s.person("eve")
	var pages [][]string
	var before string
	for at := "/"; at != ""; {
		page := b.get(at).Body.String()
		pages = append(pages, inLink.FindAllString(page, -1))
		at, before = beside(page, "next"), beside(page, "prev")
	}
	if len(pages) != 3 || len(pages[0]) != 50 || len(pages[1]) != 50 || len(pages[2]) != 21 {
		t.Fatalf("the pages have %v", pages)
	}
	all := slices.Concat(pages...)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != 121 {
		t.Errorf("the pages have %d items", len(all))
	}
	for i := 1; i >= 0; i-- {
		page := b.get(before).Body.String()
		if diff := cmp.Diff(pages[i], inLink.FindAllString(page, -1)); diff != "" {
			t.Errorf("page %d, gone back to: %s", i+1, diff)
		}
		before = beside(page, "prev")
	}
	if before != "" {
		t.Errorf("before the first page is %s", before)
	}
	for _, at := range []string{"after=x", "after=rest.x.ask_1", "after=other.1.ask_1", "before=urgent.0.", "page=2"} {
		if diff := cmp.Diff(pages[0], inLink.FindAllString(b.get("/?"+at).Body.String(), -1)); diff != "" {
			t.Errorf("%s is not the first page: %s", at, diff)
		}
	}
}

// What is decided on a page moves no item from the next one to it: nobody passes over an item.
func TestPagesStayWhereTheyAre(t *testing.T) {
	s := newSite(t, nil)
	fill(s, 120)
	b := s.person("eve")
	first := b.get("/").Body.String()
	next := beside(first, "next")
	want := inLink.FindAllString(b.get(next).Body.String(), -1)
	for _, link := range inLink.FindAllStringSubmatch(first, -1)[30:] { // the last one of the page, too
		b.decide(link[1], "deny")
	}
	page := b.get(next).Body.String()
	if diff := cmp.Diff(want, inLink.FindAllString(page, -1)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(page, "<span>31 to 80 of 100</span>") {
		t.Errorf("the page does not say where it is:\n%s", page)
	}
	last := inLink.FindAllStringSubmatch(b.get(beside(page, "next")).Body.String(), -1)
	at := beside(page, "next")
	for _, link := range last {
		b.decide(link[1], "deny")
	}
	if got := inLink.FindAllString(b.get(at).Body.String(), -1); len(got) != 50 {
		t.Errorf("all of the last page is decided, and it has %d items", len(got))
	}
}

// However much waits, and whatever the agents have written, a page has a thousand elements at most.
func TestPagesStaySmall(t *testing.T) {
	s := newSite(t, nil)
	for i := range 1200 {
		s.ask(func(q *approve.Question) {
			q.Caller.Subject = fmt.Sprintf("agent-%d", i)
			q.Operation = fmt.Sprintf("operation_%d", i)
			q.Message = strings.Repeat("Is that all right? ", 100)
			q.Params = `{"a":"` + strings.Repeat("x", 400) + `","b":2,"c":3,"d":4}`
			q.Needs.Factors = []approve.Factor{{Count: 2}}
		})
	}
	page := s.person("eve").get("/").Body.String()
	checkPage(t, page)
	if elements := len(regexp.MustCompile(`<[a-z]`).FindAllString(page, -1)); elements > 1000 || len(page) > 100<<10 {
		t.Errorf("the page has %d elements and %d bytes", elements, len(page))
	}
}

// A console can stand below a path of somebody else's mux.
func TestMounted(t *testing.T) {
	s := newSite(t, func(o *console.Options) { o.Path = "/console" })
	inner := s.Handler
	mux := http.NewServeMux()
	mux.Handle("/console/", inner)
	s.Handler = mux
	s.knows("eve", secretWord)
	b, item := s.browser(), s.ask(nil)
	b.post("/console/login", map[string][]string{"name": {"eve"}, "passphrase": {secretWord}})
	for _, path := range []string{"/console/", "/console/items/" + item.ID, "/console/none"} {
		page := b.get(path).Body.String()
		for _, link := range regexp.MustCompile(`(?:href|action|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(link[1], "/console/") && link[1] != "#main" {
				t.Errorf("%s leads to %s", path, link[1])
			}
		}
	}
	if answer := b.get("/console/assets/console.css"); answer.Code != http.StatusOK {
		t.Errorf("the style sheet: %d", answer.Code)
	}
}

// sink has what an audit log was given.
type sink struct{ to *bytes.Buffer }

func (s sink) Write(_ context.Context, records []audit.Record) error {
	for i := range records {
		s.to.Write(append(records[i].AppendJSON(nil), '\n'))
	}
	return nil
}

func (sink) Close() error { return nil }

// F61: votes in the console are on record, with who has cast them.
func TestVotesAreOnRecord(t *testing.T) {
	var kept bytes.Buffer
	log := audit.New(audit.Options{Sinks: []audit.Sink{sink{&kept}}, Wait: true})
	s := newSite(t, func(o *console.Options) { o.Audit = log })
	b, item := s.person("eve"), s.ask(nil)
	b.decide(item.ID, "approve")
	b.decide(item.ID, "deny")
	var events []string
	for line := range strings.Lines(kept.String()) {
		var record struct {
			Event      string `json:"event"`
			ApprovalID string `json:"approval_id"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if record.ApprovalID == item.ID && strings.Contains(line, `"eve"`) {
			events = append(events, record.Event)
		}
	}
	want := []string{string(audit.ApprovalGranted), string(audit.ApprovalDenied)}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("%s\n%s", diff, &kept)
	}
}

// Who decides sees that a long value is not all there, and how to see the rest.
func TestLongParametersSaySo(t *testing.T) {
	s := newSite(t, nil)
	eve := s.person("eve")
	for text, long := range map[string]bool{"short": false, strings.Repeat("long ", 20_000): true} {
		item := s.ask(func(q *approve.Question) {
			q.Binding[0] = byte(len(text))
			q.Params = `{"text":"` + text + `"}`
		})
		page := eve.get("/items/" + item.ID).Body.String()
		if got := strings.Contains(page, "/items/"+item.ID+"/whole"); got != long {
			t.Errorf("a value of %d bytes: the page says how to see all of it: %t", len(text), got)
		}
	}
}
