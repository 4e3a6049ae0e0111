package call_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/internal/call"
)

// fake is a server with the operations that it lists. It records the parameters of each call but those of introspect.
type fake struct {
	protocol string // the members of _protocol
	reported string // the danger level of drop_notes, in its details
	params   string // the parameters of drop_notes, in its details
	note     string // the end of its description
	answers  []string
	got      []string
}

func (s *fake) Tools(context.Context) ([]conform.Tool, error) {
	return []conform.Tool{{Name: "mcp_aql"}}, nil
}

func (s *fake) Call(_ context.Context, _ string, arguments json.RawMessage) (conform.Reply, error) {
	var request struct {
		Operation string
		Params    json.RawMessage
	}
	if err := json.Unmarshal(arguments, &request); err != nil {
		return conform.Reply{}, err
	}
	about := `{"name":"drop_notes","semantic_category":"DELETE"` + s.reported +
		`,"description":"Drops notes.` + s.note + `",` +
		`"parameters":[` + s.params + `]}`
	switch {
	case request.Operation != "introspect":
		s.got = append(s.got, string(request.Params))
		if len(s.answers) == 0 {
			return conform.Reply{Text: `{"success":true,"data":{"dropped":1}}`}, nil
		}
		answer := s.answers[0]
		s.answers = s.answers[1:]
		return conform.Reply{Text: answer}, nil
	case bytes.Contains(request.Params, []byte(`"types"`)):
		values := `"success":false`
		if bytes.Contains(request.Params, []byte(`"Color"`)) {
			values = `"success":true,"data":{"type":{"name":"Color","kind":"enum","values":["red","7"]}}`
		}
		return conform.Reply{Text: "{" + values + "}"}, nil
	case bytes.Contains(request.Params, []byte(`"name"`)):
		return conform.Reply{Text: `{"success":true,"data":{"operation":` + about + `}}`}, nil
	}
	list := `{"_protocol":{` + s.protocol + `},"operations":[` + about + `]}`
	return conform.Reply{Text: `{"success":true,"data":` + list + `}`}, nil
}

