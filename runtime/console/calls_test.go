package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
)

type callerKey struct{}

// withCalls has a console see the calls that are made by hooks.
func withCalls(hooks **observe.Hooks) func(*console.Options) {
	return func(o *console.Options) {
		o.Observe = func(of *observe.Hooks) { *hooks = of }
		o.Caller = func(ctx context.Context) identity.Caller {
			who, _ := ctx.Value(callerKey{}).(identity.Caller)
			return who
		}
	}
}

// called is a call that was answered.
type called struct {
	by     identity.Caller
	of     string
	danger gen.Danger
	effect observe.Effect // of the gate; empty: it has decided nothing
	code   string
	took   time.Duration
}

// call makes a call, which has hooks called as an adapter does.
func (s *site) call(hooks *observe.Hooks, c called) {
	s.t.Helper()
	ctx := context.WithValue(s.t.Context(), callerKey{}, c.by)
	ctx, end := hooks.Operation(ctx, observe.Operation{Name: c.of, Danger: string(c.danger)})
	if c.effect != "" {
		hooks.Gate(ctx, observe.Decision{Operation: c.of, Effect: c.effect})
	}
	s.now = s.now.Add(c.took)
	end(observe.OperationEnd{Code: c.code})
}

// kinds are calls of each kind.
var kinds = []called{
	{ann, "get_note", gen.Safe, "", "", 400 * time.Microsecond},
	{ann, "delete_note", gen.Destructive, observe.Held, "CONFIRMATION_REQUIRED", 1200 * time.Microsecond},
	{ann, "delete_note", gen.Destructive, observe.Confirmed, "", 31 * time.Millisecond},
	{identity.Caller{Subject: "release_bot", Issuer: "https://id.example.com"}, "empty_trash", gen.Dangerous,
		observe.Denied, "PERMISSION_DENIED", 600 * time.Microsecond},
	{identity.Caller{}, "share_note", gen.Reversible, observe.Allowed, "INTERNAL_ERROR", 2150 * time.Millisecond},
	{identity.Caller{}, "", "", "", "NOT_FOUND_OPERATION", 30 * time.Microsecond},
}

// many makes calls of all kinds, over an hour.
func (s *site) many(hooks *observe.Hooks, count int) {
	for i := range count {
		c := kinds[(i*i+i/7)%len(kinds)]
		c.took += time.Duration(i%13) * time.Millisecond
		s.call(hooks, c)
		s.now = s.now.Add(time.Hour / time.Duration(count))
	}
}

