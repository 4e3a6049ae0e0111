package console

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

func hasRecords(o *Options) bool { return o.AuditFile != "" }

func (c *console) handleRecords(handle func(route string, h http.HandlerFunc)) {
	if !hasRecords(&c.o) {
		return
	}
	handle("GET /audit", c.known(c.showRecords))
	handle("GET /audit/records", c.known(c.downloadRecords))
}

// recordEvents are the events that records can be searched by, in the order of what people look for.
var recordEvents = []audit.Event{
	audit.OperationDenied, audit.OperationAllowed, audit.OperationFinished, audit.ConfirmationRequired,
	audit.ConfirmationGranted, audit.ApprovalRequested, audit.ApprovalGranted, audit.ApprovalDenied, audit.ApprovalUsed,
	audit.AgentStarted, audit.StepEvaluated, audit.AgentBlocked, audit.AgentUnblocked, audit.AgentEnded,
	audit.ChallengeOpened, audit.ChallengeShown, audit.ChallengeVerified, audit.ChallengeFailed, audit.ChallengeExpired,
	audit.AdminOverride, audit.RoleGiven, audit.LinkUsed, audit.SessionsEnded, audit.PasskeyRegistered,
	audit.PasskeyRemoved, audit.TokenIssued, audit.TokenValidated, audit.TokenRejected, audit.TokenRevoked,
	audit.RefusalsCounted, audit.RecordsDropped, audit.FileClosed, audit.FileOpened,
}

// recordsPage is what was found in the audit log, and whether that is as it was written.
type recordsPage struct {
	At       moment
	Search   search
	Events   []option
	Rows     []recordRow
	Filtered bool
	Page     int
	Newer    string // the addresses of the pages beside it
	Older    string
	Capped   bool // there are older ones, which are on no page
	Verdict  verdict
	Download string
	Error    string // why the search is none
}

// search says which records are looked for, as a person has typed it.
type search struct{ From, Until, Event, Caller, Operation, Agent string }

// recordRow is a record of the audit log.
type recordRow struct {
	At                                               moment
	Event, Operation, Who, Outcome, Reason, Rule, On string
	Agent                                            string
	Params                                           []desk.Param
	More                                             int // parameters that the row has not
	Good, Bad, Held                                  bool
}

// record is a line of the audit log, as far as pages have it.
type record struct {
	Time       time.Time       `json:"timestamp"`
	Event      audit.Event     `json:"event"`
	Operation  string          `json:"operation"`
	Outcome    audit.Outcome   `json:"outcome"`
	Reason     string          `json:"reason"`
	Failure    string          `json:"failure_reason"`
	Rule       string          `json:"rule"`
	Agent      string          `json:"agent"`
	ApprovalID string          `json:"approval_id"`
	Refused    int             `json:"refused"` // requests that it counts
	Parameters json.RawMessage `json:"parameters"`
	Client     struct {
		User   string `json:"user_id"`
		Issuer string `json:"issuer"`
	} `json:"client_context"`
}

// showRecords is GET /audit.
func (c *console) showRecords(w http.ResponseWriter, r *http.Request, v *visit) {
	now := c.now()
	body := &recordsPage{At: momentOf(now, now), Download: c.o.Path + "/audit/records", Page: 1}
	body.Search = search{
		From: r.FormValue("from"), Until: r.FormValue("until"), Event: r.FormValue("event"),
		Caller: strings.TrimSpace(r.FormValue("caller")), Operation: strings.TrimSpace(r.FormValue("operation")),
		Agent: strings.TrimSpace(r.FormValue("agent")),
	}
	body.Filtered = body.Search != search{}
	for _, event := range recordEvents {
		body.Events = append(body.Events, option{
			Value: string(event), Label: eventSays(event), Chosen: string(event) == body.Search.Event,
		})
	}
	if n, err := strconv.Atoi(r.FormValue("page")); err == nil {
		body.Page = min(max(n, 1), mostRecordPages)
	}
	status, err := c.lookForRecords(r.Context(), body)
	if err != nil {
		c.o.Logger.ErrorContext(r.Context(), "the audit log cannot be read", slog.Any("error", err))
		c.write(w, r, http.StatusServiceUnavailable, "problem", "The audit log cannot be read", v, problem{
			"The audit log cannot be read", "The log of the adapter says why. Records are made all the same, or calls are " +
				"refused.",
		})
		return
	}
	c.write(w, r, status, "audit", "Audit", v, body)
}

