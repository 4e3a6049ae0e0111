package aql

import (
	"strings"
	"testing"
)

// REQ-UK-06, REQ-UK-07, REQ-UK-08: an adapter in development can ignore unknown parameters. It says so when it is made,
// in every answer and in the log, and not in introspection.
func TestAllowUnknownParams(t *testing.T) {
	f := newFixture(t, Options{AllowUnknownParams: true, Mode: ModeSingle})
	const warning = `level=WARN msg="unknown parameters ignored, as AllowUnknownParams says" operation=`
	if !strings.Contains(f.log.String(), `level=WARN msg="Unknown parameters are ignored instead of refused; do not use `+
		`AllowUnknownParams in production"`) {
		t.Errorf("the log of the start: %s", f.log)
	}
	for _, tt := range []struct{ name, request, want, log string }{
		{"in params", `{"operation":"get_note","params":{"note_id":"n1","noteid":"n2","x":{"y":1}}}`,
			`{"success":true,"data":"n1","warnings":[{"code":"VALIDATION_UNKNOWN_PARAM_WARNING","message":"Unknown ` +
				`parameter(s) for operation 'get_note' were ignored: noteid, x","severity":"high","details":{` +
				`"suggestions":{"noteid":"note_id"},"unknown_params":["noteid","x"],"valid_params":["note_id"]}}]}`,
			warning + `get_note unknown_params="[noteid x]"`},
		{"at the top level", `{"operation":"get_note","note_id":"n1","x":1}`,
			`{"success":true,"data":"n1","warnings":[{"code":"VALIDATION_UNKNOWN_PARAM_WARNING","message":"Unknown ` +
				`parameter(s) for operation 'get_note' were ignored: x","severity":"high","details":{` +
				`"unknown_params":["x"],"valid_params":["note_id"]}}]}`,
			warning + `get_note unknown_params=[x]`},
		{"a misspelt required one is still missing", `{"operation":"get_note","params":{"noteid":"n2"}}`,
			`{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"Missing required parameter 'note_id'. ` +
				`Expected: string (Which note)","details":{"param_name":"note_id","operation":"get_note",` +
				`"unknown_params":["noteid"],"suggestions":{"noteid":"note_id"}}}}`, ""},
		{"a broken constraint is still one", `{"operation":"create_note","params":{"title":"","x":1}}`,
			`{"success":false,"error":{"code":"VALIDATION_OUT_OF_RANGE","message":"Parameter 'title' must have a length >= ` +
				`'1'","details":{"param_name":"title","value":"","min_length":1}}}`, ""},
		{"fields of objects are not parameters", `{"operation":"create_note","params":{"title":"a","labels":{"x":1}}}`,
			`{"success":false,"error":{"code":"VALIDATION_UNKNOWN_FIELD","message":"Unknown field(s) in 'labels' for ` +
				`operation 'create_note': x","details":{"operation":"create_note","param_name":"labels","unknown_fields":["x"],` +
				`"valid_fields":["color"]}}}`, ""},
		{"a built-in operation has no warnings", `{"operation":"introspect","params":{"query":"types","name":"x","y":1}}`,
			`{"success":true,"data":{"type":null}}`, warning + `introspect unknown_params=[y]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.log.Reset()
			checkText(t, "answer", tt.want, f.call("mcp_aql", tt.request))
			if log := f.log.String(); !strings.Contains(log, tt.log) || tt.log == "" && log != "" {
				t.Errorf("log %s", log)
			}
		})
	}
	introspection := f.call("mcp_aql", `{"operation":"introspect","params":{"query":"operations"}}`)
	if strict := newFixture(t, Options{Mode: ModeSingle}); strict.log.Len() > 0 ||
		strict.call("mcp_aql", `{"operation":"introspect","params":{"query":"operations"}}`) != introspection {
		t.Error("introspection shows it, or another adapter says it")
	}
}