func (s *fake) look(t *testing.T) (*conform.Surface, conform.Operation) {
	t.Helper()
	surface, err := conform.Look(t.Context(), s, conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := surface.Operation(t.Context(), "drop_notes")
	if err != nil {
		t.Fatal(err)
	}
	return surface, o
}

// confirmation is the failure that asks for one at a danger level.
func confirmation(level, message string) string {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"success":false,"error":{"code":"CONFIRMATION_REQUIRED","message":"This operation requires `+
		`confirmation","details":{"operation":"drop_notes","danger_level":%q,"reasons":["All gone"],`+
		`"confirmation_message":%s,"confirmation_token":"conf_1"}}}`, level, text)
}

// REQ-CT-04, REQ-CT-05: nothing is confirmed that nobody confirmed, and the token goes where the protocol has it.
func TestConfirmations(t *testing.T) {
	const (
		asks      = `"capabilities":{"confirmation":true}`
		said      = `,"danger_level":"destructive"`
		confirmed = `{"ids":[1],"_confirmation":"conf_1"}`
		plain     = `{"ids":[1]}`
	)
	for _, tt := range []struct {
		name              string
		server            fake
		typed             *string
		yes, yesDangerous bool
		want              []string // the parameters of the calls
		unconfirmed       bool
		shows             []string
	}{
		{name: "yes", server: fake{protocol: asks, answers: []string{confirmation("destructive", "Sure?")}},
			typed: new("y\n"), want: []string{plain, confirmed},
			shows: []string{"drop_notes is DELETE, destructive.", "All gone", "Sure?", "[y/N]"}},
		{name: "no", server: fake{protocol: asks, answers: []string{confirmation("destructive", "Sure?")}},
			typed: new("n\n"), want: []string{plain}, unconfirmed: true},
		{name: "only a line break", server: fake{protocol: asks, answers: []string{confirmation("destructive", "Sure?")}},
			typed: new("\n"), want: []string{plain}, unconfirmed: true},
		{name: "the end of the input", server: fake{protocol: asks, answers: []string{confirmation("destructive", "")}},
			typed: new(""), want: []string{plain}, unconfirmed: true},
		{name: "nobody to ask", server: fake{protocol: asks, answers: []string{confirmation("destructive", "Sure?")}},
			want: []string{plain}, unconfirmed: true, shows: []string{"Sure?"}},
		{name: "the flag", server: fake{protocol: asks, answers: []string{confirmation("destructive", "Sure?")}},
			yes: true, want: []string{plain, confirmed}, shows: []string{"Sure?"}},
		{name: "the flag does not confirm what is dangerous",
			server: fake{protocol: asks, answers: []string{confirmation("dangerous", "Sure?")}},
			yes:    true, want: []string{plain}, unconfirmed: true},
		{name: "the flag does not confirm a level that is not known",
			server: fake{protocol: asks, answers: []string{confirmation("mild", "Sure?")}},
			yes:    true, want: []string{plain}, unconfirmed: true},
		{name: "the flag for what is dangerous",
			server:       fake{protocol: asks, answers: []string{confirmation("dangerous", "Sure?")}},
			yesDangerous: true, want: []string{plain, confirmed}},
		{name: "y is not enough for what is dangerous",
			server: fake{protocol: asks, answers: []string{confirmation("dangerous", "Sure?")}},
			typed:  new("y\n"), want: []string{plain}, unconfirmed: true, shows: []string{"Type drop_notes to go ahead"}},
		{name: "the name for what is dangerous",
			server: fake{protocol: asks, answers: []string{confirmation("dangerous", "Sure?")}},
			typed:  new("drop_notes\n"), want: []string{plain, confirmed}},
		{name: "a server that lowers the level", typed: new("y\n"), unconfirmed: true, want: []string{plain},
			server: fake{protocol: asks, reported: `,"danger_level":"dangerous"`,
				answers: []string{confirmation("reversible", "Sure?")}}},
		{name: "a parameter for the token is described", typed: new("y\n"),
			server: fake{protocol: asks, params: `{"name":"confirmation_token","type":"string"}`,
				answers: []string{confirmation("destructive", "Sure?")}},
			want: []string{plain, `{"ids":[1],"confirmation_token":"conf_1"}`}},
		{name: "a server that asks again is not answered again", yes: true, want: []string{plain, confirmed},
			server: fake{protocol: asks,
				answers: []string{confirmation("destructive", "Sure?"), confirmation("destructive", "Sure?")}}},
		{name: "a question that misleads a terminal", typed: new("n\n"), unconfirmed: true, want: []string{plain},
			server: fake{protocol: asks, answers: []string{confirmation("destructive",
				"Keep\x1b[2K \u202eall\u200b\ufe0f\nGo ahead? [y/N] y")}},
			shows: []string{`Keep\u001b[2K \u202eall\u200b\ufe0f\nGo ahead? [y/N] y`}},
		{name: "a quota", typed: new("y\n"), want: []string{plain, `{"ids":[1],"_quota_continue":"quota_1"}`},
			server: fake{protocol: asks, answers: []string{`{"success":false,"error":{"code":"RATE_LIMIT_QUOTA_PAUSE",` +
				`"message":"Quota pause threshold reached","details":{"metric":"tokens","current":91,"pause_threshold":90,` +
				`"confirmation_token":"quota_1"}}}`}},
			shows: []string{"Quota pause threshold reached: tokens is at 91 of 90"}},

		{name: "a server that does not ask, and a person who does not confirm", server: fake{reported: said},
			typed: new("n\n"), unconfirmed: true, shows: []string{"does not say that it asks"}},
		{name: "a server that asks for other operations only", unconfirmed: true, server: fake{
			protocol: `"capabilities":{"confirmation":true,"dangerous_operations":true}`, reported: said,
			note: " [danger: destructive]"}},
		{name: "a server that only knows of danger", unconfirmed: true, server: fake{
			protocol: `"capabilities":{"confirmation":false,"dangerous_operations":true}`, reported: said}},
		{name: "a server that does not ask, and nobody", server: fake{reported: said}, unconfirmed: true},
		{name: "a server that does not ask", server: fake{reported: said}, typed: new("y\n"), want: []string{plain}},
		{name: "a server that reports no danger", typed: new("n\n"), unconfirmed: true,
			shows: []string{"does not report how dangerous"}},
		{name: "what is not destructive is not asked about", server: fake{reported: `,"danger_level":"reversible"`},
			want: []string{plain}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			surface, o := tt.server.look(t)
			var said bytes.Buffer
			c := call.Caller{Surface: surface, Say: &said, Yes: tt.yes, YesDangerous: tt.yesDangerous}
			if tt.typed != nil {
				c.Ask = func(_ context.Context, prompt string) (string, error) {
					said.WriteString(prompt)
					return *tt.typed, nil
				}
			}
			_, err := c.Call(t.Context(), o, json.RawMessage(`{"ids":[1]}`))
			if errors.Is(err, call.ErrUnconfirmed) != tt.unconfirmed || err != nil && !tt.unconfirmed {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, tt.server.got); diff != "" {
				t.Errorf("what the server got (-want +got):\n%s", diff)
			}
			for _, want := range tt.shows {
				if !strings.Contains(said.String(), want) {
					t.Errorf("%q is not shown:\n%s", want, &said)
				}
			}
		})
	}
}