// recordRowOf returns the row of a line.
func recordRowOf(line []byte, now time.Time) recordRow {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return recordRow{Event: "This record is of another version of the program."}
	}
	row := recordRow{
		At: momentOf(r.Time, now), Event: eventSays(r.Event), Operation: words.Clip(r.Operation, longestLine),
		Outcome: words.Clip(desk.Recorded(r.Event, r.Outcome, r.Refused), longestLine),
		Reason:  words.Clip(reasonSays(r.Reason)+r.Failure, longestReason),
		Rule:    words.Clip(r.Rule, longestLine), Agent: words.Clip(r.Agent, longestLine),
		Good: r.Outcome == audit.Confirmed, Held: desk.Held(r.Event),
		Bad: (r.Outcome == audit.Denied || r.Outcome == audit.Failure) && !desk.Held(r.Event) &&
			r.Event != audit.RefusalsCounted,
	}
	row.At.Clock = clockOf(r.Time, now)
	if r.Client.User != "" || r.Event != audit.FileClosed && r.Event != audit.FileOpened {
		row.Who = desk.Name(identity.Caller{Subject: r.Client.User, Issuer: r.Client.Issuer})
	}
	if len(bytes.TrimSpace(r.Parameters)) == 0 {
		return row
	}
	params := desk.Params(string(r.Parameters))
	row.More = max(len(params)-mostShownParams, 0)
	for _, param := range params[:len(params)-row.More] {
		row.Params = append(row.Params, desk.Param{
			Name: words.Clip(param.Name, longestShownParam), Value: words.Clip(param.Value, longestShownParam),
		})
	}
	return row
}

// reasonSays returns a reason with people as other pages name them. Of who has approved, a record has their keys
// (identity.Caller.Key).
func reasonSays(reason string) string {
	const by = "approved by "
	keys, ok := strings.CutPrefix(reason, by)
	if !ok {
		return reason
	}
	var names []string
	for key := range strings.SplitSeq(keys, ", ") {
		var who identity.Caller
		issuer, err := strconv.QuotedPrefix(key)
		if err == nil {
			who.Issuer, err = strconv.Unquote(issuer)
		}
		if err == nil {
			who.Subject, err = strconv.Unquote(key[len(issuer):])
		}
		if err != nil { // such as a name with a comma in it
			return reason
		}
		names = append(names, desk.Name(who))
	}
	return by + strings.Join(names, ", ")
}

// clockOf returns a time with its date, on the clock of now.
func clockOf(t, now time.Time) string { return t.In(now.Location()).Format(time.DateTime) }

// eventSays returns an event as people read it.
func eventSays(e audit.Event) string {
	return strings.ToLower(strings.ReplaceAll(words.Clip(string(e), longestShownParam), "_", " "))
}

// downloadRecords is GET /audit/records: all of the files, as they are.
func (c *console) downloadRecords(w http.ResponseWriter, r *http.Request, _ *visit) {
	name := c.now().UTC().Format("audit-20060102T150405Z.jsonl")
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	sent := &sending{w: w, control: http.NewResponseController(w)}
	err := audit.CopyFile(r.Context(), sent, c.o.AuditFile)
	if err == nil {
		return
	}
	c.o.Logger.ErrorContext(r.Context(), "the audit log cannot be copied", slog.Any("error", err))
	if sent.n > 0 {
		panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
	}
	w.Header().Del("Content-Disposition")
	c.refuse(w, r, http.StatusServiceUnavailable, "The audit log cannot be read", "The log of the adapter says why.")
}

// sending counts what is written, of which each part has longestWrite to arrive: all of it may take longer than a page.
type sending struct {
	w       http.ResponseWriter
	control *http.ResponseController
	n       int
}

func (s *sending) Write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(longestWrite)) // where the server has such
	n, err := s.w.Write(p)
	s.n += n
	return n, err
}
