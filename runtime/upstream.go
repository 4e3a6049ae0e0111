package aql

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/words"
)

// Upstream is the failure of an operation whose API answered with an HTTP status of 400 or more (MCP-AQL error codes
// §6). header is an http.Header, or nil; body is what the API answered, or nil:
//
//	400, 422       VALIDATION_INVALID_TYPE, or what the error in a JSON body says of a value that it names: missing,
//	               unknown, a duplicate, not allowed, out of range, malformed
//	401, 403       PERMISSION_DENIED
//	404            NOT_FOUND_RESOURCE, which names what the request identifies
//	409            CONFLICT_ALREADY_EXISTS
//	429            RATE_LIMIT_EXCEEDED, with the time to wait that the header Retry-After has
//	500 and above  INTERNAL_ERROR
//
// Other statuses from 400 are VALIDATION_INVALID_TYPE. The details have http_status and upstream_error, the message in
// the body; one that discloses the inside of the API stays in the log, as does the whole body.
func Upstream(status int, header map[string][]string, body []byte) *Error {
	said := readUpstream(body)
	f := said.failure(status)
	f.details = append(f.details, detail{"http_status", status})
	if said.text != "" {
		f.details = append(f.details, detail{"upstream_error", said.text})
	}
	now := time.Now()
	if until, ok := meter.RetryAfter(status, header, now); ok {
		f.details = append(f.details, RateLimited(until.Sub(now)).details...)
	}
	cause := fmt.Sprintf("the API answered with status %d: %s", status, words.Clip(string(body), maxUpstream))
	if said.withheld != "" {
		cause = "upstream_error withheld: it has " + said.withheld + "; " + cause
	}
	f.cause = upstreamCause(cause)
	return f
}

// maxUpstream bounds how much of an API's answer a log has, in characters.
const maxUpstream = 4000

// upstreamCause is what an API answered.
type upstreamCause string

func (c upstreamCause) Error() string { return string(c) }

// failure returns the failure for a status, with the details that its code has.
func (u *upstream) failure(status int) *Error {
	switch {
	case status == 401 || status == 403:
		return Denied(cmp.Or(u.text, "the API answered with status "+strconv.Itoa(status)))
	case status == 404:
		return &Error{Code: CodeResourceNotFound, Message: "Resource not found", ofTarget: true}
	case status == 409:
		return failure(CodeAlreadyExists, cmp.Or(u.quoted(), "The resource already exists"))
	case status == 429:
		return RateLimited(0)
	case status >= 500 || status < 400:
		return internal("the API answered with status " + strconv.Itoa(status))
	}
	code := CodeInvalidType
	if u.param != "" && (status == 400 || status == 422) {
		code = cmp.Or(u.code, code)
	}
	message := cmp.Or(u.quoted(), "The API refused the request with status '"+strconv.Itoa(status)+"'")
	if u.param == "" {
		return failure(code, message)
	}
	return failure(code, message, detail{"param_name", u.param})
}

// upstream is what the body of a failed response says.
type upstream struct {
	text     string // empty: nothing that can be shown
	withheld string // what the text has that cannot be shown
	code     Code   // what is wrong with a value; empty: it does not say
	param    string // the value's name, as the API calls it
}

// quoted returns the text in a message.
func (u *upstream) quoted() string {
	if u.text == "" {
		return ""
	}
	return "The API refused the request: '" + u.text + "'"
}

func readUpstream(body []byte) *upstream {
	u := &upstream{}
	var content any
	if json.Unmarshal(body, &content) == nil {
		u.read(content, maxUpstreamLevels)
	} else if text := strings.TrimSpace(string(body)); utf8.ValidString(text) && !strings.HasPrefix(text, "<") {
		u.text = text
	}
	u.text, u.param = words.Clip(u.text, maxUpstreamText), words.Clip(u.param, maxShown)
	if what, _ := words.Leak(u.text); what != "" {
		u.text, u.withheld = "", what
	}
	if what, _ := words.Leak(u.param); what != "" {
		u.param = ""
	}
	return u
}

const (
	maxUpstreamText   = 500 // characters
	maxUpstreamLevels = 6
)

// The names under which APIs have the parts of an error, the most telling first.
var (
	upstreamTexts = []string{
		"detail", "message", "msg", "error_description", "error_message", "description", "error", "title",
	}
	upstreamErrors = []string{"error", "errors", "detail", "details", "violations", "invalid-params", "invalid_params"}
	upstreamCodes  = []string{"code", "type", "reason", "keyword", "rule", "error_code"}
	upstreamParams = []string{"param", "parameter", "field", "property", "name", "pointer", "loc", "path"}
)

// read reads a part of a body: a text, an error, a list of errors, or lists of texts by the names of values.
func (u *upstream) read(content any, levels int) {
	if levels == 0 {
		return
	}
	switch content := content.(type) {
	case string:
		u.text = cmp.Or(u.text, strings.TrimSpace(content))
	case []any:
		if len(content) > 0 { // the first error stands for all of them
			u.read(content[0], levels-1)
		}
	case map[string]any:
		for _, name := range upstreamErrors { // what is inside says more
			if inner := content[name]; isErrors(inner) {
				u.read(inner, levels-1)
			}
		}
		for _, name := range upstreamTexts {
			if text, ok := content[name].(string); ok {
				u.text = cmp.Or(u.text, strings.TrimSpace(text))
			}
		}
		for _, name := range upstreamCodes {
			if text, ok := content[name].(string); ok {
				u.code = cmp.Or(u.code, upstreamCode(text))
			}
		}
		for _, name := range upstreamParams {
			u.param = cmp.Or(u.param, lastName(content[name]))
		}
		if first, ok := textsByName(content); ok && u.text == "" {
			u.param = first
			u.read(content[first], levels-1)
		}
	}
}

func isErrors(content any) bool {
	switch content.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// textsByName returns the first name of an object of which every member is a list of texts.
func textsByName(content map[string]any) (first string, ok bool) {
	for _, member := range content {
		if texts, _ := member.([]any); len(texts) == 0 || isErrors(texts[0]) {
			return "", false
		}
	}
	if len(content) == 0 {
		return "", false
	}
	return slices.Min(slices.Collect(maps.Keys(content))), true
}

// lastName returns the name of a value from its name, its JSON pointer or its path.
func lastName(content any) string {
	switch content := content.(type) {
	case string:
		return content[strings.LastIndexByte(content, '/')+1:]
	case []any:
		if len(content) > 0 {
			last, _ := content[len(content)-1].(string)
			return last
		}
	}
	return ""
}

// upstreamCode returns the code for what an API calls an error of a value, such as missing_field; empty: none is known.
func upstreamCode(text string) Code {
	parts := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return c < 'a' || c > 'z' })
	for _, known := range []struct {
		code Code
		said []string
	}{
		{CodeAlreadyExists, []string{"exists", "duplicate", "taken", "unique", "uniqueness"}},
		{CodeMissingParam, []string{"missing", "required", "blank"}},
		{"VALIDATION_UNKNOWN_PARAM", []string{"unknown", "unrecognized", "extra", "additionalproperties", "unexpected"}},
		{CodeInvalidEnum, []string{"enum", "choice", "inclusion"}},
		{CodeOutOfRange, []string{"range", "too", "min", "max", "minimum", "maximum", "greater", "less"}},
		{CodePatternMismatch, []string{"pattern", "format", "regex"}},
	} {
		if slices.ContainsFunc(known.said, func(word string) bool { return slices.Contains(parts, word) }) {
			return known.code
		}
	}
	return ""
}