// The type of a parameter decides how a value is read, or the pair is refused.
func TestTypedParams(t *testing.T) {
	const params = `{"name":"text","type":"string"},{"name":"count","type":"integer"},{"name":"done","type":"boolean"},` +
		`{"name":"color","type":"Color"},{"name":"size","type":"Size"},{"name":"level","type":"Level","enum":["1","2"]},` +
		`{"name":"ids","type":"array"},{"name":"tags","type":"string[]"},{"name":"extra","type":"object"},` +
		`{"name":"any","type":"any"},{"name":"both","type":"string | integer"}`
	for _, tt := range []struct {
		name, pairs, want string
		refused           string // a part of the error
	}{
		{name: "none", want: `{}`},
		{name: "a text is as it is", pairs: `text=007`, want: `{"text":"007"}`},
		{name: "a text in quotes keeps them", pairs: `text="a"<b>`, want: `{"text":"\"a\"<b>"}`},
		{name: "a text that is null is a text", pairs: `text=null`, want: `{"text":"null"}`},
		{name: "an empty text", pairs: `text=`, want: `{"text":""}`},
		{name: "a text with an equals sign", pairs: `text=a=b`, want: `{"text":"a=b"}`},
		{name: "numbers keep their digits", pairs: `count=9007199254740993 done=true`,
			want: `{"count":9007199254740993,"done":true}`},
		{name: "an enumeration of texts", pairs: `color=7 level=1`, want: `{"color":"7","level":"1"}`},
		{name: "lists and objects are JSON", pairs: `ids=[1] tags=["a"] extra={"a":1} size={"w":1}`,
			want: `{"ids":[1],"tags":["a"],"extra":{"a":1},"size":{"w":1}}`},

		{name: "no number", pairs: `count=many`, refused: "type integer"},
		{name: "no JSON number", pairs: `count=007`, refused: "type integer"},
		{name: "two JSON numbers", pairs: `count=1,2`, refused: "type integer"},
		{name: "no boolean", pairs: `done=yes`, refused: "type boolean"},
		{name: "no list", pairs: `tags=a`, refused: "type list"},
		{name: "a scalar for a type that is not known", pairs: `size=3`, refused: "type Size"},
		{name: "a type that does not decide", pairs: `any=1`, refused: "as JSON"},
		{name: "a union that does not decide", pairs: `both=1`, refused: "as JSON"},
		{name: "a name that is misspelt", pairs: `txet=a`, refused: "did you mean text?"},
		{name: "a name twice", pairs: `text=a text=b`, refused: "given twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := fake{params: params}
			surface, o := server.look(t)
			got, err := call.TypedParams(t.Context(), surface, o, strings.Fields(tt.pairs))
			if tt.refused != "" {
				var argument *call.ArgumentError
				if !errors.As(err, &argument) || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// The parameters that are given as JSON reach the server as they are, or not at all.
func TestReadParams(t *testing.T) {
	for _, tt := range []struct {
		name, word, stdin, want string
		refused                 string // a part of the error
	}{
		{name: "an object", word: `{"n":9007199254740993,"a":"<"}`, want: `{"n":9007199254740993,"a":"<"}`},
		{name: "standard input", word: "-", stdin: " {\"a\":1}\n", want: `{"a":1}`},
		{name: "no JSON", word: `{"a":1`, refused: "not JSON: unexpected end of JSON input, at byte 6"},
		{name: "two values", word: "-", stdin: `{} {}`, refused: "not JSON"},
		{name: "a list", word: "-", stdin: `[]`, refused: "must be a JSON object"},
		{name: "null", word: "-", stdin: `null`, refused: "must be a JSON object"},
		{name: "nothing", word: "-", refused: "not JSON"},
		{name: "no file", word: "@nowhere", refused: "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := call.Request{Params: []string{tt.word}}
			path := func(name string) string { return t.TempDir() + name }
			got, _, err := r.ReadParams(t.Context(), strings.NewReader(tt.stdin), path)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v, want %s", got, err, tt.want)
			}
		})
	}
}
