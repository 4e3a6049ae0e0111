package tickets_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/examples/tickets/helpdesk"
	"github.com/aqltag/aqltag/examples/tickets/tickets"
	aql "github.com/aqltag/aqltag/runtime"
)

// all are the tickets of the help desk.
var all = helpdesk.Sample(1000)

// desk is the adapter on a help desk that counts the requests to it.
type desk struct {
	*aql.Session
	requests atomic.Int64
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := new(desk)
	api := helpdesk.NewServer(all)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.requests.Add(1)
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	service := &tickets.Service{API: &helpdesk.Client{URL: server.URL}}
	adapter, err := aql.New(tickets.NewRegistry(service), aql.Options{Name: "tickets", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	d.Session = adapter.NewSession()
	return d
}

// answer is what the adapter answers.
type answer struct {
	Data struct {
		ID       string
		Items    []helpdesk.Ticket
		PageInfo struct {
			HasNextPage            bool
			StartCursor, EndCursor string
			TotalCount             *int
		}
	}
	Error struct{ Code string }
}

func (d *desk) ask(t *testing.T, operation, params string) (a answer) {
	t.Helper()
	d.requests.Store(0)
	request := fmt.Appendf(nil, `{"operation":%q,"params":%s}`, operation, params)
	reply := d.Call(t.Context(), "mcp_aql_read", request).JSON
	if err := json.Unmarshal(reply, &a); err != nil {
		t.Fatalf("%v: %s", err, reply)
	}
	return a
}

func ids(list []helpdesk.Ticket) []string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids
}

// expected returns the first of the tickets that are kept, in an order whose ties the id breaks.
func expected(n int, keep func(t helpdesk.Ticket) bool, order func(a, b helpdesk.Ticket) int) []string {
	found := slices.DeleteFunc(slices.Clone(all), func(t helpdesk.Ticket) bool { return !keep(t) })
	slices.SortFunc(found, order)
	return ids(found[:min(n, len(found))])
}

func newest(a, b helpdesk.Ticket) int {
	return cmp.Or(b.OpenedAt.Compare(a.OpenedAt), cmp.Compare(b.ID, a.ID))
}

func oldest(a, b helpdesk.Ticket) int { return newest(b, a) }

// Whatever the API can do of a query, the answer is the same; and no more is asked of the API than the answer needs.
func TestListTickets(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		what, params string
		want         []string
		requests     int64
	}{
		{
			"the order of the operation is the API's", `{"first":3}`,
			expected(3, func(helpdesk.Ticket) bool { return true }, newest), 1,
		},
		{
			"a status and an order that the API has", `{"filter":{"status":"open"},"sort":{"field":"opened_at"},"first":60}`,
			expected(60, func(t helpdesk.Ticket) bool { return t.Status == helpdesk.Open }, oldest), 1,
		},
		{
			"a page that ends where the API's does", `{"first":99}`,
			expected(99, func(helpdesk.Ticket) bool { return true }, newest), 1,
		},
		{
			"a page and one more, which the API has on its next page", `{"first":100}`,
			expected(100, func(helpdesk.Ticket) bool { return true }, newest), 2,
		},
		{
			"a customer, whom the API does not look for", `{"filter":{"customer":"Ann"},"first":20}`,
			expected(20, func(t helpdesk.Ticket) bool { return t.Customer == "Ann" }, newest), 2,
		},
		{
			"a condition on the status that the API does not have", `{"filter":{"status":{"ne":"solved"}},"first":60}`,
			expected(60, func(t helpdesk.Ticket) bool { return t.Status != helpdesk.Solved }, newest), 2,
		},
		{
			"one of two statuses", `{"filter":{"_or":[{"status":"open"},{"replies":8}]},"first":2}`,
			expected(2, func(t helpdesk.Ticket) bool { return t.Status == helpdesk.Open || t.Replies == 8 }, newest), 1,
		},
		{
			"an order that the API does not have", `{"filter":{"status":"waiting"},"sort":{"field":"subject"},"first":4}`,
			expected(4, func(t helpdesk.Ticket) bool { return t.Status == helpdesk.Waiting },
				func(a, b helpdesk.Ticket) int {
					return cmp.Or(strings.Compare(a.Subject, b.Subject), cmp.Compare(a.ID, b.ID))
				}),
			3,
		},
		{"nothing", `{"filter":{"status":"open","customer":"Nobody"}}`, []string{}, 3},
	} {
		got := d.ask(t, "list_tickets", tt.params)
		if diff := gocmp.Diff(tt.want, ids(got.Data.Items)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.what, tt.params, diff)
		}
		if n := d.requests.Load(); n != tt.requests {
			t.Errorf("%s: %s took %d requests of the API, want %d", tt.what, tt.params, n, tt.requests)
		}
	}
}

