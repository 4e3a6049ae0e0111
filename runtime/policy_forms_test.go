package aql

import (
	"context"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// Types that read many spellings as one value.
type (
	hexID    [4]byte   // with or without a prefix, in upper or lower case
	lowered  string    // in lower case
	padded   int       // a text or a number, with blanks
	weekday  int       // "monday", "Mon" or 1
	stamp    time.Time // by the methods of an embedded time
	caseless string    // with a method Equal
	ratio    struct{ N, D int }
)

func (h hexID) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }
func (h *hexID) UnmarshalText(text []byte) error {
	_, err := hex.Decode(h[:], []byte(strings.TrimPrefix(strings.ToLower(string(text)), "0x")))
	return err
}
func (l lowered) MarshalText() ([]byte, error) { return []byte(l), nil }
func (l *lowered) UnmarshalText(text []byte) error {
	*l = lowered(strings.ToLower(string(text)))
	return nil
}
func (p padded) MarshalJSON() ([]byte, error) { return []byte(strconv.Itoa(int(p))), nil }
func (p *padded) UnmarshalJSON(data []byte) error {
	v, err := strconv.Atoi(strings.Trim(string(data), `" `))
	*p = padded(v)
	return err
}
func (w weekday) MarshalJSON() ([]byte, error) { return json.Marshal([]string{"sunday", "monday"}[w]) }
func (w *weekday) UnmarshalJSON(data []byte) error {
	*w = 0
	if text := strings.ToLower(string(data)); strings.Contains(text, "mon") || text == "1" {
		*w = 1
	}
	return nil
}
func (s stamp) MarshalText() ([]byte, error)     { return time.Time(s).UTC().MarshalText() }
func (s *stamp) UnmarshalText(text []byte) error { return (*time.Time)(s).UnmarshalText(text) }
func (s stamp) Equal(other stamp) bool           { return time.Time(s).Equal(time.Time(other)) }
func (c caseless) MarshalText() ([]byte, error)  { return []byte(strings.ToUpper(string(c))), nil }
func (c *caseless) UnmarshalText(t []byte) error { *c = caseless(t); return nil }
func (c caseless) Equal(other caseless) bool     { return strings.EqualFold(string(c), string(other)) }
func (r ratio) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%q", fmt.Sprint(r.N, "/", r.D)), nil
}
func (r *ratio) UnmarshalJSON(data []byte) error {
	_, err := fmt.Sscanf(strings.ReplaceAll(string(data), " ", ""), `"%d/%d"`, &r.N, &r.D)
	return err
}

// Types whose values nothing tells apart.
type (
	masked   string             // writes the same for all values
	readOnly struct{ v string } // reads, and writes nothing of it
	counted  struct{ V, N int } // reads another value each time
	failing  string             // cannot be written
)

var reads int

func (masked) MarshalText() ([]byte, error)         { return []byte("***"), nil }
func (m *masked) UnmarshalText(text []byte) error   { *m = masked(text); return nil }
func (r *readOnly) UnmarshalJSON(data []byte) error { r.v = string(data); return nil }
func (c counted) MarshalJSON() ([]byte, error)      { return []byte(strconv.Itoa(c.V)), nil }
func (c *counted) UnmarshalJSON(data []byte) error {
	reads++
	c.N = reads
	return json.Unmarshal(data, &c.V)
}
func (failing) MarshalText() ([]byte, error)       { return nil, errors.New("not now") }
func (f *failing) UnmarshalText(text []byte) error { *f = failing(text); return nil }

var _ = []encoding.TextUnmarshaler{new(hexID), new(lowered), new(masked), new(failing), new(stamp), new(caseless)}

// holder has a value in a field.
type holder[T any] struct {
	F T `json:"f"`
}

// place is a parameter with a value somewhere in it.
type place struct {
	name   string
	params []gen.Field
	path   string // to the value
	wrap   string // the parameters, with %s for the value
	handle func(seen *any) gen.Handler
}

