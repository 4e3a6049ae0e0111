package aqltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// The members that responses may have (requirements REQ-RS-04, REQ-RS-05, REQ-BA-03…REQ-BA-11).
var (
	successMembers = []string{"success", "data", "warnings", "_meta"}
	batchMembers   = append(successMembers[:len(successMembers):len(successMembers)],
		"results", "summary", "halted_at", "pending_operations")
	failureMembers = []string{"success", "error", "confirmation", "deprecated", "deprecationMessage", "deprecatedSince", "removalVersion"}
	errorMembers   = []string{"code", "message", "details"}
	warningMembers = []string{"code", "message", "severity", "details"}
	itemMembers    = []string{"index", "operation", "result", "status"}
)

var codeRule = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// reading reads a response and notes what is wrong with it.
type reading struct {
	request string
	faults  []string // each completes "a response that …"
}

// read reads a response to a request.
func read(text []byte, request string) (Answer, []string) {
	r := reading{request: request}
	return r.response(text, ""), r.faults
}

func (r *reading) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// object reads an object with some of the allowed members.
func (r *reading) object(text json.RawMessage, what string, allowed []string) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		r.fault("is not well-formed: %s is no JSON object", what)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if allowed != nil && !slices.Contains(allowed, name) {
			r.fault("has a member that is not allowed: %s in %s", name, what)
		}
	}
	return members
}

// response reads a response; of is where it stands in a batch, empty for the whole.
func (r *reading) response(text json.RawMessage, of string) Answer {
	a := Answer{JSON: text, request: r.request}
	what := "the response"
	if of != "" {
		what = of
	}
	members := r.object(text, what, nil)
	if members == nil {
		return a
	}
	switch string(bytes.TrimSpace(members["success"])) {
	case "true":
		a.Success = true
		r.success(&a, members, of)
	case "false":
		r.failure(&a, text, what, members)
	default:
		r.fault("has no success that is true or false in %s (REQ-RS-01)", what)
	}
	return a
}

func (r *reading) success(a *Answer, members map[string]json.RawMessage, of string) {
	_, isBatch := members["results"]
	allowed, what := successMembers, "the response"
	switch {
	case of != "":
		allowed, what = successMembers[:2], of
	case isBatch:
		allowed = batchMembers
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(allowed, name) {
			r.fault("has a member that is not allowed: %s in %s (REQ-RS-04)", name, what)
		}
	}
	data, has := members["data"]
	if !has {
		r.fault("has no data in %s (REQ-RS-02)", what)
	}
	a.Data = data
	r.warnings(a, members["warnings"])
	if meta, has := members["_meta"]; has {
		r.object(meta, "_meta", nil)
	}
	if isBatch && of == "" {
		r.batch(a, members)
	}
}

func (r *reading) failure(a *Answer, text json.RawMessage, what string, members map[string]json.RawMessage) {
	r.object(text, what, failureMembers)
	e := r.object(members["error"], "error", errorMembers)
	if e == nil {
		return
	}
	if err := json.Unmarshal(e["code"], &a.Code); err != nil || !codeRule.MatchString(a.Code) {
		r.fault("has an error code that is none: %s (REQ-RS-05)", e["code"])
	}
	if err := json.Unmarshal(e["message"], &a.Message); err != nil || a.Message == "" {
		r.fault("has no message in its error (REQ-RS-03)")
	}
	if details, has := e["details"]; has {
		r.object(details, "details", nil)
		a.Details = details
	}
	r.leak("message", a.Message)
}

// leak notes what shows something internal, unless the request said it first.
func (r *reading) leak(what, text string) {
	if found := words.Leak(text); found != "" && !strings.Contains(r.request, found) {
		r.fault("shows something internal in its %s: %q fails the protocol's leak check (REQ-ER-14)", what, found)
	}
}

func (r *reading) warnings(a *Answer, text json.RawMessage) {
	if text == nil {
		return
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		r.fault("has warnings that are no list")
		return
	}
	for i, entry := range list {
		members := r.object(entry, fmt.Sprintf("warning %d", i), warningMembers)
		var w Warning
		if err := json.Unmarshal(entry, &w); members == nil || err != nil || !codeRule.MatchString(w.Code) || w.Message == "" {
			r.fault("has a warning without code and message: %s", entry)
			continue
		}
		r.leak("warning", w.Message)
		a.Warnings = append(a.Warnings, w)
	}
}

// batch reads the results of a batch.
func (r *reading) batch(a *Answer, members map[string]json.RawMessage) {
	var results []json.RawMessage
	if err := json.Unmarshal(members["results"], &results); err != nil || results == nil {
		r.fault("has results that are no list (REQ-BA-03)")
	}
	for i, entry := range results {
		item := r.object(entry, fmt.Sprintf("result %d", i), itemMembers)
		if item == nil {
			continue
		}
		for _, name := range itemMembers[:3] {
			if item[name] == nil {
				r.fault("has no %s in result %d (REQ-BA-03)", name, i)
			}
		}
		if item["result"] != nil {
			a.Results = append(a.Results, r.response(item["result"], fmt.Sprintf("result %d", i)))
		}
	}
	var summary map[string]int
	if err := json.Unmarshal(members["summary"], &summary); err != nil {
		r.fault("has no summary of numbers (REQ-BA-03)")
		return
	}
	for _, name := range []string{"total", "succeeded", "failed"} {
		if _, has := summary[name]; !has {
			r.fault("has no %s in its summary (REQ-BA-03)", name)
		}
	}
	if halted, has := members["halted_at"]; has {
		if item := r.object(halted, "halted_at", itemMembers); item != nil && item["result"] != nil {
			r.response(item["result"], "halted_at")
		}
	}
}
