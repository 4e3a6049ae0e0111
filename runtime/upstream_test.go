package aql

import (
	"strings"
	"testing"
)

// A15, A17, REQ-ER-06, REQ-ER-07, REQ-ER-11, T-30, T-33: what the failures of an API become.
func TestUpstream(t *testing.T) {
	const refused = `"The API refused the request: `
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"400 without a body", 400, "",
			`VALIDATION_INVALID_TYPE","message":"The API refused the request with status '400'",` +
				`"details":{"http_status":400}`},
		{"400 with a text", 400, " Start is after the end ", `VALIDATION_INVALID_TYPE","message":` + refused +
			`'Start is after the end'","details":{"http_status":400,"upstream_error":"Start is after the end"}`},
		{"422 that names a missing value", 422,
			`{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}`,
			`VALIDATION_MISSING_PARAM","message":` + refused + `'Validation Failed'","details":{"param_name":"title",` +
				`"http_status":422,"upstream_error":"Validation Failed"}`},
		{"a list with paths", 422, `{"detail":[{"loc":["body","title"],"msg":"Field required","type":"missing"}]}`,
			`VALIDATION_MISSING_PARAM","message":` + refused + `'Field required'","details":{"param_name":"title",` +
				`"http_status":422,"upstream_error":"Field required"}`},
		{"an object inside", 400, `{"error":{"code":"parameter_unknown","param":"colour","message":"Unknown: colour"}}`,
			`VALIDATION_UNKNOWN_PARAM","message":` + refused + `'Unknown: colour'","details":{"param_name":"colour",` +
				`"http_status":400,"upstream_error":"Unknown: colour"}`},
		{"lists of texts by name", 422, `{"errors":{"title":["is too long"]}}`, `VALIDATION_INVALID_TYPE","message":` +
			refused + `'is too long'","details":{"param_name":"title","http_status":422,"upstream_error":"is too long"}`},
		{"a problem of RFC 9457", 422,
			`{"type":"about:blank","title":"Bad","errors":[{"pointer":"#/age","type":"out_of_range","detail":"Too old"}]}`,
			`VALIDATION_OUT_OF_RANGE","message":` + refused + `'Too old'","details":{"param_name":"age","http_status":422,` +
				`"upstream_error":"Too old"}`},
		{"a duplicate", 422, `{"errors":[{"field":"name","code":"already_exists"}]}`, `CONFLICT_ALREADY_EXISTS","message":` +
			`"The API refused the request with status '422'","details":{"param_name":"name","http_status":422}`},
		{"a code that is of no value", 400, `{"error":"login_required"}`, `VALIDATION_INVALID_TYPE","message":` + refused +
			`'login_required'","details":{"http_status":400,"upstream_error":"login_required"}`},
		{"401", 401, `{"message":"Bad credentials"}`, `PERMISSION_DENIED","message":"Permission denied: 'Bad credentials'",` +
			`"details":{"reason":"Bad credentials","http_status":401,"upstream_error":"Bad credentials"}`},
		{"403 without a body", 403, "",
			`PERMISSION_DENIED","message":"Permission denied: 'the API answered with status 403'",` +
				`"details":{"reason":"the API answered with status 403","http_status":403}`},
		{"404", 404, `{"message":"Not Found"}`, `NOT_FOUND_RESOURCE","message":"Resource not found",` +
			`"details":{"http_status":404,"upstream_error":"Not Found"}`},
		{"409", 409, `{"message":"Name is taken"}`, `CONFLICT_ALREADY_EXISTS","message":` + refused +
			`'Name is taken'","details":{"http_status":409,"upstream_error":"Name is taken"}`},
		{"429", 429, "", `RATE_LIMIT_EXCEEDED","message":"API rate limit exceeded",` +
			`"details":{"http_status":429,"retry_after_seconds":30}`},
		{"418", 418, "<html>teapot</html>", `VALIDATION_INVALID_TYPE","message":` +
			`"The API refused the request with status '418'","details":{"http_status":418}`},
		{"503", 503, `{"error":"Service temporarily unavailable"}`, `INTERNAL_ERROR","message":` +
			`"Internal error: 'the API answered with status 503'","details":{"http_status":503,` +
			`"upstream_error":"Service temporarily unavailable","retry_after_seconds":30,"request_id":"req_`},
		{"a status that is none of a failure", 200, "", `INTERNAL_ERROR","message":` +
			`"Internal error: 'the API answered with status 200'","details":{"http_status":200,"request_id":"req_`},
		{"a trace is not shown", 500, "Traceback (most recent call last):\n  File \"/app/x.py\", line 3", `INTERNAL_ERROR",` +
			`"message":"Internal error: 'the API answered with status 500'","details":{"http_status":500,"request_id":"req_`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, Options{})
			header := map[string][]string{"retry-after": {"30"}}
			f.fail = Upstream(tt.status, header, []byte(tt.body))
			got := f.call("mcp_aql_execute", `{"operation":"fail_note","params":{}}`)
			want := `{"success":false,"error":{"code":"` + tt.want
			if !strings.HasPrefix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !strings.Contains(f.log.String(), "the API answered with status") {
				t.Errorf("the log lacks what the API answered: %s", f.log)
			}
			if strings.Contains(tt.body, "Traceback") && !strings.Contains(f.log.String(),
				`upstream_error withheld: it has a stack trace; the API answered with status 500: Traceback`) {
				t.Errorf("the log does not say what was withheld: %s", f.log)
			}
		})
	}
}

// The time to wait for a limit is in whole seconds, rounded up.
func TestRateLimited(t *testing.T) {
	checkText(t, "unknown", `{"code":"RATE_LIMIT_EXCEEDED","message":"API rate limit exceeded"}`, asJSON(RateLimited(0)))
	checkText(t, "known", `{"code":"RATE_LIMIT_EXCEEDED","message":"API rate limit exceeded",`+
		`"details":{"retry_after_seconds":2}}`, asJSON(RateLimited(1200*1e6)))
}