// places returns the places in which a value of type T is tried: the parameter, a pointer, an element, an entry, a
// field, an Optional, a field of a patch.
func places[T any](leaf gen.Field) []place {
	leaf.Go = ""
	named := func(name, field string, f gen.Field) []gen.Field { f.Name, f.Go = name, field; return []gen.Field{f} }
	field := func(t string, items *gen.Field) []gen.Field { return named("v", "V", gen.Field{Type: t, Items: items}) }
	item := leaf
	return []place{
		{"itself", named("v", "V", leaf), "v", `{"v":%s}`, handlerOf(func(r *struct{ V T }) any { return r.V })},
		{"pointer", named("v", "V", leaf), "v", `{"v":%s}`, handlerOf(func(r *struct{ V **T }) any { return **r.V })},
		{"element", field("array", &item), "v.*", `{"v":[%s]}`, handlerOf(func(r *struct{ V []T }) any { return r.V[0] })},
		{"element of an array", field("array", &item), "v.*", `{"v":[%s]}`,
			handlerOf(func(r *struct{ V [1]*T }) any { return *r.V[0] })},
		{"entry", field("object", &item), "v.k", `{"v":{"k":%s}}`,
			handlerOf(func(r *struct{ V map[lowered]T }) any { return r.V["k"] })},
		{"field", field("Nested", nil), "v.f", `{"v":{"f":%s}}`,
			handlerOf(func(r *struct{ V *holder[T] }) any { return r.V.F })},
		{"optional", named("v", "V", leaf), "v", `{"v":%s}`,
			handlerOf(func(r *struct{ V Optional[T] }) any { v, _ := r.V.Get(); return v })},
		{"patch", named("input", "Input", gen.Field{Type: "NestedPatch"}), "input.f", `{"input":{"f":%s}}`,
			handlerOf(func(r *struct{ Input Patch[holder[T]] }) any {
				var n holder[T]
				if err := r.Input.Apply(&n); err != nil {
					return err
				}
				return n.F
			})},
	}
}

// handlerOf makes a handler that notes the value in its request.
func handlerOf[R any](value func(*R) any) func(*any) gen.Handler {
	return func(seen *any) gen.Handler {
		return gen.Handler{Request: (*R)(nil), Call: func(_ context.Context, _ []any, request any) (any, error) {
			*seen = value(request.(*R))
			return nil, nil
		}}
	}
}

// judgedType is a type with spellings of its values: each group has those of one value.
type judgedType struct {
	name   string
	leaf   gen.Field
	places []place
	hold   bool // its values cannot be judged
	groups [][]string
}

func judge[T any](wireType, format string, groups ...[]string) judgedType {
	leaf := gen.Field{Type: wireType}
	if format != "" {
		leaf.Rules = gen.Rules{gen.Format(format)}
	}
	tried := places[T](leaf)
	if reflect.TypeFor[T]().Kind() == reflect.Uint8 { // a list of bytes is a text
		tried = slices.DeleteFunc(tried, func(p place) bool { return p.name == "element" })
	}
	return judgedType{reflect.TypeFor[T]().String(), leaf, tried, false, groups}
}

func hold[T any](wireType string, groups ...[]string) judgedType {
	j := judge[T](wireType, "", groups...)
	j.hold = true
	return j
}