// tells has another replica tell of calls, a second apart.
func (s *site) tells(machine string, process int, of []called) {
	s.t.Helper()
	type call struct {
		Number    int           `json:"n"`
		At        time.Time     `json:"at"`
		Took      time.Duration `json:"took"`
		Subject   string        `json:"subject"`
		Issuer    string        `json:"issuer"`
		Operation string        `json:"operation"`
		Danger    string        `json:"danger"`
		Effect    string        `json:"effect"`
		Code      string        `json:"code"`
	}
	var all []call
	for i, c := range slices.Backward(of) {
		all = append(all, call{
			i + 1, s.now.Add(-time.Duration(i) * time.Second), c.took, c.by.Subject, c.by.Issuer, c.of, string(c.danger),
			string(c.effect), c.code,
		})
	}
	text, err := json.Marshal(map[string]any{
		"host": machine, "process": process, "since": opened.Add(-26 * time.Hour), "calls": all, "minutes": []map[string]any{
			{"number": s.now.Unix() / 60, "calls": len(of), "took": []int{0, 0, 0, len(of)}, "passed": len(of)},
		},
	})
	if err == nil {
		_, err = s.store.Put(s.t.Context(), "console/live/"+machine, text, 0, 0)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

var inCalls = regexp.MustCompile(`(?s)<tr><td><time[^>]*>([^<]*)</time></td><td>([^<]*) .*?</td>` +
	`<td><b class="[a-z]*">([a-z]*)</b>(?: <code>([A-Z_]*)</code>)?</td><td class="number">([^<]*)</td><td>([^<]*)</td>`)

// calls returns the calls on a page, in their order.
func calls(page string) (rows []string) {
	for _, found := range inCalls.FindAllStringSubmatch(page, -1) {
		rows = append(rows, strings.TrimSpace(strings.Join(found[1:], " ")))
	}
	return rows
}

// F63: each request stands there once it is answered, the latest first, with who has sent it and what came of it.
func TestCalls(t *testing.T) {
	var hooks *observe.Hooks
	s := newSite(t, withCalls(&hooks))
	for _, kind := range kinds {
		s.call(hooks, kind)
		s.now = s.now.Add(time.Second)
	}
	want := []string{
		"09:00:37 none of the service failed NOT_FOUND_OPERATION 0.1 an anonymous caller",
		"09:00:36 share_note failed INTERNAL_ERROR 2150 an anonymous caller",
		"09:00:33 empty_trash denied PERMISSION_DENIED 0.6 release_bot (https://id.example.com)",
		"09:00:32 delete_note done  31 ann (stdio)",
		"09:00:31 delete_note held CONFIRMATION_REQUIRED 1.2 ann (stdio)",
		"09:00:30 get_note done  0.4 ann (stdio)",
	}
	page := s.person("eve").get("/calls").Body.String()
	if diff := cmp.Diff(want, calls(page)); diff != "" {
		t.Errorf("%s\n%s", diff, page)
	}
}

var (
	older = regexp.MustCompile(`rel="next" href="([^"]*)"`)
	pause = regexp.MustCompile(`href="([^"]*)">Pause</a>`)
)

// Every call that is kept is on one page, in order, whatever comes while somebody leafs through them.
func TestOlderCalls(t *testing.T) {
	var hooks *observe.Hooks
	s := newSite(t, withCalls(&hooks))
	for i := range 1234 {
		s.call(hooks, called{of: fmt.Sprintf("op_%04d", i)}) // several at the same time
		if i%3 == 0 {
			s.now = s.now.Add(time.Millisecond)
		}
	}
	b := s.person("eve")
	var seen []string
	for path := "/calls"; path != ""; {
		page := b.get(path).Body.String()
		rows := calls(page)
		if len(rows) > 50 {
			t.Fatalf("a page has %d calls", len(rows))
		}
		seen = append(seen, rows...)
		s.call(hooks, called{of: "later"})
		found := older.FindStringSubmatch(page)
		if path = ""; found != nil {
			path = found[1]
		}
	}
	if len(seen) < 970 || len(seen) > 1000 { // what came meanwhile has pushed some of the oldest out
		t.Errorf("the pages have %d calls", len(seen))
	}
	for i, row := range seen {
		if want := fmt.Sprintf(" op_%04d ", 1233-i); !strings.Contains(row, want) {
			t.Fatalf("call %d is %s, want%s", i, row, want)
		}
	}
}

// A page that is paused stands still, without script, and follows nothing.
func TestPausedCalls(t *testing.T) {
	var hooks *observe.Hooks
	s := newSite(t, withCalls(&hooks))
	s.call(hooks, kinds[0])
	s.now = s.now.Add(time.Second)
	b := s.person("eve")
	found := pause.FindStringSubmatch(b.get("/calls").Body.String())
	if found == nil {
		t.Fatal("nothing pauses the page")
	}
	before := calls(b.get(found[1]).Body.String())
	s.now = s.now.Add(time.Second)
	s.call(hooks, kinds[2])
	page := b.get(found[1]).Body.String()
	if after := calls(page); len(before) != 1 || !slices.Equal(before, after) || strings.Contains(page, "<script") {
		t.Errorf("before: %q, after: %q in\n%s", before, after, page)
	}
	for _, wrong := range []string{"x", "1", "1.2", "x.1.r", "1.-2.r", "9999999999999999999.1.r"} {
		if answer := b.get("/calls?before=" + wrong); answer.Code != http.StatusOK ||
			len(calls(answer.Body.String())) != 2 {
			t.Errorf("before %s: %d", wrong, answer.Code)
		}
	}
}

// Without hooks there is no page of calls, and nothing leads to one.
func TestConsolesWithoutCalls(t *testing.T) {
	s := newSite(t, nil)
	b := s.person("eve")
	if code := b.get("/calls").Code; code != http.StatusNotFound {
		t.Errorf("it answers %d", code)
	}
	if strings.Contains(b.get("/").Body.String(), "/calls") {
		t.Error("the inbox leads there")
	}
}

// What agents and clients write is text, and however long it is, a page stays small.
func TestCallsOfStrangers(t *testing.T) {
	var hooks *observe.Hooks
	s := newSite(t, withCalls(&hooks))
	const script = `<script>alert(1)</script>`
	for range 60 {
		s.call(hooks, called{
			by: identity.Caller{Subject: script + "\u202e" + strings.Repeat("W", 500), Issuer: "\x1b[31m" + script},
			of: script, danger: script, code: script,
		})
	}
	page := s.person("eve").get("/calls").Body.String()
	checkPage(t, page)
	if strings.Contains(page, "<script>") || strings.ContainsAny(page, "\u202e\x1b") {
		t.Errorf("the page has what hides or runs:\n%s", page)
	}
	if elements := len(regexp.MustCompile(`<[a-z]`).FindAllString(page, -1)); elements > 1000 || len(page) > 100<<10 {
		t.Errorf("the page has %d elements and %d bytes", elements, len(page))
	}
}

// A page of calls follows what is asked, once a second at most, and says nothing while nothing is.
func TestCallsFollow(t *testing.T) {
	var hooks *observe.Hooks
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(o *console.Options) {
			withCalls(&hooks)(o)
			o.Now = time.Now
		})
		s.store.Now = nil
		page := s.person("eve").follow("/calls")
		defer page.close()
		time.Sleep(time.Second)
		if events := page.told(t); events != nil {
			t.Errorf("nothing has happened, and the page is told %+v", events)
		}
		for range 300 {
			s.call(hooks, kinds[0])
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		events := page.told(t)
		if len(events) == 0 || len(events) > 5 || !strings.Contains(events[len(events)-1].Count, "300 calls in the last") ||
			!strings.Contains(events[0].Rows, "get_note") || strings.Contains(events[0].Rows, "<main") {
			t.Errorf("of 300 calls in three seconds the page is told %d times: %.500v", len(events), events)
		}
	})
}

