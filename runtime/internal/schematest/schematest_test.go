package schematest

import "testing"

// A validator that accepted everything would make every test that leans on it worthless.
func TestWrongDocumentsAreRefused(t *testing.T) {
	tests := []struct {
		schema, definition string
		good               []string
		bad                []string
	}{
		{
			"operation-result", "",
			[]string{`{"success":true,"data":{"a":1}}`, `{"success":true,"data":[1e1000000000,-1e400]}`,
				`{"success":false,"error":{"code":"NOT_FOUND_RESOURCE","message":"No"}}`,
				`{"success":false,"error":{"code":"CONFIRMATION_REQUIRED","message":"No"},` +
					`"confirmation":{"token":"conf_x","expires_at":"2026-01-02T03:04:05Z"}}`},
			[]string{
				`[]`, `{}`, `{"success":true}`, `{"success":"true","data":1}`, `{"success":false,"data":{}}`,
				`{"success":false,"error":{"code":"lower","message":"No"}}`, `{"success":false,"error":{"message":"No"}}`,
				`{"success":true,"data":1,"warnings":[{"message":"no code"}]}`,
				`{"success":false,"error":{"code":"CONFIRMATION_REQUIRED","message":"No"},` +
					`"confirmation":{"token":"conf_x","expires_at":"tomorrow"}}`,
			},
		},
		{
			"batch-operation", "",
			[]string{`{"operations":[{"operation":"a_b","params":{}}]}`},
			[]string{`[]`, `{"operations":7}`, `{"operations":[7]}`},
		},
		{
			"introspection-response", "",
			[]string{`{"success":true,"data":{"operations":[]}}`},
			[]string{`[]`, `{"success":true,"data":{"operations":7}}`},
		},
		{
			"field-selection", "FieldSelectionInput",
			[]string{`{}`, `{"fields":["a.b"]}`, `{"fields":"minimal"}`},
			[]string{`{"fields":7}`, `{"fields":["A"]}`, `{"preset":"x"}`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.schema, func(t *testing.T) {
			s := Load(t, tt.schema, tt.definition)
			if s == nil {
				t.Skip("the official schemas are absent")
			}
			for _, document := range tt.good {
				s.Check(t, []byte(document))
			}
			for _, document := range tt.bad {
				if s.Validate([]byte(document)) == nil {
					t.Errorf("%s is accepted", document)
				}
			}
		})
	}
}
