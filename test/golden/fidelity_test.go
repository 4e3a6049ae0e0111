package golden_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	fidelitySeed   = flag.Uint64("seed", 1, "seed of the random requests to golden packages")
	fidelityRounds = flag.Int("requests", 150, "random requests to each operation of a golden package")
)

// The types of introspection, as an agent reads them: nothing of the generator or of the run time is used to understand
// them.
type (
	described struct {
		Name        string          `json:"name"`
		Type        string          `json:"type"`
		Required    bool            `json:"required"`
		Description string          `json:"description"`
		Default     json.RawMessage `json:"default"`
		Enum        []string        `json:"enum"`
		Minimum     *json.Number    `json:"minimum"`
		Maximum     *json.Number    `json:"maximum"`
		MinLength   int             `json:"minLength"`
		MaxLength   int             `json:"maxLength"`
		Pattern     string          `json:"pattern"`
		Format      string          `json:"format"`
		Items       *described      `json:"items"`
	}
	describedType struct {
		Kind   string      `json:"kind"`
		Values []string    `json:"values"`
		Fields []described `json:"fields"`
	}
	describedOperation struct {
		Name       string      `json:"name"`
		Category   string      `json:"semantic_category"`
		Tool       string      `json:"mcpTool"`
		Parameters []described `json:"parameters"`
		Examples   []struct {
			Request struct {
				Params map[string]json.RawMessage `json:"params"`
			} `json:"request"`
		} `json:"examples"`
	}
)

// adapterProcess is a process with the adapters of all golden packages.
type adapterProcess struct {
	t       *testing.T
	stdin   *bufio.Writer
	answers *json.Decoder
}

func startAdapters(t *testing.T, driver string) *adapterProcess {
	t.Helper()
	process := exec.Command(driver)
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &adapterProcess{t, bufio.NewWriter(stdin), json.NewDecoder(stdout)}
}

// call sends a request to the adapter of a golden package.
func (p *adapterProcess) call(scenario, tool, request string) json.RawMessage {
	p.t.Helper()
	return p.ask(scenario + " " + tool + " " + request)
}

// ask sends a line to the process: golden package, tool and request.
func (p *adapterProcess) ask(line string) json.RawMessage {
	p.t.Helper()
	fmt.Fprintln(p.stdin, line)
	if err := p.stdin.Flush(); err != nil {
		p.t.Fatal(err)
	}
	var reply json.RawMessage
	if err := p.answers.Decode(&reply); err != nil {
		p.t.Fatalf("reading the reply to %s: %v", line, err)
	}
	return reply
}

// data unpacks what introspect answers.
func (p *adapterProcess) data(scenario, query string, into any) {
	p.t.Helper()
	reply := p.call(scenario, "mcp_aql_read", `{"operation":"introspect","params":`+query+`}`)
	var response struct{ Data json.RawMessage }
	if err := json.Unmarshal(reply, &response); err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal(response.Data, into); err != nil {
		p.t.Fatalf("%v: %s", err, reply)
	}
}

// introspected is all that introspect says about an adapter.
type introspected struct {
	types      map[string]describedType
	operations []describedOperation
}

func (p *adapterProcess) introspect(scenario string) introspected {
	var list struct {
		Types, Operations []struct {
			Name string `json:"name"`
		}
	}
	p.data(scenario, `{"query":"types"}`, &list)
	p.data(scenario, `{"query":"operations"}`, &list)
	all := introspected{types: map[string]describedType{}}
	for _, t := range list.Types {
		var details struct{ Type describedType }
		p.data(scenario, fmt.Sprintf(`{"query":"types","name":%q}`, t.Name), &details)
		all.types[t.Name] = details.Type
	}
	for _, o := range list.Operations {
		if o.Name == "introspect" {
			continue
		}
		var details struct{ Operation describedOperation }
		p.data(scenario, fmt.Sprintf(`{"query":"operations","name":%q}`, o.Name), &details)
		all.operations = append(all.operations, details.Operation)
	}
	return all
}

