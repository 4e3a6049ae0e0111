package conform_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aqltag/aqltag/conform"
)

// schemaDir holds the protocol's official JSON Schemas, which are not part of the project.
const schemaDir = "../../../shared/schemas"

// evidence is a bundle as others read it (REQ-CL-06). It repeats the types of package conform on purpose: a member that
// is renamed there must not pass here.
type evidence struct {
	Implementation, Version string
	SpecVersion             string          `json:"spec_version"`
	Level                   int             `json:"expected_level"`
	Exit                    *int            `json:"expected_exit_code"`
	Modes                   []string        `json:"endpoint_modes"`
	Capabilities            map[string]bool `json:"capabilities"`
	Introspection           struct {
		Operations json.RawMessage   `json:"operations_list"`
		Types      json.RawMessage   `json:"types_list"`
		Details    []json.RawMessage `json:"operation_details"`
	} `json:"introspection"`
	Accepted   map[string][]string `json:"accepted_parameters"`
	Parameters struct {
		Missing  []evidenceCase `json:"missing_required"`
		Unknown  []evidenceCase `json:"unknown_parameter"`
		Defaults []evidenceCase `json:"optional_defaults"`
	} `json:"parameter_tests"`
	Errors      []evidenceCase  `json:"error_tests"`
	RoundTrips  []evidenceCase  `json:"round_trip_tests"`
	Preserved   []evidenceCase  `json:"update_preservation_tests"`
	Batch       json.RawMessage `json:"batch_example"`
	Constraints []evidenceCase  `json:"constraint_tests"`
	Semantic    *[]any          `json:"semantic_tests"`
}

type evidenceCase struct {
	Name, Operation, Parameter string
	Documented                 bool
	Mention                    []string        `json:"must_mention"`
	Path                       string          `json:"expected_value_path"`
	Value                      any             `json:"expected_value"`
	Expected                   map[string]any  `json:"expected_fields"`
	Kept                       map[string]any  `json:"preserved_fields"`
	Response                   json.RawMessage `json:"response"`
	Read                       json.RawMessage `json:"read_response"`
}

// checkBundle checks a bundle as the official runner does (REQ-CL-07, T-93), and its responses against the official
// schemas.
func checkBundle(t *testing.T, text []byte) {
	t.Helper()
	var e evidence
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		t.Fatal(err)
	}
	named := e.Implementation != "" && e.Version != "" && e.SpecVersion != ""
	if !named || e.Level != 2 || e.Exit == nil || *e.Exit != 0 || e.Semantic == nil {
		t.Errorf("the head is not whole: %.300s", text)
	}
	features := e.Capabilities["field_selection"] && e.Capabilities["batch_operations"]
	if !features || !slices.Equal(e.Modes, []string{"crude", "single"}) {
		t.Errorf("modes %v, capabilities %v", e.Modes, e.Capabilities)
	}
	for name, n := range map[string]int{
		"missing_required":          len(e.Parameters.Missing),
		"unknown_parameter":         len(e.Parameters.Unknown),
		"optional_defaults":         len(e.Parameters.Defaults),
		"error_tests":               len(e.Errors),
		"round_trip_tests":          len(e.RoundTrips),
		"update_preservation_tests": len(e.Preserved),
		"constraint_tests":          len(e.Constraints),
	} {
		if n == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	schemas := newSchemas(t)
	schemas.check("introspection-response", e.Introspection.Operations)
	schemas.check("introspection-response", e.Introspection.Types)
	schemas.check("operation-result", e.Batch)
	schemas.check("batch-operation", e.Batch)
	snake := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, text := range e.Introspection.Details {
		schemas.check("introspection-response", []byte(`{"success":true,"data":{"operation":`+string(text)+`}}`))
		var d struct {
			Name       string
			Parameters []struct {
				Name     string
				Required bool
			}
		}
		if err := json.Unmarshal(text, &d); err != nil || d.Name == "" {
			t.Fatalf("the details are not bare: %v %s", err, text)
		}
		var documented []string
		for _, p := range d.Parameters {
			documented = append(documented, p.Name)
			if !snake.MatchString(p.Name) {
				t.Errorf("parameter %s", p.Name)
			}
			has := slices.ContainsFunc(e.Parameters.Missing,
				func(c evidenceCase) bool { return c.Operation == d.Name && c.Parameter == p.Name })
			if has != p.Required {
				t.Errorf("%s.%s: required %v, has a missing_required case %v", d.Name, p.Name, p.Required, has)
			}
		}
		accepted := slices.Sorted(slices.Values(e.Accepted[d.Name]))
		if slices.Sort(documented); !slices.Equal(documented, accepted) {
			t.Errorf("%s: documented %v, accepted %v", d.Name, documented, accepted)
		}
		if !slices.ContainsFunc(e.Parameters.Unknown, func(c evidenceCase) bool { return c.Operation == d.Name }) {
			t.Errorf("%s has no unknown_parameter case", d.Name)
		}
	}
	for _, c := range slices.Concat(e.Parameters.Missing, e.Parameters.Unknown) {
		schemas.check("operation-result", c.Response)
		if message := messageOf(c.Response); !strings.Contains(message, c.Parameter) {
			t.Errorf("%s.%s is not named: %s", c.Operation, c.Parameter, message)
		}
	}
	for _, c := range e.Parameters.Defaults {
		schemas.check("operation-result", c.Response)
		if got := at(t, c.Response, c.Path); got != c.Value || c.Value == nil {
			t.Errorf("%s.%s: %v at %s, want %v", c.Operation, c.Parameter, got, c.Path, c.Value)
		}
	}
	leak := regexp.MustCompile(`(?i)typeerror|referenceerror|syntaxerror|at\s+\S+|/src/|/node_modules/|\.ts:\d+|\.js:\d+`)
	for _, c := range e.Errors {
		schemas.check("operation-result", c.Response)
		message := messageOf(c.Response)
		for _, mention := range c.Mention {
			if !strings.Contains(message, mention) {
				t.Errorf("%s: %q does not mention %s", c.Name, message, mention)
			}
		}
		if leak.MatchString(message) || message == "" {
			t.Errorf("%s: %q", c.Name, message)
		}
	}
	for _, c := range e.Constraints {
		if !c.Documented || messageOf(c.Response) == "" {
			t.Errorf("constraint %s: %s", c.Name, c.Response)
		}
	}
	for _, c := range slices.Concat(e.RoundTrips, e.Preserved) {
		for path, want := range c.Expected {
			same(t, c, path, want)
		}
		for path, want := range c.Kept {
			same(t, c, path, want)
		}
		if len(c.Expected)+len(c.Kept) == 0 {
			t.Errorf("%s says nothing", c.Name)
		}
	}
}

