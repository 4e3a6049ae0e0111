package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The sections of the official evidence bundle (MCP-AQL generator §8.3).
type (
	parameterCase struct {
		Operation string          `json:"operation"`
		Parameter string          `json:"parameter"`
		Response  json.RawMessage `json:"response"`
	}
	defaultCase struct {
		Operation string          `json:"operation"`
		Parameter string          `json:"parameter"`
		Path      string          `json:"expected_value_path"`
		Expected  any             `json:"expected_value"`
		Response  json.RawMessage `json:"response"`
	}
	errorCase struct {
		Name     string          `json:"name"`
		Mention  []string        `json:"must_mention"`
		Response json.RawMessage `json:"response"`
	}
	roundTripCase struct {
		Name     string          `json:"name"`
		Expected map[string]any  `json:"expected_fields"`
		Response json.RawMessage `json:"read_response"`
	}
	preservedCase struct {
		Name      string          `json:"name"`
		Preserved map[string]any  `json:"preserved_fields"`
		Response  json.RawMessage `json:"read_response"`
	}
	constraintCase struct {
		Name       string          `json:"name"`
		Documented bool            `json:"documented"`
		Response   json.RawMessage `json:"response"`
	}
	bundle struct {
		Implementation string          `json:"implementation"`
		Version        string          `json:"version"`
		SpecVersion    string          `json:"spec_version"`
		ExpectedLevel  int             `json:"expected_level"`
		ExpectedExit   int             `json:"expected_exit_code"`
		Modes          []string        `json:"endpoint_modes"`
		Capabilities   map[string]bool `json:"capabilities"`
		Introspection  struct {
			Operations json.RawMessage   `json:"operations_list"`
			Types      json.RawMessage   `json:"types_list"`
			Details    []json.RawMessage `json:"operation_details"`
		} `json:"introspection"`
		Accepted   map[string][]string `json:"accepted_parameters"`
		Parameters struct {
			Missing  []parameterCase `json:"missing_required"`
			Unknown  []parameterCase `json:"unknown_parameter"`
			Defaults []defaultCase   `json:"optional_defaults"`
		} `json:"parameter_tests"`
		Errors      []errorCase      `json:"error_tests"`
		RoundTrips  []roundTripCase  `json:"round_trip_tests"`
		Preserved   []preservedCase  `json:"update_preservation_tests"`
		Batch       json.RawMessage  `json:"batch_example,omitempty"`
		Constraints []constraintCase `json:"constraint_tests"`
		Semantic    []any            `json:"semantic_tests"`
	}
)

// response returns the answer for the bundle; null: it is not JSON.
func (x *exchange) response() json.RawMessage {
	if !json.Valid([]byte(x.reply.Text)) {
		return json.RawMessage("null")
	}
	return json.RawMessage(x.reply.Text)
}

// ErrIncomplete means that a run did not collect all evidence for a bundle. The official runner does not detect that:
// it would report the bundle as complete, or the server as one that does not conform.
var ErrIncomplete = errors.New("conform: the evidence is not complete")

// Bundle returns the evidence of the run as indented JSON with a newline at its end, in the form that the official
// conformance runner reads (MCP-AQL generator §8.3). It needs a run of all checks: otherwise, or if the run was
// not allowed to call some operations, the error wraps ErrIncomplete and lists what is missing. The section of the
// runner's semantic tests is empty, because they need a language model.
func (r *Report) Bundle() ([]byte, error) {
	p, e := r.prober, &r.prober.evidence
	b := bundle{
		Implementation: r.Implementation, Version: r.Version, SpecVersion: r.SpecVersion, ExpectedLevel: r.RequestedLevel,
		ExpectedExit: r.ExitCode(),
		Capabilities: map[string]bool{
			"field_selection":  p.capability("field_selection"),
			"batch_operations": e.batch != nil && p.capability("batch"),
		},
		Accepted: map[string][]string{}, Errors: e.failures, RoundTrips: e.roundTrips, Preserved: e.preserved,
		Constraints: e.constraints, Semantic: []any{},
	}
	b.Modes = r.modes()
	b.Introspection.Operations, b.Introspection.Types = p.operationsList.response(), p.typesList.response()
	b.Parameters.Missing, b.Parameters.Unknown, b.Parameters.Defaults = e.missing, e.unknown, e.defaults
	if e.batch != nil {
		b.Batch = e.batch.response()
	}
	var holes []string
	for _, d := range p.details {
		b.Introspection.Details = append(b.Introspection.Details, json.RawMessage(asJSON(d.value)))
		o := p.operation(d.name)
		if o == nil {
			continue
		}
		b.Accepted[o.Name] = slices.Concat([]string{}, e.accepted[o.Name])
		slices.Sort(b.Accepted[o.Name])
		if why := p.exclusion(o); why != "" {
			holes = append(holes, why)
			continue
		}
		if p.baselines[o] == nil || p.baselines[o].params == nil {
			holes = append(holes, fmt.Sprintf("no sound request to operation %s is known", o.Name))
			continue
		}
		for _, d := range o.Parameters {
			has := slices.ContainsFunc(e.missing, func(c parameterCase) bool {
				return c.Operation == o.Name && c.Parameter == d.Name
			})
			if d.Required && !has && r.verdictOf("params/required") == Skip {
				holes = append(holes, fmt.Sprintf("operation %s was not called without '%s'", o.Name, d.Name))
			}
			// A cursor cannot be made up, so nothing shows that its parameter is refused.
			if _, ok := p.optionalValue(o, &d); !d.Required && !ok && !slices.Contains(b.Accepted[o.Name], d.Name) {
				b.Accepted[o.Name] = append(b.Accepted[o.Name], d.Name)
			}
		}
	}
	for _, name := range []string{
		"params/documented-accepted", "params/required", "params/unknown-named", "params/defaults", "roundtrip/create-read",
		"roundtrip/update-preserves",
	} {
		if r.verdictOf(name) == Skip {
			holes = append(holes, fmt.Sprintf("check %s was skipped or left out", name))
		}
	}
	if len(holes) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrIncomplete, strings.Join(holes, "; "))
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("conform: writing the evidence: %w", err)
	}
	return append(text, '\n'), nil
}

// verdictOf returns the verdict of a check; Skip: the check was not made.
func (r *Report) verdictOf(name string) Verdict {
	for _, result := range r.Results() {
		if result.Name == name {
			return result.Verdict
		}
	}
	return Skip
}

// modes returns the endpoint modes under the names of the official runner: those that were seen, or both if the server
// claims level 2, which requires both.
func (r *Report) modes() []string {
	p := r.prober
	claimed := p.protocol["conformance"] == "level-2" || p.evidence.otherMode
	var modes []string
	if mode := p.mode(); claimed || mode != "single" {
		modes = append(modes, "crude")
	}
	if mode := p.mode(); claimed || mode != "semantic" {
		modes = append(modes, "single")
	}
	return modes
}