// The last words about a state that fails.
func TestCallsWithoutTheState(t *testing.T) {
	var hooks *observe.Hooks
	s := newSite(t, func(o *console.Options) {
		withCalls(&hooks)(o)
		o.Store = listless{o.Store}
	})
	s.call(hooks, kinds[0])
	page := s.person("eve").get("/calls").Body.String()
	if !strings.Contains(page, "the calls of other replicas are missing") || len(calls(page)) != 1 {
		t.Errorf("the page is\n%s", page)
	}
	if strings.Contains(page, "10.0.0.7") {
		t.Error("it tells where the state is")
	}
}

// listless is a store that lists nothing.
type listless struct{ store.Store }

func (listless) List(context.Context, string, string, int) ([]store.Entry, error) {
	return nil, fmt.Errorf("dial tcp 10.0.0.7:5432: connection refused")
}

// Whatever another process says of itself, the pages are whole, and show what is of the last hour.
func TestStrangeReplicas(t *testing.T) {
	var hooks *observe.Hooks
	s := newSite(t, withHealth(&hooks, well))
	s.call(hooks, kinds[0])
	minute := s.now.Unix() / 60
	text := fmt.Sprintf(`{"host":"<b>\u202e%s","process":-7,"since":"9999-12-31T23:59:59Z","calls":[
		{"n":18446744073709551615,"at":"0001-01-01T00:00:00Z","took":-9223372036854775808,"effect":"?"},
		{"n":0,"at":"9999-12-31T23:59:59Z","took":9223372036854775807,"danger":"<i>"}],"minutes":[
		{"number":-9223372036854775808,"calls":4000000000},{"number":9223372036854775807,"calls":4000000000},
		{"number":%d,"calls":1000000},{"number":%d,"calls":1000000},
		{"number":%d,"calls":1,"failed":4294967295,"took":[%s1],"undecided":4294967295}]}`,
		strings.Repeat("W", 1000), minute+1, minute-60, minute-59, strings.Repeat("4294967295,", 500))
	if _, err := s.store.Put(t.Context(), "console/live/x", []byte(text), 0, 0); err != nil {
		t.Fatal(err)
	}
	b := s.person("eve")
	for _, path := range []string{"/calls", "/health"} {
		answer := b.get(path)
		page := answer.Body.String()
		checkPage(t, page)
		if answer.Code != http.StatusOK || strings.Contains(page, "<i>") || strings.Contains(page, "\u202e") {
			t.Errorf("%s: %d\n%s", path, answer.Code, page)
		}
		if path == "/calls" && !strings.Contains(page, ">2 calls in the last hour") {
			t.Errorf("the page is\n%s", page)
		}
	}
}