// judgement is what an adapter says of a request's parameters.
type judgement struct {
	Success bool
	Data    json.RawMessage
	Error   struct {
		Code    string
		Message string
		Details struct {
			ParamName string   `json:"param_name"`
			MinItems  int      `json:"min_items"`
			MaxItems  int      `json:"max_items"`
			Unknown   []string `json:"unknown_params"`
			Fields    []string `json:"unknown_fields"`
		}
	}
}

// refused reports whether the parameters are why the request failed. A result that is too large is found afterwards.
func (v *judgement) refused() bool {
	return strings.HasPrefix(v.Error.Code, "VALIDATION_") && !strings.Contains(v.Error.Message, "The operation has run")
}

// ofResource reports whether a refusal depends on the resource that a patch is applied to: what the resource lacks has
// to be whole, and a map stays within its bounds. No description of a request can tell.
func (v *judgement) ofResource(inputType string) bool {
	about := v.Error.Details
	return strings.HasSuffix(inputType, "Patch") && strings.HasPrefix(about.ParamName, "input.") &&
		(v.Error.Code == "VALIDATION_MISSING_PARAM" || about.MinItems > 0 || about.MaxItems > 0)
}

// inputTypeOf is the type of what an update changes, empty if the operation is none.
func inputTypeOf(o describedOperation) string {
	for _, p := range o.Parameters {
		if p.Name == "input" {
			return p.Type
		}
	}
	return ""
}

// REQ-RF-19, REQ-UK-10: what introspection says holds in both directions (design §7): what it describes is accepted,
// what it does not describe is refused with the right code and the name of the parameter, and a validator of JSON
// Schema that knows nothing but the introspection comes to the same verdict.
func holdAgainstIntrospection(t *testing.T, driver string, scenarios []*scenario) {
	p := startAdapters(t, driver)
	for _, s := range scenarios {
		if _, ok := s.file("calls.txt"); !ok {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			p.t = t
			about := p.introspect(s.name)
			requests := 0
			for _, operation := range about.operations {
				requests += holdOperation(t, p, s.name, about, operation)
			}
			if requests == 0 {
				t.Error("no request was made: the test shows nothing")
			}
		})
	}
}

func holdOperation(t *testing.T, p *adapterProcess, scenario string, about introspected,
	o describedOperation) (requests int) {
	w := &schemaOf{about: about}
	schema := w.compile(t, o)
	g := &valueMaker{random: rand.New(rand.NewPCG(*fidelitySeed, uint64(len(o.Name)))), about: about, operation: o}
	for range *fidelityRounds {
		params, ok := g.params()
		if !ok {
			t.Logf("%s: introspection alone does not tell a value of %s", o.Name, g.obscure)
			return requests
		}
		requests++
		ask := func(text string) judgement {
			reply := p.call(scenario, o.Tool, fmt.Sprintf(`{"operation":%q,"params":%s}`, o.Name, text))
			var v judgement
			if err := json.Unmarshal(reply, &v); err != nil {
				t.Fatalf("%v: %s", err, reply)
			}
			return v
		}
		text := params.text()
		v := ask(text)
		if v.refused() && !v.ofResource(inputTypeOf(o)) {
			t.Errorf("seed %d: %s %s is as introspection describes it, and refused: %+v", *fidelitySeed, o.Name, text, v.Error)
			return requests
		}
		if err := validate(schema, text); err != nil {
			t.Errorf("the test's own schema does not accept %s %s: %v", o.Name, text, err)
			return requests
		}
		if strings.HasPrefix(o.Name, "echo_") && v.Success {
			if what := missing(parsed(t, text), parsed(t, string(v.Data)), ""); what != "" {
				t.Errorf("seed %d: %s %s did not come back whole: %s in %s", *fidelitySeed, o.Name, text, what, v.Data)
				return requests
			}
		}
		for _, m := range g.mutations(params) {
			v := ask(m.text)
			if v.Error.Code != m.code || m.param != "" && v.Error.Details.ParamName != m.param {
				t.Errorf("seed %d: %s %s (%s): %+v, want %s of %s", *fidelitySeed, o.Name, m.text, m.what, v.Error, m.code, m.param)
				return requests
			}
			if !m.bytes && validate(schema, m.text) == nil {
				t.Errorf("%s %s (%s) is refused, but a validator with the introspected schema accepts it", o.Name, m.text, m.what)
				return requests
			}
		}
	}
	return requests
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// missing tells what of a value that was sent an echo lacks; empty: nothing. What is empty may be left out, and what
// was not sent may have a default.
func missing(sent, back any, path string) string {
	switch sent := sent.(type) {
	case map[string]any:
		members, ok := back.(map[string]any)
		if !ok && len(sent) > 0 {
			return path
		}
		for name, value := range sent {
			returned, ok := members[name]
			if !ok && !isEmpty(value) {
				return path + "." + name
			}
			if what := missing(value, returned, path+"."+name); ok && what != "" {
				return what
			}
		}
	case []any:
		items, ok := back.([]any)
		if !ok && len(sent) > 0 || len(items) != len(sent) && len(sent) > 0 {
			return path
		}
		for i := range sent {
			if what := missing(sent[i], items[i], fmt.Sprintf("%s[%d]", path, i)); what != "" {
				return what
			}
		}
	case json.Number:
		number, ok := back.(json.Number)
		a, _ := sent.Float64()
		b, err := number.Float64()
		if !ok || err != nil || a != b {
			return path
		}
	default:
		if sent != back {
			return path
		}
	}
	return ""
}

// isEmpty reports what encoding/json's omitempty and omitzero leave out.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			if !isEmpty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(value) == 0
	case json.Number:
		number, _ := value.Float64()
		return number == 0
	default:
		return value == "" || value == false
	}
}