// Pages lead through all tickets of a query, forward and backward, and each is one of the API's as far as it reaches.
func TestWalk(t *testing.T) {
	d := newDesk(t)
	const query = `"filter":{"status":"open"},"sort":{"field":"opened_at","order":"desc"}`
	want := expected(len(all), func(t helpdesk.Ticket) bool { return t.Status == helpdesk.Open }, newest)
	a := d.ask(t, "list_tickets", `{"first":40,`+query+`}`)
	there := ids(a.Data.Items)
	for a.Data.PageInfo.HasNextPage {
		a = d.ask(t, "list_tickets", fmt.Sprintf(`{"first":40,"after":%q,%s}`, a.Data.PageInfo.EndCursor, query))
		there = append(there, ids(a.Data.Items)...)
	}
	if diff := gocmp.Diff(want, there); diff != "" {
		t.Errorf("there (-want +got):\n%s", diff)
	}
	a = d.ask(t, "list_tickets", fmt.Sprintf(`{"last":40,"before":%q,%s}`, a.Data.PageInfo.StartCursor, query))
	from := (len(want)-1)/40*40 - 40
	if diff := gocmp.Diff(want[from:from+40], ids(a.Data.Items)); diff != "" {
		t.Errorf("back (-want +got):\n%s", diff)
	}
}

// What tickets lead to, and what is computed of them, is there when it is selected. The accounts of a page take one
// request, and none where nobody asks for them.
func TestSelected(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		params, want string
		requests     int64
	}{
		{`"fields":["id"]`, `[{"id":"T0081"},{"id":"T0324"},{"id":"T0243"}]`, 1},
		{
			`"fields":["account.plan"]`,
			`[{"account":{"plan":"team"}},{"account":{"plan":"free"}},{"account":{"plan":"team"}}]`, 2,
		},
		{
			`"fields":["id","_computed.unanswered"],"filter":{"status":"open","id":{"in":["T0268","T0648"]}}`,
			`[{"id":"T0648","_computed":{"unanswered":false}},{"id":"T0268","_computed":{"unanswered":true}}]`, 3,
		},
		{`"fields":["account"],"filter":{"customer":"Gus"}`, `[{"account":null},{"account":null},{"account":null}]`, 2},
	} {
		d.requests.Store(0)
		request := `{"operation":"list_tickets","params":{"first":3,` + tt.params + `}}`
		reply := d.Call(t.Context(), "mcp_aql_read", []byte(request)).JSON
		var a struct {
			Data struct{ Items json.RawMessage }
		}
		if err := json.Unmarshal(reply, &a); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tt.want, string(a.Data.Items)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.params, diff)
		}
		if n := d.requests.Load(); n != tt.requests {
			t.Errorf("%s took %d requests of the API, want %d", tt.params, n, tt.requests)
		}
	}
}

// What the API refuses is told in the protocol's words.
func TestGetTicket(t *testing.T) {
	d := newDesk(t)
	if got := d.ask(t, "get_ticket", `{"id":"T0042"}`); got.Data.ID != "T0042" {
		t.Errorf("the ticket T0042: %+v", got)
	}
	if got := d.ask(t, "get_ticket", `{"id":"T9999"}`); got.Error.Code != "NOT_FOUND_RESOURCE" {
		t.Errorf("a ticket that is not there: %+v", got)
	}
}

// An API that fails makes the operation fail: a part of a list is not passed off as all of it.
func TestFailingAPI(t *testing.T) {
	api := helpdesk.NewServer(all)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "2" {
			http.Error(w, "come back later", http.StatusTooManyRequests)
			return
		}
		api.ServeHTTP(w, r)
	}))
	defer server.Close()
	service := &tickets.Service{API: &helpdesk.Client{URL: server.URL}}
	adapter, err := aql.New(tickets.NewRegistry(service), aql.Options{Name: "tickets", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{Session: adapter.NewSession()}
	if got := d.ask(t, "list_tickets", `{"first":50}`); len(got.Data.Items) != 50 {
		t.Errorf("a page in front of the failure: %+v", got.Error)
	}
	if got := d.ask(t, "list_tickets", `{"first":100}`); got.Error.Code != "RATE_LIMIT_EXCEEDED" {
		t.Errorf("a page across the failure: %+v", got.Error)
	}
}
