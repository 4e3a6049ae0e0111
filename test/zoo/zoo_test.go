// Package zoo_test holds what agents are told against what happens, for every shape that a Go type can have in JSON:
// the exported schemas and the adapter say the same of a request, every result is as its schema says, and what an
// operation returns it takes back.
package zoo_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/jsonschema"
	"github.com/aqltag/aqltag/test/zoo/shapes"
)

var (
	seed   = flag.Uint64("seed", 1, "seed of the values")
	rounds = flag.Int("rounds", 0, "values of each shape and kind; 0: as many as the tier wants")
)

// session is an adapter of the zoo in this process.
type session struct {
	t           *testing.T
	zoo         *shapes.Zoo
	call        *aql.Session
	definitions gen.Definitions
	random      *rand.Rand
	found       map[disagreement]string // with the shortest example
	beyond      map[string]int          // refusals that no schema can say, by their reason
	values      int
}

func newSession(t *testing.T) *session {
	t.Helper()
	zoo := new(shapes.Zoo)
	registry := shapes.NewRegistry(zoo)
	adapter, err := aql.New(registry, aql.Options{Name: "zoo", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return &session{
		t: t, zoo: zoo, call: adapter.NewSession(), definitions: registry.Definitions(),
		found: make(map[disagreement]string), beyond: make(map[string]int),
	}
}

// answer is what an adapter says.
type answer struct {
	Success bool
	Data    map[string]json.RawMessage
	Error   struct{ Code, Message string }
	text    []byte
}

func (s *session) ask(o *gen.Operation, params []byte) answer {
	s.t.Helper()
	request := fmt.Appendf(nil, `{"operation":%q,"params":%s}`, o.Name, params)
	reply := s.call.Call(context.Background(), "mcp_aql_"+strings.ToLower(string(o.Category)), request)
	a := answer{text: reply.JSON}
	if err := json.Unmarshal(reply.JSON, &a); err != nil {
		s.t.Fatalf("%s: %v: %s", request, err, reply.JSON)
	}
	return a
}

// refuses reports whether the request itself was found wanting.
func (a *answer) refuses() bool { return strings.HasPrefix(a.Error.Code, "VALIDATION_") }

func (s *session) note(shape, kind, format string, args ...any) {
	example := fmt.Sprintf(format, args...)
	d := disagreement{causeOf(example), kind, shape}
	if s.found[d] == "" || len(example) < len(s.found[d]) {
		s.found[d] = example
	}
}

// groups are the structs whose fields are the shapes.
var groups = []any{
	shapes.Basic{}, shapes.Declared{}, shapes.Pointing{}, shapes.Listing{}, shapes.Mapping{}, shapes.Structured{},
	shapes.Recursive{}, shapes.Generic{}, shapes.Standard{}, shapes.Optionals{}, shapes.Own{}, shapes.Tagged{},
	shapes.Messages{},
}

// shape is a field of a group, as a parameter of the operation that returns it and as a part of an update.
type shape struct {
	name         string
	index        int
	echo, update *gen.Operation
	param        *gen.Param
	accepts      [2]*schema        // the requests of echo and update
	returns      *validator.Schema // the field of a result
	whole        *validator.Schema // the result
	value        any               // the schema of the parameter
	input        any               // the schema of the field of an update
}

// shapesOf lists the shapes of a group.
func (s *session) shapesOf(group reflect.Type) []shape {
	s.t.Helper()
	operation := func(name string) *gen.Operation {
		for i := range s.definitions.Operations {
			if s.definitions.Operations[i].Name == name {
				return &s.definitions.Operations[i]
			}
		}
		s.t.Fatalf("there is no operation %s", name)
		return nil
	}
	suffix := strings.ToLower(group.Name())
	echo, update := operation("echo_"+suffix), operation("update_"+suffix)
	params := newSchema(s.t, jsonschema.Params(&s.definitions, echo))
	input := newSchema(s.t, jsonschema.Params(&s.definitions, update))
	results := newSchema(s.t, jsonschema.Result(&s.definitions, echo.Returns.Name))
	patch := input.resolve(input.document["properties"].(map[string]any)["input"])["properties"].(map[string]any)
	var list []shape
	for i := range echo.Params {
		p := &echo.Params[i]
		field, _ := group.FieldByName(p.Go)
		list = append(list, shape{
			name: suffix + "." + p.Name, index: field.Index[0], echo: echo, update: update, param: p,
			accepts: [2]*schema{params, input}, whole: results.whole,
			returns: results.at(s.t, "/properties/"+p.Name),
			value:   params.document["properties"].(map[string]any)[p.Name],
			input:   patch[p.Name],
		})
	}
	return list
}

// resolve follows the references of a schema.
func (s *schema) resolve(of any) map[string]any {
	for {
		object := of.(map[string]any)
		ref, ok := object["$ref"].(string)
		if !ok {
			return object
		}
		of = s.document["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")]
	}
}

// Introspection equals behaviour (REQ-IN-03, REQ-TY-04; A2 to A13): the explicit list of disagreements is exact.
func TestEveryShape(t *testing.T) {
	s := newSession(t)
	n := *rounds
	if n == 0 {
		n = 100
		if testing.Short() {
			n = 8
		}
	}
	count := 0
	for _, group := range groups {
		list := s.shapesOf(reflect.TypeOf(group))
		count += len(list)
		for i := range list {
			s.random = rand.New(rand.NewPCG(*seed, hashOf(list[i].name)))
			s.hold(reflect.TypeOf(group), &list[i], n)
		}
	}
	if count < 206 {
		t.Errorf("only %d shapes", count)
	}
	for _, b := range beyond {
		if s.beyond[b.why] == 0 && !testing.Short() {
			t.Errorf("no refusal has the reason that %s", b.why)
		}
	}
	t.Logf("%d shapes, %d values, %d disagreements", count, s.values, len(s.found))
	compare(t, s.found, !testing.Short() && *rounds == 0)
}

// hold holds one shape against its schemas with n values of each kind.
func (s *session) hold(group reflect.Type, sh *shape, n int) {
	s.t.Helper()
	s.request(sh, sh.echo, sh.accepts[0], nil)
	s.request(sh, sh.update, sh.accepts[1], nil)
	for i := range n {
		// What schemas describe, and what is nearly so.
		m := maker{s.random, sh.accepts[0].document}
		value := m.value(sh.value, 3)
		s.request(sh, sh.echo, sh.accepts[0], value)
		s.request(sh, sh.echo, sh.accepts[0], m.mutated(value))
		m.document = sh.accepts[1].document
		value = m.value(sh.input, 3)
		s.request(sh, sh.update, sh.accepts[1], value)
		s.request(sh, sh.update, sh.accepts[1], m.mutated(value))
		if sh.param.Constant != "" {
			continue // it says how the field beside it is written, and is returned with that
		}
		// What handlers return.
		out := reflect.New(group).Elem()
		if i > 0 { // first, the zero value
			fillField(s.random, group.Field(sh.index), out.Field(sh.index), 4)
		}
		s.returned(sh, out.Interface(), out.Field(sh.index).Interface())
	}
}

// request sends one value of a shape, and compares the verdict with that of the schema.
func (s *session) request(sh *shape, o *gen.Operation, of *schema, value any) answer {
	s.t.Helper()
	s.values++
	params := map[string]any{sh.param.Name: value}
	name := "echo_" + sh.name
	if o == sh.update {
		params = map[string]any{"input": params}
		name = "update_" + sh.name
	}
	text, err := json.Marshal(params)
	if err != nil {
		s.t.Fatal(err)
	}
	s.zoo.Answer = nil
	a := s.ask(o, text)
	refusal := check(of.whole, text)
	switch {
	case a.Error.Code != "" && !a.refuses():
		s.note(name, failed, "%s: %s", text, a.text)
	case refusal == nil && a.refuses() && s.isBeyond(text, a.text):
	case refusal == nil && a.refuses():
		s.note(name, refuses, "%s: %s", text, a.text)
	case refusal != nil && !a.refuses():
		s.note(name, accepts, "%s: %s", text, oneLine(refusal))
	}
	if a.Success {
		s.result(sh, a)
	}
	return a
}

// isBeyond reports whether a refusal has a reason that no schema can say.
func (s *session) isBeyond(request, answer []byte) bool {
	for _, b := range beyond {
		if b.request.Match(request) && b.answer.Match(answer) {
			s.beyond[b.why]++
			return true
		}
	}
	return false
}

// result holds the field of a result against the schema of the result.
func (s *session) result(sh *shape, a answer) {
	s.t.Helper()
	if field, ok := a.Data[sh.param.Name]; ok {
		if err := check(sh.returns, field); err != nil {
			s.note("echo_"+sh.name, result, "%s: %s", field, oneLine(err))
		}
	}
}

// ruled matches the codes of rules, which are about requests: a handler may return what they refuse.
var ruled = regexp.MustCompile(`^VALIDATION_(OUT_OF_RANGE|PATTERN_MISMATCH)$`)

// returned has the handler return a value, and sends the operation what it returned.
func (s *session) returned(sh *shape, out, field any) {
	s.t.Helper()
	s.values++
	s.zoo.Answer = out
	name := "echo_" + sh.name
	first := s.ask(sh.echo, []byte("{}"))
	if !first.Success {
		s.note(name, failed, "returning %+v: %s", field, first.text)
		return
	}
	s.result(sh, first)
	data, ok := first.Data[sh.param.Name]
	if !ok {
		return // omitempty and omitzero
	}
	s.zoo.Answer = nil
	second := s.ask(sh.echo, fmt.Appendf(nil, "{%q:%s}", sh.param.Name, data))
	switch {
	case second.refuses() && s.isBeyond(data, second.text), ruled.MatchString(second.Error.Code):
	case !second.Success:
		s.note(name, back, "%s: %s", data, second.text)
	case string(second.Data[sh.param.Name]) != string(data):
		s.note(name, changed, "%s becomes %s", data, second.Data[sh.param.Name])
	}
	// An update that sets what was returned is a request as any other.
	if second.Success {
		var value any
		_ = json.Unmarshal(data, &value)
		s.request(sh, sh.update, sh.accepts[1], data)
	}
}

// oneLine is what a validator says, without the place of its schema.
func oneLine(err error) string {
	_, text, _ := strings.Cut(strings.Join(strings.Fields(err.Error()), " "), "' - ")
	return text
}
