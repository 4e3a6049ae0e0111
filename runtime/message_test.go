package aql

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// letter is a message of a library: its Go fields are not what its JSON says.
type letter struct {
	_       [0]func() // no two are compared, and none is converted to another type
	written map[string]any
}

func (*letter) Written() map[string]any { return nil }

// written is what a library calls its messages.
type written interface{ Written() map[string]any }

func writeMessage(m written) ([]byte, error) {
	if l, ok := m.(*letter); ok && l.written != nil {
		return json.MarshalIndent(l.written, "", " ")
	}
	return []byte("{}"), nil
}

func readMessage(text []byte, m written) error {
	l, _ := m.(*letter)
	l.written = nil
	if err := json.Unmarshal(text, &l.written); err != nil {
		return err
	}
	switch sent, _ := l.written["sentOn"].(string); {
	case strings.HasPrefix(sent, "0000"):
		return errors.New("lib:\u00a0(line 1:11): invalid time \"" + sent + "\"")
	case strings.HasPrefix(sent, "0001"):
		return errors.New("lib: (line 1:11): main.parse failed in /srv/app/parse.go:12")
	case strings.HasPrefix(sent, "0002"):
		panic("nil map")
	}
	_, text1 := l.written["text"]
	if _, text2 := l.written["scanOf"]; text1 && text2 {
		return errors.New("lib: two members of a oneof")
	}
	return nil
}

// letters keeps one letter.
type letters struct{ kept *letter }

func letterFields() []gen.Field {
	return []gen.Field{
		{Name: "sent_on", Go: "sentOn", Type: "string", OmitEmpty: true,
			Rules: gen.Rules{gen.Format("date-time"), gen.Aliases{"sentOn"}}},
		{Name: "number", Go: "number", Type: "string", OmitEmpty: true, Quoted: true,
			Rules: gen.Rules{gen.Pattern(gen.PatternInteger)}},
		{Name: "text", Go: "text", Type: "string", OmitEmpty: true, Rules: gen.Rules{gen.Excludes{"scan_of"}}},
		{Name: "scan_of", Go: "scanOf", Type: "Letter", OmitEmpty: true, Rules: gen.Rules{gen.Excludes{"text"}}},
		{Name: "parts", Go: "parts", Type: "array", Items: &gen.Field{Type: "Letter"}, OmitEmpty: true},
	}
}