func validate(schema *jsonschema.Schema, text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// schemaOf writes JSON Schemas of what introspection says.
type schemaOf struct{ about introspected }

func (w *schemaOf) compile(t *testing.T, o describedOperation) *jsonschema.Schema {
	t.Helper()
	defs := map[string]any{}
	for name, described := range w.about.types {
		switch described.Kind {
		case "enum":
			defs[name] = map[string]any{"enum": described.Values}
		case "object":
			defs[name] = w.object(described.Fields, true)
		}
	}
	root := w.object(o.Parameters, true)
	root["$defs"] = defs
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("operation.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("operation.json")
	if err != nil {
		t.Fatalf("%s: %v\n%s", o.Name, err, text)
	}
	return schema
}

func (w *schemaOf) object(fields []described, closed bool) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fields {
		properties[f.Name] = w.value(f)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required,
		"additionalProperties": !closed}
}

func (w *schemaOf) value(d described) map[string]any {
	s := map[string]any{}
	switch {
	case d.Type == "any":
	case d.Type == "string | string[]":
		s["anyOf"] = []any{map[string]any{"type": "string"},
			map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}
	case w.about.types[d.Type].Kind != "":
		s["$ref"] = "#/$defs/" + d.Type
	default:
		s["type"] = d.Type
		if strings.Contains(d.Description, "a number is accepted") { // an integer that travels as a string
			s["type"] = []string{"string", "number"}
		}
	}
	for key, limit := range map[string]*json.Number{"minimum": d.Minimum, "maximum": d.Maximum} {
		if limit != nil {
			s[key] = *limit
		}
	}
	if d.MinLength > 0 {
		s["minLength"] = d.MinLength
	}
	if d.MaxLength > 0 {
		s["maxLength"] = d.MaxLength
	}
	if d.Pattern != "" {
		s["pattern"] = d.Pattern
	}
	if d.Format == "date-time" || d.Format == "date" {
		s["format"] = d.Format
	}
	if len(d.Enum) > 0 {
		s["enum"] = d.Enum
	}
	low, high := itemBounds(d.Description)
	names := [2]string{"minItems", "maxItems"}
	if d.Type == "object" {
		names = [2]string{"minProperties", "maxProperties"}
	}
	if low > 0 {
		s[names[0]] = low
	}
	if high > 0 {
		s[names[1]] = high
	}
	if d.Items != nil {
		items := w.value(*d.Items)
		if strings.HasSuffix(d.Items.Description, "May be null") {
			items = map[string]any{"anyOf": []any{items, map[string]any{"type": "null"}}}
		}
		if d.Type == "object" {
			s["additionalProperties"] = items
		} else {
			s["items"] = items
		}
	}
	return s
}
