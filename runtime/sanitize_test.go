package aql

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// T-112: what hides in stored text, in strings and names at every depth, is escaped or removed, in whatever way JSON
// spells it.
func TestSanitizedText(t *testing.T) {
	for _, tt := range []struct{ name, in, escaped, removed string }{
		{"plain text", `{"a":"b","c":[1,"\"\\\/"]}`, `{"a":"b","c":[1,"\"\\\/"]}`, `{"a":"b","c":[1,"\"\\\/"]}`},
		{"other scripts", `["größer 大きい　😀 é a b"]`, `["größer 大きい　😀 é a b"]`, `["größer 大きい　😀 é a b"]`},
		{"tabs and line breaks", `["a\tb\nc\r\nd"]`, `["a\tb\nc\r\nd"]`, `["a\tb\nc\r\nd"]`},
		{"a line that overwrites", `["a\rb"]`, `["a\\u000db"]`, `["ab"]`},
		{"without width", "[\"a\u200bb\ufeff\"]", `["a\\u200bb\\ufeff"]`, `["ab"]`},
		{"spelled as escapes", `["a\u200Bb\u202e"]`, `["a\\u200bb\\u202e"]`, `["ab"]`},
		{"directions", "[\"\u202eabc\u2066\"]", `["\\u202eabc\\u2066"]`, `["abc"]`},
		{"sequences of terminals", `["\u001b[31mred\u009b"]`, `["\\u001b[31mred\\u009b"]`, `["[31mred"]`},
		{"DEL and C1", "[\"a\u007f\u0085\"]", `["a\\u007f\\u0085"]`, `["a"]`},
		{"tags", "[\"a\U000e0041\"]", `["a\\U000e0041"]`, `["a"]`},
		{"tags as two escapes", `["a\udb40\udc41"]`, `["a\\U000e0041"]`, `["a"]`},
		{"half of a pair", `["a\ud800"]`, `["a\ud800"]`, `["a\ud800"]`},
		{"names are escaped in any case", "{\"a\u200b\" : \"\u200b\"}", `{"a\\u200b" : "\\u200b"}`, `{"a\\u200b" : ""}`},
		{
			"two names stay two", "{\"a\u200b\":1,\"a\":2,\"a\\\\u200b\":3}", `{"a\\u200b":1,"a":2,"a\\u005cu200b":3}`,
			`{"a\\u200b":1,"a":2,"a\\u005cu200b":3}`,
		},
		{"what looks like an escape in a value", `["a\\u200b"]`, `["a\\u200b"]`, `["a\\u200b"]`},
		{"a quote behind a backslash", `{"a\\":"\"\u200b"}`, `{"a\\":"\"\\u200b"}`, `{"a\\":"\""}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(SanitizeEscape.answer([]byte(tt.in))); got != tt.escaped {
				t.Errorf("escaped: %s, want %s", got, tt.escaped)
			}
			if got := string(SanitizeRemove.answer([]byte(tt.in))); got != tt.removed {
				t.Errorf("removed: %s, want %s", got, tt.removed)
			}
		})
	}
}

// ownText writes its own JSON.
type ownText string

func (o ownText) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{string(o): string(o)})
}

// T-112: an adapter sanitizes results of every kind, failures with stored text, warnings and batches; introspection
// works as before, and without the option nothing changes.
func TestSanitize(t *testing.T) {
	const hidden = "a\u200b\u202e\x1b[1m"
	type page struct {
		Text string
		Map  map[string][]string
		Any  any
		Raw  json.RawMessage
		Own  ownText
	}
	whole := page{
		hidden, map[string][]string{hidden: {hidden}}, map[string]any{hidden: []any{hidden}},
		json.RawMessage(`{"a\u200b":"\u200b"}`), ownText(hidden),
	}
	handler := func(name string, call func(context.Context) (any, error)) gen.Handler {
		return gen.Handler{
			Name: name, Category: gen.Read, Danger: gen.Safe, Description: "Reads.", Returns: "Page",
			Request: (*struct{})(nil), Result: (*page)(nil),
			Call: func(ctx context.Context, _ []any, _ any) (any, error) { return call(ctx) },
		}
	}
	registry := gen.NewRegistry([]gen.Handler{
		handler("get_page", func(ctx context.Context) (any, error) {
			Warn(ctx, Warning{Code: "OLD_PAGE", Message: "The page " + hidden + " is old"})
			return whole, nil
		}),
		handler("get_none", func(context.Context) (any, error) { return page{}, NotFound("page", hidden) }),
	}, []gen.WireType{{Name: "Page", Kind: gen.KindObject, Fields: []gen.Field{
		{Name: "text", Go: "Text", Type: "string"},
		{Name: "map", Go: "Map", Type: "object", Items: &gen.Field{Type: "array", Items: &gen.Field{Type: "string"}}},
		{Name: "any", Go: "Any", Type: "any", Nullable: true},
		{Name: "raw", Go: "Raw", Type: "any", Nullable: true},
		{Name: "own", Go: "Own", Type: "any"},
	}}})
	answers := func(mode Sanitize) (all []string) {
		adapter, err := New(registry, Options{Sanitize: mode})
		if err != nil {
			t.Fatal(err)
		}
		session := adapter.NewSession()
		defer session.Close()
		for _, request := range []string{
			`{"operation":"get_page"}`, `{"operation":"get_none"}`,
			`{"operations":[{"operation":"get_page"},{"operation":"get_none"}]}`,
			`{"operation":"introspect","params":{"query":"types","name":"Page"}}`,
		} {
			all = append(all, string(session.Call(t.Context(), "mcp_aql_read", []byte(request)).JSON))
		}
		return all
	}
	plain, escaped, removed := answers(SanitizeNone), answers(SanitizeEscape), answers(SanitizeRemove)
	for i := range plain {
		if has := strings.ContainsFunc(decoded(t, plain[i]), words.IsHidden); has != (i < 3) {
			t.Errorf("without the option: %s", plain[i])
		}
		for _, got := range []string{escaped[i], removed[i]} {
			if strings.ContainsFunc(decoded(t, got), words.IsHidden) {
				t.Errorf("hidden characters in %q", got)
			}
		}
	}
	if diff := cmp.Diff(plain[3], removed[3]); diff != "" {
		t.Errorf("introspection (-plain +sanitized):\n%s", diff)
	}
	if !strings.Contains(escaped[1], `a\\u200b\\u202e\\u001b[1m`) {
		t.Errorf("the failure: %s", escaped[1])
	}
	if _, err := New(registry, Options{Sanitize: "all"}); err == nil ||
		!strings.Contains(err.Error(), `sanitize "all" is none of escape, remove`) {
		t.Errorf("an unknown value: %v", err)
	}
}

// decoded lists the strings and names in JSON.
func decoded(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	var out strings.Builder
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if s, ok := token.(string); ok {
			out.WriteString(s + "\n")
		}
	}
	return out.String()
}

// T-112: escapes do not make an answer larger than it may be.
func TestSanitizedAnswersKeepTheLimit(t *testing.T) {
	x := &exchange{adapter: &Adapter{options: Options{Sanitize: SanitizeEscape, Limits: Limits{ResponseSize: 400}}}}
	text := []byte(`["` + strings.Repeat("\u200b", 100) + `"]`)
	if got := string(x.sanitized(Reply{JSON: text}).JSON); !strings.Contains(got, `"limit_type":"response_size"`) {
		t.Errorf("got %s", got)
	}
}

// REQ-DE-15, T-112: where escapes make the answer of an operation too large, it says that the operation has run, as any
// answer that is too large does, and invites nobody to repeat what is not a READ.
func TestTooLargeAnswersSayWhatRan(t *testing.T) {
	text := strings.Repeat("\u200b", 200<<10) // three bytes each, and six escaped
	for _, tt := range []struct {
		name     string
		category gen.Category
		result   string
		want     string
	}{
		{"a result that is large", gen.Delete, strings.Repeat("x", 2<<20),
			"is too large. The operation has run. Do not send it again to see the result."},
		{"one that escapes make large", gen.Delete, text,
			"is too large. The operation has run. Do not send it again to see the result."},
		{"of an operation that reads", gen.Read, text, "is too large. The operation has run.\""},
	} {
		note := noteOperation("act_note", tt.category, gen.Safe,
			func(context.Context, *noteRequest) (string, error) { return tt.result, nil })
		adapter, err := New(gen.NewRegistry([]gen.Handler{note}, noteTypes), Options{
			Mode: ModeSingle, Sanitize: SanitizeEscape, Limits: Limits{ResponseSize: 1 << 20},
		})
		if err != nil {
			t.Fatal(err)
		}
		for request, want := range map[string]string{
			`{"operation":"act_note"}`: "the result of 'act_note' " + tt.want,
			`{"operations":[{"operation":"act_note"},{"operation":"act_note"}]}`: "",
		} {
			got := string(adapter.NewSession().Call(t.Context(), "mcp_aql", []byte(request)).JSON)
			if want == "" && !strings.Contains(got, "has run") && !strings.Contains(got, "have run") ||
				!strings.Contains(got, want) {
				t.Errorf("%s: %s: %.500s", tt.name, request, got)
			}
			if _, part := words.Leak(got); part != "" {
				t.Errorf("%s: the message has %q", tt.name, part)
			}
		}
	}
}

// T-112: messages of progress show as escapes what nobody would see, whatever the adapter does with answers.
func TestProgressHidesNothing(t *testing.T) {
	for _, mode := range []Sanitize{SanitizeNone, SanitizeEscape, SanitizeRemove} {
		note := noteOperation("act_note", gen.Read, gen.Safe, func(ctx context.Context, _ *noteRequest) (string, error) {
			ReportProgress(ctx, 1, 2, "50 <%>\u202e\u200b")
			return "done", nil
		})
		adapter, err := New(gen.NewRegistry([]gen.Handler{note}, noteTypes), Options{Mode: ModeSingle, Sanitize: mode})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		ctx := WithProgress(t.Context(), func(p Progress) { got += p.Message })
		adapter.NewSession().Call(ctx, "mcp_aql", []byte(`{"operation":"act_note"}`))
		if want := `50 <%>\u202e\u200b`; got != want {
			t.Errorf("%q: %q, want %q", mode, got, want)
		}
	}
}

// T-112: sanitized JSON is valid, hides nothing, and differs in nothing else; no two names become one.
func FuzzSanitize(f *testing.F) {
	for _, text := range []string{
		`{"a":"b"}`, `["\u200b\ud800\\u200b"]`, "{\"a\u200b\":{\"a\":[null,1.5,true,\"\u202e\"]}}", `"\r\n\r"`,
		`{"\\u200b":1,"\u200b":2,"\\\u200b":3,"\\\\u200b":4}`, `"\udb40\udc41"`, `{"":"\\"}`, `" "`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want any
		if !utf8.Valid(text) || json.Unmarshal(text, &want) != nil {
			return
		}
		for _, mode := range []Sanitize{SanitizeEscape, SanitizeRemove} {
			clean := mode.answer(bytes.Clone(text))
			var got any
			if err := json.Unmarshal(clean, &got); err != nil {
				t.Fatalf("%s: %q became %q: %v", mode, text, clean, err)
			}
			if diff := cmp.Diff(sanitizedValue(want, mode), got); diff != "" {
				t.Fatalf("%s: %q became %q (-want +got):\n%s", mode, text, clean, diff)
			}
		}
	})
}

// sanitizedValue is what the strings and names in a decoded value should become.
func sanitizedValue(v any, mode Sanitize) any {
	switch v := v.(type) {
	case string:
		return sanitizedString(v, mode, false)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = sanitizedValue(v[i], mode)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[sanitizedString(name, mode, true)] = sanitizedValue(member, mode)
		}
		if len(out) != len(v) {
			panic(fmt.Sprintf("two names of %q become one", v))
		}
		return out
	}
	return v
}

func sanitizedString(s string, mode Sanitize, name bool) string {
	var out strings.Builder
	for i, r := range s {
		rest := s[i+len(string(r)):]
		switch {
		case name && r == '\\' && strings.IndexAny(rest, "uU") == 0:
			out.WriteString(`\u005c`)
		case !words.IsHidden(r), r == '\r' && strings.HasPrefix(rest, "\n"):
			out.WriteRune(r)
		case mode == SanitizeRemove && !name:
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