func letterSession(t *testing.T, service *letters) *Session {
	t.Helper()
	types := []gen.WireType{
		{Name: "Letter", Kind: gen.KindObject, Fields: letterFields()},
		{Name: "LetterPatch", Kind: gen.KindObject, Changes: "Letter"},
	}
	type changes struct{ input Patch[letter] }
	handlers := []gen.Handler{
		{
			Name: "create_letter", Category: gen.Create, Danger: gen.Reversible, Params: letterFields(), Returns: "Letter",
			Request: (*letter)(nil), Result: (**letter)(nil),
			Call: func(_ context.Context, _ []any, request any) (any, error) {
				service.kept = request.(*letter)
				return service.kept, nil
			},
		},
		{
			Name: "update_letter", Category: gen.Update, Danger: gen.Reversible, Returns: "Letter",
			Params:  []gen.Field{{Name: "input", Go: "input", Type: "LetterPatch", Required: true}},
			Request: (*changes)(nil), Result: (**letter)(nil),
			Call: func(_ context.Context, _ []any, request any) (any, error) {
				return service.kept, request.(*changes).input.Apply(service.kept)
			},
		},
	}
	registry := gen.NewRegistry(handlers, types).With(gen.CodecOf(writeMessage, readMessage))
	adapter, err := New(registry, Options{Name: "letters", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession()
}

// A message is read and written by the functions of its library, under the names of the definition (B8).
func TestMessagesAreReadAndWrittenByTheirLibrary(t *testing.T) {
	service := &letters{}
	session := letterSession(t, service)
	for _, c := range []struct{ name, tool, request, want string }{
		{"a message goes both ways", "create", `{"operation":"create_letter","params":{"sentOn":"2026-03-01T10:00:00+01:00",
			"number":"9223372036854775807","scan_of":{"parts":[{"text":"x"}]}}}`,
			`{"success":true,"data":{"number":"9223372036854775807","scan_of":{"parts":[{"text":"x"}]},` +
				`"sent_on":"2026-03-01T09:00:00Z"}}`},
		{"an update merges, and a member of a oneof replaces the others", "update",
			`{"operation":"update_letter","params":{"input":{"text":"y","number":null}}}`,
			`{"success":true,"data":{"sent_on":"2026-03-01T09:00:00Z","text":"y"}}`},
		{"an update merges into messages that the message holds", "update",
			`{"operation":"update_letter","params":{"input":{"scan_of":{"number":"7"}}}}`,
			`{"success":true,"data":{"scan_of":{"number":"7"},"sent_on":"2026-03-01T09:00:00Z"}}`},
		{"an update cannot set two members", "update",
			`{"operation":"update_letter","params":{"input":{"scan_of":{},"text":"x"}}}`,
			`{"success":false,"error":{"code":"VALIDATION_DUPLICATE_PARAM","message":"Parameter 'input.text' excludes ` +
				`'scan_of'. Send one of the two.","details":{"param_name":"input.text"}}}`},
		{"the reason of the library is told, without where it read", "create",
			`{"operation":"create_letter","params":{"number":"1","sent_on":"0000-03-01T09:00:00Z"}}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'sent_on' expected ` +
				`'well-formed value', got 'string'","details":{"param_name":"sent_on","expected_type":"well-formed value",` +
				`"actual_type":"string","reason":"invalid time \"0000-03-01T09:00:00Z\""}}}`},
		{"a reason that shows the inside of the program is not told (T-29)", "create",
			`{"operation":"create_letter","params":{"sent_on":"0001-03-01T09:00:00Z"}}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'sent_on' expected ` +
				`'well-formed value', got 'string'","details":{"param_name":"sent_on","expected_type":"well-formed value",` +
				`"actual_type":"string"}}}`},
		{"nor is a panic", "create", `{"operation":"create_letter","params":{"sent_on":"0002-03-01T09:00:00Z"}}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'sent_on' expected ` +
				`'well-formed value', got 'string'","details":{"param_name":"sent_on","expected_type":"well-formed value",` +
				`"actual_type":"string"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(session.Call(t.Context(), "mcp_aql_"+c.tool, []byte(c.request)).JSON)
			checkText(t, "answer", c.want, got)
		})
	}
	if got := maps.Clone(service.kept.written); got["sentOn"] != "2026-03-01T09:00:00Z" {
		t.Errorf("a refused request reached the service: %v", got)
	}
}

// What the definition does not have of a message, such as a hidden field, is not shown, and an update keeps it.
func TestUnknownMembersOfMessagesAreKept(t *testing.T) {
	service := &letters{kept: &letter{}}
	session := letterSession(t, service)
	kept := `{"text":"x","later":12345678901234567890,"parts":[{"later":1}],"scanOf":{"later":[1],"number":"1"}}`
	if err := json.Unmarshal([]byte(strings.Replace(kept, `"text":"x",`, "", 1)), &service.kept.written); err != nil {
		t.Fatal(err)
	}
	got := string(session.Call(t.Context(), "mcp_aql_update",
		[]byte(`{"operation":"update_letter","params":{"input":{"scan_of":{"number":"2"}}}}`)).JSON)
	checkText(t, "answer", `{"success":true,"data":{"parts":[{}],"scan_of":{"number":"2"}}}`, got)
	text, err := json.Marshal(service.kept.written)
	if err != nil {
		t.Fatal(err)
	}
	checkText(t, "message", `{"later":12345678901234567000,"parts":[{"later":1}],"scanOf":{"later":[1],"number":"2"}}`,
		string(text))
}

// A message that its definition does not describe is not changed.
func TestMessagesThatTheirDefinitionDoesNotDescribe(t *testing.T) {
	service := &letters{kept: &letter{written: map[string]any{"sentOn": "today"}}}
	session := letterSession(t, service)
	got := string(session.Call(t.Context(), "mcp_aql_update",
		[]byte(`{"operation":"update_letter","params":{"input":{"text":"x"}}}`)).JSON)
	if !strings.Contains(got, `"success":false`) || service.kept.written["sentOn"] != "today" {
		t.Errorf("got %s, and the message is %v", got, service.kept.written)
	}
}
