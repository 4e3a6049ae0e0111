package aqltest

import (
	"strings"
	"testing"
)

// Every rule of the form of responses, broken once.
func TestResponsesAreHeldAgainstTheRules(t *testing.T) {
	for _, tt := range []struct{ name, response, fault string }{
		{"a success", `{"success":true,"data":null}`, ""},
		{"REQ-WA-09 a success with all there can be, and a warning that nobody knows", `{"success":true,"data":{},` +
			`"_meta":{"request_id":"r"},"warnings":[{"code":"A_B","message":"m","severity":"low","details":{}}]}`, ""},
		{"a failure", `{"success":false,"error":{"code":"NOT_FOUND_RESOURCE","message":"no","details":{}}}`, ""},
		{"a batch", `{"success":true,"data":null,"results":[{"index":0,"operation":"a","result":{"success":true,` +
			`"data":1}}],"summary":{"total":1,"succeeded":1,"failed":0}}`, ""},
		{"no JSON", `{"success":`, "is no JSON object"},
		{"no object", `[]`, "is no JSON object"},
		{"null", `null`, "is no JSON object"},
		{"REQ-RS-01 no success", `{"data":null}`, "no success that is true or false"},
		{"REQ-RS-01 success is no boolean", `{"success":"true","data":null}`, "no success that is true or false"},
		{"REQ-RS-02 no data", `{"success":true}`, "no data"},
		{"REQ-RS-03 no error", `{"success":false}`, "error is no JSON object"},
		{"REQ-RS-03 data beside an error",
			`{"success":false,"error":{"code":"A","message":"m"},"data":null}`, "data in the response"},
		{"REQ-RS-03 no message", `{"success":false,"error":{"code":"A"}}`, "no message in its error"},
		{"REQ-RS-04 something else beside data", `{"success":true,"data":null,"status":200}`, "status in the response"},
		{"REQ-RS-04 a summary without results", `{"success":true,"data":null,"summary":{}}`, "summary in the response"},
		{"REQ-RS-05 a code in small letters",
			`{"success":false,"error":{"code":"not_found","message":"m"}}`, "an error code that is none"},
		{"REQ-RS-05 details are null",
			`{"success":false,"error":{"code":"A","message":"m","details":null}}`, "details is no JSON object"},
		{"REQ-RS-05 something else in the error",
			`{"success":false,"error":{"code":"A","message":"m","stack":"s"}}`, "stack in error"},
		{"warnings are no list", `{"success":true,"data":null,"warnings":{}}`, "warnings that are no list"},
		{"a warning without a code", `{"success":true,"data":null,"warnings":[{"message":"m"}]}`, "without code and message"},
		{"something else in a warning",
			`{"success":true,"data":null,"warnings":[{"code":"A","message":"m","why":1}]}`, "why in warning 0"},
		{"_meta is no object", `{"success":true,"data":null,"_meta":[]}`, "_meta is no JSON object"},
		{"REQ-ER-14 a message that leaks",
			`{"success":false,"error":{"code":"A","message":"sql: no rows"}}`,
			"shows the text of a Go error or panic in its message"},
		{"REQ-ER-14 a warning that leaks",
			`{"success":true,"data":null,"warnings":[{"code":"A","message":"notes.go:12 is slow"}]}`,
			"shows a source file with a line in its warning"},
		{"a message that repeats the request",
			`{"success":false,"error":{"code":"A","message":"no shop is open in a.ts:7"}}`, ""},
		{"REQ-BA-03 results are no list",
			`{"success":true,"data":null,"results":null,"summary":{"total":1,"succeeded":1,"failed":0}}`,
			"results that are no list"},
		{"REQ-BA-03 no index", `{"success":true,"data":null,"results":[{"operation":"a","result":{"success":true,` +
			`"data":1}}],"summary":{"total":1,"succeeded":1,"failed":0}}`, "no index in result 0"},
		{"REQ-BA-03 no summary", `{"success":true,"data":null,"results":[]}`, "no summary"},
		{"REQ-BA-03 half a summary",
			`{"success":true,"data":null,"results":[],"summary":{"total":0,"failed":0}}`, "no succeeded in its summary"},
		{"REQ-BA-06 an item with warnings", `{"success":true,"data":null,"results":[{"index":0,"operation":"a",` +
			`"result":{"success":true,"data":1,"warnings":[]}}],"summary":{"total":1,"succeeded":1,"failed":0}}`,
			"warnings in result 0"},
		{"REQ-BA-08 a halt that leaks", `{"success":true,"data":null,"results":[],"halted_at":{"index":0,"operation":"a",` +
			`"result":{"success":false,"error":{"code":"A","message":"panic: x"}}},"pending_operations":[],` +
			`"summary":{"total":1,"succeeded":0,"failed":0}}`, "shows a stack trace in its message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, faults := read([]byte(tt.response), `{"operation":"find","params":{"text":"see a.ts:7"}}`)
			switch {
			case tt.fault == "" && len(faults) > 0:
				t.Errorf("faults %q in a good response", faults)
			case tt.fault != "" && (len(faults) != 1 || !strings.Contains(faults[0], tt.fault)):
				t.Errorf("faults %q, want one that says %q", faults, tt.fault)
			}
		})
	}
}

// Whatever an adapter sends, reading it ends.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"success":true,"data":null,"results":[{}]}`, `{"success":false,"error":{}}`, `{`} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, response string) { read([]byte(response), "") })
}
