package aql

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// reachRequest has a parameter for each way in which a value reaches a handler.
type reachRequest struct {
	Level   slog.Level
	Host    net.IP
	Hosts   map[int]string
	Addrs   map[lowered]string
	Note    Optional[string]
	Small   float32
	Secret  masked
	Options struct {
		Host  net.IP
		Level slog.Level
	}
	Input Patch[struct{ Level *slog.Level }]
}

func newReacher(policies *policy.Policy, log *slog.Logger) (*Session, error) {
	level := gen.Field{Name: "level", Go: "Level", Type: "any"}
	host := gen.Field{Name: "host", Go: "Host", Type: "string", Rules: gen.Rules{gen.Aliases{"server"}}}
	optional := level
	optional.Nullable = true
	preset := host
	preset.Rules = gen.Rules{gen.Aliases{"server"}, gen.Default(`"::ffff:127.0.0.1"`)}
	adapter, err := New(gen.NewRegistry([]gen.Handler{{
		Name: "try", Category: gen.Update, Danger: gen.Safe, Returns: "Nothing", Params: []gen.Field{
			level, preset,
			{Name: "hosts", Go: "Hosts", Type: "object", Keys: &gen.Field{Type: "integer"}, Items: &gen.Field{Type: "string"}},
			{Name: "addrs", Go: "Addrs", Type: "object", Items: &gen.Field{Type: "string"}},
			{Name: "note", Go: "Note", Type: "string"}, {Name: "small", Go: "Small", Type: "number"},
			{Name: "secret", Go: "Secret", Type: "string"}, {Name: "options", Go: "Options", Type: "Options"},
			{Name: "input", Go: "Input", Type: "ResourcePatch"},
		},
		Request: (*reachRequest)(nil),
		Call:    func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, []gen.WireType{
		{Name: "Nothing", Kind: gen.KindScalar},
		{Name: "Options", Kind: gen.KindObject, Fields: []gen.Field{preset, level}},
		{Name: "Resource", Kind: gen.KindObject, Fields: []gen.Field{optional}},
		{Name: "ResourcePatch", Kind: gen.KindObject, Changes: "Resource"},
	}), Options{Name: "notes", Policy: policies, Logger: log})
	if err != nil {
		return nil, err
	}
	return adapter.NewSession(), nil
}

// A10: names, defaults, absence and null count as the handler sees them. what says whether a rule that denies
// holds the request.
func TestPoliciesSeeNamesDefaultsAndAbsence(t *testing.T) {
	given := true
	for _, tt := range []struct {
		name   string
		when   policy.Condition
		params string
		held   bool
	}{
		{"a default that another spelling sets", policy.Condition{Param: "host", Equals: "127.0.0.1"}, `{}`, true},
		{"null in place of that default", policy.Condition{Param: "host", Equals: "127.0.0.1"}, `{"host":null}`, true},
		{"an alias", policy.Condition{Param: "host", Equals: "10.0.0.1"}, `{"server":"::ffff:10.0.0.1"}`, true},
		{"another value under an alias", policy.Condition{Param: "host", Equals: "10.0.0.1"}, `{"server":"10.0.0.2"}`, false},
		{"outside of params", policy.Condition{Param: "host", Equals: "10.0.0.1"}, `{},"server":"::ffff:10.0.0.1"`, true},
		{"a default inside of an object", policy.Condition{Param: "options.host", Equals: "127.0.0.1"},
			`{"options":{}}`, true},
		{"null inside of an object", policy.Condition{Param: "options.host", Equals: "127.0.0.1"},
			`{"options":{"host":null}}`, true},
		{"an alias inside of an object", policy.Condition{Param: "options.host", Equals: "::ffff:10.0.0.1"},
			`{"options":{"server":"10.0.0.1"}}`, true},
		{"a pattern", policy.Condition{Param: "host", Like: "127.*"}, `{"host":"::ffff:127.3.0.1"}`, true},
		{"a negative pattern", policy.Condition{Param: "host", NotLike: "127.*"}, `{"host":"::ffff:127.3.0.1"}`, false},
		{"absent, where the handler sees what zero means", policy.Condition{Param: "level", Equals: "info"}, `{}`, true},
		{"absent, where zero means something else", policy.Condition{Param: "level", Equals: "warn"}, `{}`, false},
		{"a part of a patch", policy.Condition{Param: "input.level", Equals: "info"}, `{"input":{"level":"INFO+0"}}`, true},
		{"another part of a patch", policy.Condition{Param: "input.level", Equals: "info"}, `{"input":{}}`, false},
		{"removed by a patch", policy.Condition{Param: "input", Given: &given}, `{"input":{"level":null}}`, true},

		{"the name of an entry", policy.Condition{Param: "hosts.1", Given: &given}, `{"hosts":{"1":"a"}}`, true},
		{"another name of it", policy.Condition{Param: "addrs.a", Given: &given}, `{"addrs":{"A":"x"}}`, true},
		{"a rule with another name of it", policy.Condition{Param: "addrs.A", Equals: "x"}, `{"addrs":{"a":"x"}}`, true},
		{"the name of another entry", policy.Condition{Param: "hosts.1", Given: &given}, `{"hosts":{"10":"a"}}`, false},
		{"a name that its type reads", policy.Condition{Param: "addrs.a", Equals: "x"}, `{"addrs":{"A":"x"}}`, true},

		{"null that is told from absence", policy.Condition{Param: "note", Given: &given}, `{"note":null}`, true},
		{"null that is not", policy.Condition{Param: "level", Given: &given}, `{"level":null}`, false},
		{"null, of which nothing more is known", policy.Condition{Param: "note", Equals: "x"}, `{"note":null}`, true},
		{"absence", policy.Condition{Param: "note", Given: &given}, `{}`, false},

		{"a number that is rounded", policy.Condition{Param: "small", AtLeast: 16777217}, `{"small":16777216}`, true},
		{"a number that is rounded down", policy.Condition{Param: "small", GreaterThan: 16777216},
			`{"small":16777217}`, false},
		{"a value that cannot be judged", policy.Condition{Param: "secret", Equals: "a"}, `{"secret":"b"}`, true},
		{"that there is such a value", policy.Condition{Param: "secret", Given: &given}, `{"secret":"b"}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := newReacher(&policy.Policy{Rules: []policy.Rule{
				{Name: "rule", Effect: policy.Deny, When: []policy.Condition{tt.when}},
			}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer := string(s.Call(t.Context(), "mcp_aql_update", []byte(`{"operation":"try","params":`+tt.params+`}`)).JSON)
			if held := strings.Contains(answer, "PERMISSION_DENIED"); held != tt.held ||
				!held && !strings.Contains(answer, `"success":true`) {
				t.Errorf("held %t: %s", held, answer)
			}
		})
	}
}

// A10: one key of a map is given once, however it is spelled, so that a confirmation token is not for two requests.
func TestOneKeyOfAMapIsGivenOnce(t *testing.T) {
	s, err := newReacher(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for params, code := range map[string]string{
		`{"hosts":{"1":"a","01":"b"}}`: "VALIDATION_INVALID_TYPE", // an integer has one name
		`{"hosts":{"+1":"a","1":"b"}}`: "VALIDATION_INVALID_TYPE",
		`{"addrs":{"a":"x","A":"y"}}`:  "VALIDATION_DUPLICATE_PARAM",
	} {
		answer := s.Call(t.Context(), "mcp_aql_update", []byte(`{"operation":"try","params":`+params+`}`)).JSON
		if !bytes.Contains(answer, []byte(code)) {
			t.Errorf("%s: %s", params, answer)
		}
	}
}

// A10: at the start, what is not in the canonical form draws a warning, and what can never match is refused.
func TestPoliciesWarnOfSpellings(t *testing.T) {
	for _, tt := range []struct {
		name     string
		when     policy.Condition
		warnings []string
		refused  string
	}{
		{"canonical", policy.Condition{Param: "host", In: []any{"127.0.0.1", "::1"}}, nil, ""},
		{"another spelling", policy.Condition{Param: "host", In: []any{"127.0.0.1", "0::1"}},
			[]string{`rule local: when[0].in[1]: in: handlers see "0::1" as "::1"; write that`}, ""},
		{"a number that is rounded", policy.Condition{Param: "small", AtLeast: 16777217},
			[]string{`rule local: when[0].at_least: at_least: handlers see 16777217 as 16777216; write that`}, ""},
		{"not judged", policy.Condition{Param: "secret", NotEquals: "x"}, []string{"rule local: when[0].not_equals: " +
			"not_equals: values of secret cannot be judged, because their type does not read back what it writes: every " +
			"call counts as if the test were against it"}, ""},
		{"no value", policy.Condition{Param: "host", Equals: "localhost"}, nil,
			`equals: "localhost" is no value of host, so that the test would never hold`},
		{"no value, which is excepted", policy.Condition{Param: "host", NotEquals: "localhost"},
			[]string{`rule local: when[0].not_equals: not_equals: "localhost" is no value of host`}, ""},
		{"no name of an entry", policy.Condition{Param: "hosts.one", Equals: "a"}, nil,
			"hosts.one: one leads to nothing that can be judged: expected 'integer' as the name of an entry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var logged warningLog
			_, err := newReacher(&policy.Policy{Rules: []policy.Rule{
				{Name: "local", Effect: policy.Deny, When: []policy.Condition{tt.when}},
			}}, slog.New(&logged))
			if message := fmt.Sprint(err); err != nil && (tt.refused == "" || !strings.Contains(message, tt.refused)) ||
				err == nil && tt.refused != "" {
				t.Errorf("error: %v, want %q", err, tt.refused)
			}
			if d := cmp.Diff(tt.warnings, []string(logged)); d != "" {
				t.Errorf("warnings (-want +got)\n%s", d)
			}
		})
	}
}

// warningLog is a log that keeps the attribute warning of its records.
type warningLog []string

func (w *warningLog) Enabled(context.Context, slog.Level) bool { return true }
func (w *warningLog) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *warningLog) WithGroup(string) slog.Handler            { return w }
func (w *warningLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "warning" && !slices.Contains(*w, a.Value.String()) {
			*w = append(*w, a.Value.String())
		}
		return true
	})
	return nil
}
