package console_test

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/identity"
)

// logged are records in a file.
type logged struct {
	key     []byte
	records []audit.Record
	change  func(text []byte) []byte // what somebody does to the file
}

// with writes the records, and gives a console the file.
func (l *logged) with(t *testing.T) func(o *console.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{Key: l.key})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Write(t.Context(), l.records); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if l.change != nil {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, l.change(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return func(o *console.Options) { o.AuditFile, o.AuditKey = path, l.key }
}

// recorded returns records of several callers and operations, a minute apart.
func recorded(count int) (all []audit.Record) {
	for i := range count {
		r := audit.Record{
			Time: opened.Add(time.Duration(i) * time.Minute), ID: uint64(i + 1), Event: audit.OperationAllowed, Adapter: "notes",
			Operation: []string{"delete_note", "share_note", "empty_trash"}[i%3], DangerLevel: 2, Outcome: audit.Allowed,
			Caller: identity.Caller{Subject: []string{"ann", "bob"}[i%2], Issuer: "stdio"}, Rule: "deleting-is-confirmed",
			Parameters: []byte(fmt.Sprintf(`{"note_id":"n%d","force":true,"notebook":"work","dry_run":false}`, i)),
		}
		switch i % 5 {
		case 1:
			r.Event, r.Outcome, r.Reason = audit.OperationDenied, audit.Denied, "Removing is not for machines"
		case 2:
			r.Event, r.Outcome, r.Parameters, r.Agent = audit.AgentBlocked, audit.Denied, nil, "release_bot"
		case 3:
			r.Event, r.Outcome = audit.ConfirmationGranted, audit.Confirmed
		}
		all = append(all, r)
	}
	return all
}

// F63: the page of records in each of its states.
func TestAuditPages(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	for name, tt := range map[string]struct {
		logged
		path   string
		status int
	}{
		"audit-empty": {status: 200},
		"audit-one":   {logged: logged{key: key, records: recorded(1)}, status: 200},
		"audit-many":  {logged: logged{key: key, records: recorded(120)}, status: 200},
		"audit-last-page": {
			logged: logged{records: recorded(52)}, path: "?page=2", status: 200,
		},
		"audit-found": {
			logged: logged{key: key, records: recorded(60)},
			path:   "?operation=delete&caller=ANN&event=OPERATION_ALLOWED&from=2026-03-01T09:10&until=2026-03-01T09:40",
			status: 200,
		},
		"audit-found-none": {logged: logged{key: key, records: recorded(3)}, path: "?agent=nobody", status: 200},
		"audit-no-time":    {logged: logged{key: key, records: recorded(3)}, path: "?from=tomorrow", status: 422},
		"audit-broken": {logged: logged{key: key, records: recorded(6), change: func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"n3"`), []byte(`"n9"`), 1)
		}}, status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tt.with(t))
			checkAnswer(t, name, s.person("eve").get("/audit"+tt.path), tt.status)
		})
	}
}

// What waits for a confirmation is not said to be denied, although the file has that outcome for both; and of refusals
// that have no records of their own there is the number.
func TestOutcomesOfRecords(t *testing.T) {
	refused := &audit.Refused{Count: 712, From: opened, To: opened, Events: map[string]uint64{"OPERATION_DENIED": 712}}
	for event, tt := range map[audit.Event]struct {
		refused *audit.Refused
		want    string
	}{
		audit.ConfirmationRequired: {nil, `<td><span class="badge destructive">held</span>`},
		audit.OperationDenied:      {nil, `<td><span class="badge dangerous">denied</span>`},
		audit.RefusalsCounted:      {refused, `<td>712 refusals</td>`},
	} {
		l := logged{records: []audit.Record{{
			Time: opened, Event: event, Adapter: "notes", Operation: "delete_note", Outcome: audit.Denied, Caller: ann,
			Refused: tt.refused,
		}}}
		page := newSite(t, l.with(t)).person("eve").get("/audit").Body.String()
		if denied := "denied</span>"; !strings.Contains(page, tt.want) ||
			strings.Contains(page, denied) != strings.Contains(tt.want, denied) {
			t.Errorf("the page of %s has no %s:\n%s", event, tt.want, page)
		}
	}
}

// Who has approved has the same name there as on other pages. A reason that is no list of people stays as it is.
func TestPeopleInReasonsOfRecords(t *testing.T) {
	bob := identity.Caller{Subject: "bob", Issuer: "https://id.example.com"}
	comma := identity.Caller{Subject: `"a", "b"`, Issuer: "stdio"}
	for reason, want := range map[string]string{
		"approved by " + ann.Key():                     "approved by ann (stdio)",
		"approved by " + ann.Key() + ", " + bob.Key():  "approved by ann (stdio), bob (https://id.example.com)",
		"approved by " + comma.Key():                   "approved by " + comma.Key(),
		"approved by ":                                 "approved by ",
		`approved by "stdio"`:                          `approved by "stdio"`,
		"Removing is not for " + ann.Key() + " at all": "Removing is not for " + ann.Key() + " at all",
	} {
		l := logged{records: []audit.Record{{
			Time: opened, Event: audit.ApprovalUsed, Adapter: "notes", Operation: "delete_note", Outcome: audit.Success,
			Caller: ann, Reason: reason,
		}}}
		page := newSite(t, l.with(t)).person("eve").get("/audit").Body.String()
		if want := template.HTMLEscapeString(want); !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
}

// A log that cannot be read is said to be so, and nothing of the machine is.
func TestAuditThatIsGone(t *testing.T) {
	b := newSite(t, func(o *console.Options) { o.AuditFile = "/nowhere/audit.jsonl" }).person("eve")
	for _, path := range []string{"/audit", "/audit/records"} {
		answer := b.get(path)
		if answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "nowhere") ||
			answer.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
}

// Each part of a search leaves out what is not like it, and the pages of what is found have all of it.
func TestSearchingRecords(t *testing.T) {
	all := recorded(100) // pages are full, and none follows the last
	b := newSite(t, (&logged{records: all}).with(t)).person("eve")
	for name, tt := range map[string]struct {
		query url.Values
		want  func(*audit.Record) bool
	}{
		"everything": {nil, func(*audit.Record) bool { return true }},
		"a caller":   {url.Values{"caller": {"an"}}, func(r *audit.Record) bool { return r.Caller.Subject == "ann" }},
		"an operation": {url.Values{"operation": {"SHARE"}}, func(r *audit.Record) bool {
			return r.Operation == "share_note"
		}},
		"an event": {url.Values{"event": {"OPERATION_DENIED"}}, func(r *audit.Record) bool {
			return r.Event == audit.OperationDenied
		}},
		"an agent": {url.Values{"agent": {"release_bot"}}, func(r *audit.Record) bool {
			return r.Agent == "release_bot"
		}},
		"a part of an agent": {url.Values{"agent": {"release"}}, func(*audit.Record) bool { return false }},
		"a time": {
			url.Values{"from": {"2026-03-01T09:03"}, "until": {"2026-03-01T09:05"}},
			func(r *audit.Record) bool { return 3 <= r.Time.Minute() && r.Time.Minute() <= 5 && r.Time.Hour() == 9 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := 0
			for i := range all {
				if tt.want(&all[i]) {
					want++
				}
			}
			got := 0
			for at := "/audit?" + tt.query.Encode(); at != ""; {
				page := b.get(at).Body.String()
				rows := strings.Count(page, `<th scope="row">`)
				if got += rows; rows == 0 && want > 0 {
					t.Errorf("%s is empty", at)
				}
				_, after, more := strings.Cut(page, `rel="next" href="`)
				if at, _, _ = strings.Cut(after, `"`); !more {
					at = ""
				}
				at = strings.ReplaceAll(at, "&amp;", "&")
			}
			if got != want {
				t.Errorf("%d records are on its pages, want %d", got, want)
			}
		})
	}
}