// same compares two values as the runner does: as text.
func same(t *testing.T, c evidenceCase, path string, want any) {
	t.Helper()
	if got := at(t, c.Read, path); string(text(got)) != string(text(want)) || got == nil {
		t.Errorf("%s: %v at %s, want %v", c.Name, got, path, want)
	}
}

// at returns the value at a dotted path from the root of a response.
func at(t *testing.T, response []byte, path string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(response, &value); err != nil {
		t.Fatal(err)
	}
	for step := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[step]
	}
	return value
}

func messageOf(response []byte) string {
	var r struct {
		Success *bool
		Error   struct{ Message string }
	}
	if err := json.Unmarshal(response, &r); err != nil || r.Success == nil || *r.Success {
		return ""
	}
	return r.Error.Message
}

type schemas struct {
	t   *testing.T
	all map[string]*jsonschema.Schema
}

func newSchemas(t *testing.T) *schemas {
	t.Helper()
	s := &schemas{t, map[string]*jsonschema.Schema{}}
	if _, err := os.Stat(schemaDir); err != nil {
		t.Logf("responses are not validated: the official schemas are not in %s", schemaDir)
		return s
	}
	for _, name := range []string{"introspection-response", "operation-result", "batch-operation"} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join(schemaDir, name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		s.all[name] = schema
	}
	return s
}

func (s *schemas) check(name string, response []byte) {
	s.t.Helper()
	schema := s.all[name]
	if schema == nil {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(response))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		s.t.Errorf("%s: %v\n%s", name, err, response)
	}
}

// The runner would accept an incomplete bundle, so there is none.
func TestBundleIsWholeOrNone(t *testing.T) {
	for name, options := range map[string]conform.Options{
		"destruction is not allowed": {},
		"reading only":               {ReadOnly: true, AllowDestructive: true},
		"some checks":                {AllowDestructive: true, Run: regexp.MustCompile("^params/")},
	} {
		report, err := conform.Run(t.Context(), newTodo(t, ""), options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report.Bundle(); !errors.Is(err, conform.ErrIncomplete) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The bundle of a server that breaks a rule contains the exit code to expect.
func TestBundleOfABrokenServer(t *testing.T) {
	broken := list(func(data map[string]any) { delete(data, "_protocol") })
	broken.Server = newTodo(t, "")
	report, err := conform.Run(t.Context(), &broken, conform.Options{AllowDestructive: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := report.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	var e evidence
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	if *e.Exit != 1 || report.ExitCode() != 1 || report.ConformanceLevel != 0 {
		t.Errorf("expected exit code %d of %d, level %d", *e.Exit, report.ExitCode(), report.ConformanceLevel)
	}
}
