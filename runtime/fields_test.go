package aql

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/schematest"
	"github.com/google/go-cmp/cmp"
)

type selectRequest struct {
	ID string
	Fields
}

type selected struct {
	ID    string
	Title string
	Inner *selected
}

var selectTypes = []gen.WireType{
	{Name: "Selected", Kind: gen.KindObject,
		Fields: []gen.Field{{Name: "id", Go: "ID", Type: "string", Rules: gen.Rules{gen.Presets{"minimal"}}},
			{Name: "title", Go: "Title", Type: "string"}, {Name: "inner", Go: "Inner", Type: "Selected"}}},
	{Name: "Note", Kind: gen.KindScalar},
}

// selecting is an adapter with an operation whose fields can be selected. The handler tells which of some paths it was
// told to be selected.
func selecting(t *testing.T, options Options, told *[]string) *Session {
	t.Helper()
	operation := gen.Handler{
		Name: "get_thing", Category: gen.Read, Danger: gen.Safe, Description: "Reads it.", Returns: "Selected",
		Params: []gen.Field{
			{Name: "id", Go: "ID", Type: "string"},
			{Name: "fields", Go: "Fields.Select", Type: gen.TypeSelection,
				Rules: gen.Rules{gen.Presets{"minimal", "standard", "full"}}},
			{Name: "preset", Go: "Fields.Preset", Type: "string", Rules: gen.Rules{gen.Enum{"minimal", "standard", "full"}}},
		},
		Request: (*selectRequest)(nil), Result: (*selected)(nil),
		Call: func(_ context.Context, _ []any, request any) (any, error) {
			for _, path := range []string{"id", "title", "inner", "inner.title"} {
				if told != nil && request.(*selectRequest).Selected(path) {
					*told = append(*told, path)
				}
			}
			return selected{ID: "1", Title: "T", Inner: &selected{ID: "2"}}, nil
		},
	}
	options.Mode = "single"
	adapter, err := New(gen.NewRegistry([]gen.Handler{operation}, selectTypes), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession()
}

// REQ-FS-01, REQ-FS-08, REQ-FS-09: what may be said about fields is what the official schema says.
func TestSelectionsAgreeWithTheOfficialSchema(t *testing.T) {
	schema := schematest.Load(t, "field-selection", "FieldSelectionInput")
	if schema == nil {
		t.Skip("the official schemas are absent")
	}
	session := selecting(t, Options{OmitUnknownFields: true}, nil)
	for _, input := range []string{
		`{}`, `{"fields":"minimal"}`, `{"fields":"standard"}`, `{"fields":"full"}`, `{"fields":"tiny"}`, `{"fields":""}`,
		`{"preset":"minimal"}`, `{"preset":"x"}`,
		`{"fields":["title"]}`, `{"fields":["title","inner.title"],"preset":"full"}`, `{"fields":["Title"]}`,
		`{"fields":["a..b"]}`, `{"fields":["_etag"]}`, `{"fields":["a_1.b2"]}`,
		`{"fields":["_computed.age"]}`, `{"fields":["_computed.a.b"]}`, `{"fields":["_computed."]}`, `{"fields":["1a"]}`,
		`{"fields":[7]}`, `{"fields":7}`, `{"fields":{}}`, `{"more":1}`,
	} {
		official := schema.Validate([]byte(input))
		reply := session.Call(context.Background(), "mcp_aql",
			fmt.Appendf(nil, `{"operation":"get_thing","params":%s}`, input))
		checkOfficial(t, reply.JSON)
		accepted := strings.HasPrefix(string(reply.JSON), `{"success":true`)
		if metadata := strings.Contains(input, "_etag"); accepted != (official == nil || metadata) { // T-40
			t.Errorf("%s: schema %v, adapter %s", input, official, reply.JSON)
		}
	}
}

// T-39: an adapter may leave out what it does not know, with a warning.
func TestUnknownFieldsAreLeftOut(t *testing.T) {
	session := selecting(t, Options{OmitUnknownFields: true}, nil)
	reply := session.Call(context.Background(), "mcp_aql",
		[]byte(`{"operation":"get_thing","params":{"fields":["title","nope","inner.nix"]}}`))
	checkOfficial(t, reply.JSON)
	want := `{"success":true,"data":{"title":"T"},"warnings":[{"code":"VALIDATION_UNKNOWN_FIELD_WARNING",` +
		`"message":"Unknown field(s) in 'fields' were left out: nope, inner.nix",` +
		`"severity":"medium","details":{"unknown_fields":["nope","inner.nix"]}}]}`
	if diff := cmp.Diff(want, string(reply.JSON)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// A handler can ask what will be shown.
func TestHandlersLearnWhatIsSelected(t *testing.T) {
	for request, want := range map[string]string{
		``:                                "id title inner inner.title",
		`"fields":["title"]`:              "title",
		`"fields":["inner"]`:              "inner inner.title",
		`"fields":["inner.title"]`:        "inner inner.title",
		`"fields":["inner.id"]`:           "inner",
		`"fields":"minimal"`:              "id title inner inner.title",
		`"fields":["id"],"preset":"full"`: "id title inner inner.title",
	} {
		var told []string
		selecting(t, Options{}, &told).Call(context.Background(), "mcp_aql",
			fmt.Appendf(nil, `{"operation":"get_thing","params":{%s}}`, request))
		if got := strings.Join(told, " "); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// REQ-PM-04, REQ-PM-05, REQ-SL-02, REQ-CL-03, REQ-BA-01, T-74: capabilities say what the adapter can do, and level 2 is
// claimed where batches and selections work.
func TestCapabilitiesAreTrue(t *testing.T) {
	ask := func(session *Session) string {
		return string(session.Call(context.Background(), "mcp_aql",
			[]byte(`{"operation":"introspect","params":{"query":"operations"}}`)).JSON)
	}
	with, without := ask(selecting(t, Options{}, nil)), ask(newFixture(t, Options{Mode: "single"}).session)
	for _, part := range []string{`"version":"1.0.0-draft"`, `"conformance":"level-2"`, `"batch":true`,
		`"field_selection":true`, `"warnings":true`, `"pagination":false`} {
		if !strings.Contains(with, part) {
			t.Errorf("no %s in %s", part, with)
		}
	}
	if strings.Contains(with, "execution_safety_loop") {
		t.Errorf("a safety loop, which there is none of, in %s", with)
	}
	for _, part := range []string{`"conformance":"level-1"`, `"batch":true`, `"field_selection":false`} {
		if !strings.Contains(without, part) {
			t.Errorf("no %s in %s", part, without)
		}
	}
}