// Whoever is logged in gets the whole log as it is, also where its chain is broken, and nobody else gets any.
func TestDownloadingRecords(t *testing.T) {
	var text []byte
	of := &logged{records: recorded(9), change: func(of []byte) []byte {
		text = bytes.Replace(of, []byte(`"n3"`), []byte(`"n9"`), 1)
		return text
	}}
	s := newSite(t, of.with(t))
	answer := s.person("eve").get("/audit/records")
	if answer.Code != http.StatusOK || !bytes.Equal(answer.Body.Bytes(), text) ||
		answer.Header().Get("Content-Disposition") != `attachment; filename="audit-20260301T090030Z.jsonl"` {
		t.Errorf("%d, %v, %d bytes", answer.Code, answer.Header(), answer.Body.Len())
	}
	for _, path := range []string{"/audit", "/audit/records"} {
		answer := s.browser().get(path)
		if answer.Code != http.StatusSeeOther || strings.Contains(answer.Body.String(), "n1") {
			t.Errorf("%s, by nobody: %d %s", path, answer.Code, answer.Body)
		}
	}
}

// What others have written into records is text, and cannot be seen as a line of the console's own. Of what is long
// there is a part.
func TestRecordsAreText(t *testing.T) {
	const script = "<script>alert(1)</script>\nwhen \u202edne"
	one := audit.Record{
		Time: opened, Event: audit.OperationDenied, Operation: script, Outcome: audit.Denied, Reason: script, Agent: script,
		Rule: script, Caller: identity.Caller{Subject: script, Issuer: script},
		Parameters: []byte(`{"<script>alert(2)":"\u202e</td>` + strings.Repeat("x", 1000) + `"}`),
	}
	long := audit.Record{
		Time: opened, Event: audit.OperationAllowed, Operation: "import_notes", Outcome: audit.Allowed,
		Parameters: []byte(`{"list":[` + strings.Repeat(`"a text",`, 4000) + `""]}`),
	}
	page := newSite(t, (&logged{records: []audit.Record{one, long}}).with(t)).person("eve").get("/audit").Body.String()
	for _, misleads := range []string{"<script>alert", "\u202e", "\nwhen", strings.Repeat("x", 100)} {
		if strings.Contains(page, misleads) {
			t.Errorf("the page has %q:\n%s", misleads, page)
		}
	}
	if len(page) > 20_000 || !strings.Contains(page, "too many to be shown") {
		t.Errorf("the page of two records has %d bytes:\n%s", len(page), page)
	}
	checkPage(t, page)
}