func judgedTypes() []judgedType {
	one := [][]string{{"1", "1.0", "10e-1", "0.1E+1"}, {"2"}, {"0", "-0", "0.0"}}
	text := [][]string{{`"a"`, `"\u0061"`}, {`"A"`}, {`""`}, {`" a"`}}
	moments := [][]string{
		{`"2026-01-31T12:00:00Z"`, `"2026-01-31T13:00:00+01:00"`, `"2026-01-31T12:00:00.000Z"`}, {`"2026-01-31T13:00:00Z"`},
	}
	addresses := [][]string{
		{`"127.0.0.1"`, `"::ffff:127.0.0.1"`, `"::FFFF:7f00:1"`},
		{`"::1"`, `"0:0::0:1"`},
		{`"10.0.0.1"`},
	}
	// The option "string" of encoding/json is one of fields.
	quoted := judge[int]("string", "", []string{`"7"`, `7`, `7.0`, `70e-1`}, []string{`"-7"`})
	quoted.leaf.Quoted = true
	quoted.places = slices.DeleteFunc(quoted.places, func(p place) bool {
		p.params[0].Quoted = p.name == "itself" || p.name == "optional"
		return !p.params[0].Quoted && p.name != "field" && p.name != "patch"
	})
	return []judgedType{
		judge[bool]("boolean", "", []string{"true"}, []string{"false"}),
		judge[int]("integer", "", one...),
		judge[int8]("integer", "", one...),
		judge[int16]("integer", "", one...),
		judge[int32]("integer", "", one...),
		judge[uint]("integer", "", one...),
		judge[uint8]("integer", "", one...),
		judge[uint16]("integer", "", one...),
		judge[uint32]("integer", "", one...),
		judge[uintptr]("integer", "", one...),
		judge[int64]("integer", "", []string{"9007199254740993", "9007199254740993.0"}, []string{"9007199254740992"}),
		judge[uint64]("integer", "", []string{"18446744073709551615"}, []string{"18446744073709551614"}),
		judge[time.Duration]("integer", "", []string{"1e9", "1000000000"}, []string{"1"}),
		judge[float64]("number", "", []string{"0.5", "5e-1", "0.50000000000000000001"}, []string{"0.25"},
			[]string{"0", "-0"}),
		judge[float32]("number", "", []string{"16777216", "16777217", "1.6777216e7"}, []string{"16777218"}, []string{"0.1"}),
		judge[json.Number]("number", "", one[:2]...),
		judge[string]("string", "", text...),
		judge[string]("string", "uuid", []string{`"AB00"`}, []string{`"ab00"`}),
		judge[time.Time]("string", "date-time", moments...),
		judge[stamp]("string", "", moments...),
		judge[stamp]("string", "date-time", moments...),
		judge[net.IP]("string", "ip", addresses...),
		judge[netip.Addr]("string", "ip", addresses...),
		judge[netip.Prefix](
			"string",
			"cidr",
			[]string{`"::1/128"`, `"0:0::1/128"`},
			[]string{`"10.0.0.0/8"`},
			[]string{`"10.0.0.1/8"`},
		),
		judge[netip.AddrPort]("string", "", []string{`"[::1]:80"`, `"[0:0::1]:80"`}, []string{`"127.0.0.1:80"`}),
		judge[hexID]("string", "uuid", []string{`"0a0b0c0d"`, `"0A0B0C0D"`, `"0x0a0B0c0d"`}, []string{`"00000001"`}),
		judge[lowered]("string", "", []string{`"a"`, `"A"`, `"\u0041"`}, []string{`"b"`, `"B"`}),
		judge[caseless]("string", "", []string{`"a"`, `"A"`}, []string{`"b"`}),
		judge[big.Int]("integer", "", []string{"100", "1e2"}[:1], []string{"123456789012345678901234567890"}),
		judge[big.Rat]("string", "", []string{`"1/2"`, `"2/4"`, `"0.5"`, `"5e-1"`}, []string{`"1/3"`}),
		judge[big.Float]("string", "", []string{`"100"`, `"1e2"`, `"0x64"`}, []string{`"0.5"`}),
		judge[slog.Level]("any", "", []string{`"INFO"`, `"info"`, `"INFO+0"`}, []string{`"WARN"`, `"INFO+4"`, `"warn"`}),
		judge[slog.LevelVar]("string", "", []string{`"DEBUG"`, `"debug"`}, []string{`"ERROR"`, `"WARN+4"`}),
		judge[padded]("any", "", []string{"7", `" 7"`, `"7"`, `"+7"`, `"007"`}, []string{"8"}),
		judge[weekday]("any", "", []string{`"monday"`, `"Mon"`, "1"}, []string{`"sunday"`, "0"}),
		judge[ratio]("any", "", []string{`"1/2"`, `" 1 / 2"`, `"+1/02"`}, []string{`"2/4"`}),
		judge[any]("any", "", []string{"0.5", "5e-1"}, []string{"2", "2.0"}, []string{"9007199254740993"}),
		judge[any]("any", "", text...),
		judge[any]("any", "", []string{"true"}, []string{"false"}),
		judge[json.RawMessage]("any", "", []string{"0.5", "5e-1"}, []string{"2", "2.0"}),
		judge[json.RawMessage]("any", "", text...),
		quoted,
		hold[masked]("string", []string{`"a"`}, []string{`"b"`}),
		hold[readOnly]("any", []string{`"a"`}, []string{`"b"`}),
		hold[failing]("string", []string{`"a"`}, []string{`"b"`}),
		hold[counted]("any", []string{"1"}, []string{"2"}),
	}
}

