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

// The members that responses may have (MCP-AQL schemas operation-result and batch-operation).
var (
	successMembers = []string{"success", "data", "warnings", "_meta"}
	batchMembers   = slices.Concat(successMembers, []string{"results", "summary", "halted_at", "pending_operations"})
	failureMembers = []string{
		"success", "error", "confirmation", "deprecated", "deprecationMessage", "deprecatedSince", "removalVersion",
	}
	errorMembers   = []string{"code", "message", "details"}
	warningMembers = []string{"code", "message", "severity", "details"}
	itemMembers    = []string{"index", "operation", "result", "status"}
)

var codeRule = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// reading is a response being read, with what is wrong with it.
type reading struct {
	request string
	faults  []string // each completes "a response that …"
}

// read reads a response to a request and returns what is wrong with it.
func read(text []byte, request string) (Answer, []string) {
	r := reading{request: request}
	return r.response(text, ""), r.faults
}

func (r *reading) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// object reads an object that may have the allowed members; nil: any.
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

// response reads a response. item names the item of a batch to which it belongs; empty: it is the whole response.
func (r *reading) response(text json.RawMessage, item string) Answer {
	a := Answer{JSON: text, request: r.request}
	what := "the response"
	if item != "" {
		what = item
	}
	members := r.object(text, what, nil)
	if members == nil {
		return a
	}
	switch string(bytes.TrimSpace(members["success"])) {
	case "true":
		a.Success = true
		r.success(&a, members, item)
	case "false":
		r.failure(&a, text, what, members)
	default:
		r.fault("has no success that is true or false in %s (MCP-AQL core §5.1)", what)
	}
	return a
}

func (r *reading) success(a *Answer, members map[string]json.RawMessage, item string) {
	_, isBatch := members["results"]
	allowed, what := successMembers, "the response"
	switch {
	case item != "":
		allowed, what = successMembers[:2], item
	case isBatch:
		allowed = batchMembers
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(allowed, name) {
			r.fault("has a member that is not allowed: %s in %s", name, what)
		}
	}
	data, has := members["data"]
	if !has {
		r.fault("has no data in %s (MCP-AQL operations §3.2)", what)
	}
	a.Data = data
	r.warnings(a, members["warnings"])
	if meta, has := members["_meta"]; has {
		r.object(meta, "_meta", nil)
	}
	if isBatch && item == "" {
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
		r.fault("has an error code that is none: %s (MCP-AQL structured error codes §3.1)", e["code"])
	}
	if err := json.Unmarshal(e["message"], &a.Message); err != nil || a.Message == "" {
		r.fault("has no message in its error (MCP-AQL operations §3.3)")
	}
	if details, has := e["details"]; has {
		r.object(details, "details", nil)
		a.Details = details
	}
	r.leak("message", a.Message)
}

// leak reports text that shows something internal, unless it repeats the request (MCP-AQL introspection §8.1.3).
func (r *reading) leak(what, text string) {
	if kind, part := words.Leak(text); part != "" && !strings.Contains(r.request, part) {
		r.fault("shows %s in its %s: %q", kind, what, part)
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
		err := json.Unmarshal(entry, &w)
		if members == nil || err != nil || !codeRule.MatchString(w.Code) || w.Message == "" {
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
		r.fault("has results that are no list (MCP-AQL operations §7.2)")
	}
	for i, entry := range results {
		item := r.object(entry, fmt.Sprintf("result %d", i), itemMembers)
		if item == nil {
			continue
		}
		for _, name := range itemMembers[:3] {
			if item[name] == nil {
				r.fault("has no %s in result %d (MCP-AQL operations §7.2)", name, i)
			}
		}
		if item["result"] != nil {
			a.Results = append(a.Results, r.response(item["result"], fmt.Sprintf("result %d", i)))
		}
	}
	var summary map[string]int
	if err := json.Unmarshal(members["summary"], &summary); err != nil {
		r.fault("has no summary of numbers (MCP-AQL operations §7.2)")
		return
	}
	for _, name := range []string{"total", "succeeded", "failed"} {
		if _, has := summary[name]; !has {
			r.fault("has no %s in its summary (MCP-AQL operations §7.2)", name)
		}
	}
	if halted, has := members["halted_at"]; has {
		if item := r.object(halted, "halted_at", itemMembers); item != nil && item["result"] != nil {
			r.response(item["result"], "halted_at")
		}
	}
}