// adapterOf makes an adapter with the one operation try, which notes what its handler sees.
func (p *place) adapterOf(t *testing.T, leaf gen.Field, rules *policy.Policy, seen *any) (*Session, error) {
	t.Helper()
	h := p.handle(seen)
	h.Name, h.Category, h.Danger, h.Params, h.Returns = "try", gen.Update, gen.Safe, p.params, "Nothing"
	leaf.Name, leaf.Go = "f", "F"
	adapter, err := New(gen.NewRegistry([]gen.Handler{h}, []gen.WireType{
		{Name: "Nothing", Kind: gen.KindScalar}, {Name: "Nested", Kind: gen.KindObject, Fields: []gen.Field{leaf}},
		{Name: "NestedPatch", Kind: gen.KindObject, Changes: "Nested"},
	}), Options{Name: "notes", Policy: rules})
	if err != nil {
		return nil, err
	}
	return adapter.NewSession(), nil
}

// try calls the operation and reports whether it ran.
func try(t *testing.T, s *Session, params string) (ran bool) {
	t.Helper()
	answer := string(s.Call(t.Context(), "mcp_aql_update", []byte(`{"operation":"try","params":`+params+`}`)).JSON)
	ran = strings.Contains(answer, `"success":true`)
	if !ran && !strings.Contains(answer, "PERMISSION_DENIED") {
		t.Fatalf("%s: %s", params, answer)
	}
	return ran
}

// literalOf makes the value of a condition of a JSON text.
func literalOf(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// A10: for every type, in every place and by every rule, all spellings of one value get one verdict, and it
// is the one on the value that the handler sees.
func TestPoliciesJudgeWhatHandlersSee(t *testing.T) {
	verdicts := 0
	for _, j := range judgedTypes() {
		for _, p := range j.places {
			t.Run(j.name+"/"+p.name, func(t *testing.T) {
				verdicts += p.check(t, &j)
			})
		}
	}
	t.Logf("%d verdicts over %d types in 8 places each", verdicts, len(judgedTypes()))
}

// check tries every spelling of a value as the literal of a rule, against every other in a request.
func (p *place) check(t *testing.T, j *judgedType) (verdicts int) {
	var seen any
	open, err := p.adapterOf(t, j.leaf, nil, &seen)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(j.groups)) // that the handler sees
	for g, spellings := range j.groups {
		for _, spelling := range spellings {
			if !try(t, open, fmt.Sprintf(p.wrap, spelling)) {
				t.Fatalf("%s is refused without a policy", spelling)
			}
			if values[g] == nil {
				values[g] = seen
			}
		}
	}
	for literalGroup, literals := range j.groups {
		for _, literal := range literals {
			if j.leaf.Quoted && literal[0] != '"' {
				continue // a rule writes it as it is shown
			}
			value := literalOf(t, literal)
			for _, r := range []struct {
				test   string
				rule   policy.Rule
				beyond policy.Effect // of calls that the rule does not match
				runs   func(same bool) bool
			}{
				{"equals", policy.Rule{Effect: policy.Deny, When: []policy.Condition{{Equals: value}}}, policy.Allow, isNot},
				{"in", policy.Rule{Effect: policy.Deny, When: []policy.Condition{{In: []any{value}}}}, policy.Allow, isNot},
				{"not_equals", policy.Rule{Effect: policy.Deny, When: []policy.Condition{{NotEquals: value}}}, policy.Allow, is},
				{"equals", policy.Rule{Effect: policy.Allow, When: []policy.Condition{{Equals: value}}}, policy.Deny, is},
				{"not_in", policy.Rule{Effect: policy.Allow, When: []policy.Condition{{NotIn: []any{value}}}}, policy.Deny, isNot},
			} {
				r.rule.Name, r.rule.When[0].Param = "rule", p.path
				s, err := p.adapterOf(t, j.leaf, &policy.Policy{Default: r.beyond, Rules: []policy.Rule{r.rule}}, &seen)
				if err != nil {
					t.Fatal(err)
				}
				for group, spellings := range j.groups {
					want := r.runs(group == literalGroup) && !j.hold
					for _, spelling := range spellings {
						verdicts++
						if got := try(t, s, fmt.Sprintf(p.wrap, spelling)); got != want {
							t.Errorf("%s where %s of %s, with %s, which the handler sees as %#v: ran %t", r.rule.Effect, r.test, literal,
								spelling, values[group], got)
						}
					}
				}
			}
		}
	}
	return verdicts
}

func is(same bool) bool    { return same }
func isNot(same bool) bool { return !same }
