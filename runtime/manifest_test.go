package aql

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/google/go-cmp/cmp"
)

const askManifest = `{"operation":"get_manifest"}`

// REQ-GM-01, REQ-GM-03: without being asked for, there is no operation get_manifest, and a service may have its own.
func TestManifestIsOptional(t *testing.T) {
	f := newFixture(t, Options{})
	if got := f.call("mcp_aql_read", askManifest); !strings.Contains(got, `"NOT_FOUND_OPERATION"`) {
		t.Errorf("answer %s", got)
	}
	if got := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations"}`); strings.Contains(got,
		"get_manifest") {
		t.Errorf("it is listed: %s", got)
	}
	if got := f.call("mcp_aql_read", `{"operation":"introspect","query":"types"}`); strings.Contains(got, "Manifest") {
		t.Errorf("its type is listed: %s", got)
	}
	record := func(context.Context, *noteRequest) (string, error) { return "my own", nil }
	own := noteOperation("get_manifest", gen.Update, gen.Safe, record)
	own.Source = "notes.go:7"
	adapter, err := New(gen.NewRegistry([]gen.Handler{own}, noteTypes), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(adapter.NewSession().Call(context.Background(), "mcp_aql_update",
		[]byte(askManifest)).JSON); !strings.Contains(got, "my own") {
		t.Errorf("the service's own operation answers %s", got)
	}
	_, err = New(gen.NewRegistry([]gen.Handler{own}, noteTypes), Options{Name: "notes", GetManifest: true})
	if err == nil || !strings.Contains(err.Error(),
		`the service's operation "get_manifest" at notes.go:7 has the name of the built-in operation "get_manifest"`) {
		t.Errorf("both: %v", err)
	}
}

// REQ-GM-06: the manifest is the same, byte for byte, in every mode and profile, with every prefix, trust
// level and policy, from get_manifest and from Go. It is answered where introspect is.
func TestManifestIsTheSameEverywhere(t *testing.T) {
	want, err := newFixture(t, Options{}).adapter.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{"introspect", "get_manifest", "mcp_aql", "danger", "READ", "Secret"} {
		if strings.Contains(string(want), hidden) {
			t.Errorf("the manifest has %s: %s", hidden, want)
		}
	}
	want = slices.Concat([]byte(`{"success":true,"data":`), want, []byte(`}`))
	for _, mode := range []Mode{ModeSemantic, ModeSingle, ModeAll} {
		for _, profile := range describe.Profiles() {
			for _, options := range []Options{
				{}, {Prefix: "my_"}, {Trust: &trust.Options{}},
				{Trust: &trust.Options{Standing: trust.Standing{Level: trust.Certified}}},
				{Confirmation: Confirmation{Off: true}, OmitEmptyFamilies: true, Limits: Limits{StringLength: 64 * kib}},
				{Policy: parsePolicy(t, "version: 1\ndefault: deny\n")},
			} {
				options.Mode, options.Profile, options.GetManifest = mode, ProfileName(profile.Name), true
				f := newFixture(t, options)
				operation := f.details(t, "get_manifest")
				if introspect := f.details(t, "introspect"); operation.Endpoint != introspect.Endpoint ||
					operation.MCPTool != introspect.MCPTool || operation.Category != "READ" {
					t.Errorf("%s %s: get_manifest is at %+v, introspect at %+v", mode, profile.Name, operation, introspect)
				}
				if diff := cmp.Diff(string(want), f.call(operation.MCPTool, askManifest)); diff != "" {
					t.Errorf("%s %s: -want +got:\n%s", mode, profile.Name, diff)
				}
			}
		}
	}
}

// REQ-GM-07: the manifest has the operations that introspect has, in its order, with the same parameters.
func TestManifestIsWhatIntrospectShows(t *testing.T) {
	type parameter struct {
		Name     string
		Required bool
		Default  any
		List     bool
	}
	type operation struct {
		Name       string
		Parameters []parameter
	}
	f := newFixture(t, Options{GetManifest: true})
	var declared struct {
		Operations []struct {
			Name       string
			Parameters []struct {
				Name               string
				Required, Multiple bool
				Default            any
			}
		}
	}
	text, err := f.adapter.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &declared); err != nil {
		t.Fatal(err)
	}
	var manifest []operation
	for _, o := range declared.Operations {
		shown := operation{Name: o.Name}
		for _, p := range o.Parameters {
			shown.Parameters = append(shown.Parameters, parameter{p.Name, p.Required, p.Default, p.Multiple})
		}
		manifest = append(manifest, shown)
	}

	var list struct {
		Data struct{ Operations []struct{ Name string } }
	}
	reply := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations"}`)
	if err := json.Unmarshal([]byte(reply), &list); err != nil {
		t.Fatal(err)
	}
	var introspected []operation
	for _, o := range list.Data.Operations {
		if o.Name == "introspect" || o.Name == "get_manifest" {
			continue // the adapter's own
		}
		var details struct {
			Data struct {
				Operation struct {
					Parameters []struct {
						Name, Type string
						Required   bool
						Default    any
					}
				}
			}
		}
		reply := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations","name":"`+o.Name+`"}`)
		if err := json.Unmarshal([]byte(reply), &details); err != nil {
			t.Fatal(err)
		}
		shown := operation{Name: o.Name}
		for _, p := range details.Data.Operation.Parameters {
			if p.Name != "confirmation_token" { // of the protocol
				shown.Parameters = append(shown.Parameters, parameter{p.Name, p.Required, p.Default, p.Type == "array"})
			}
		}
		introspected = append(introspected, shown)
	}
	if diff := cmp.Diff(introspected, manifest); diff != "" || len(manifest) < 5 {
		t.Errorf("introspect and the manifest (-introspect +manifest):\n%s", diff)
	}
}

// details is what introspect shows of an operation, from whichever tool answers.
func (f *fixture) details(t *testing.T, name string) (shown struct {
	Category string `json:"semantic_category"`
	Endpoint string
	MCPTool  string
}) {
	t.Helper()
	for _, tool := range f.adapter.Tools() {
		var answer struct {
			Data struct{ Operation json.RawMessage }
		}
		reply := f.call(tool.Name, `{"operation":"introspect","params":{"query":"operations","name":"`+name+`"}}`)
		if json.Unmarshal([]byte(reply), &answer) == nil && answer.Data.Operation != nil {
			if err := json.Unmarshal(answer.Data.Operation, &shown); err != nil {
				t.Fatalf("%v in %s", err, reply)
			}
		}
	}
	return shown
}

// REQ-GM-01, REQ-IN-12, REQ-IN-13, REQ-VO-01, REQ-VO-02, REQ-BA-04: get_manifest is an operation like others: found,
// listed, and checked.
func TestManifestIsAnOperation(t *testing.T) {
	f := newFixture(t, Options{GetManifest: true})
	for _, tt := range []struct{ name, tool, request, want string }{
		{"no parameters", "mcp_aql_read", `{"operation":"get_manifest","params":{}}`,
			`{"success":true,"data":{"service":{"name":"notes"},"operations":[{"name":"create_note"`},
		{"null for none", "mcp_aql_read", `{"operation":"get_manifest","params":null}`, `"service":{"name":"notes"}`},
		{"metadata", "mcp_aql_read", `{"params":{"_meta":{}},"operation":"get_manifest","_request_id":"r"}`,
			`"service":{"name":"notes"}`},
		{"a parameter", "mcp_aql_read", `{"operation":"get_manifest","params":{"name":"x"}}`,
			`{"code":"VALIDATION_UNKNOWN_PARAM","message":"Unknown parameter(s) for operation 'get_manifest': name`},
		{"a parameter beside params", "mcp_aql_read", `{"operation":"get_manifest","name":"x"}`,
			`"VALIDATION_UNKNOWN_PARAM"`},
		{"another endpoint", "mcp_aql_delete", askManifest, `Operation 'get_manifest' must use READ endpoint, not DELETE`},
		{"nearly its name", "mcp_aql_read", `{"operation":"get_manifst"}`, `"available":["get_manifest"`},
		{"the list", "mcp_aql_read", `{"operation":"introspect","query":"operations"}`,
			`},{"name":"get_manifest","semantic_category":"READ","endpoint":"read","description":"Get the service's operations`},
		{"its result", "mcp_aql_read", `{"operation":"introspect","query":"operations","name":"get_manifest"}`,
			`"parameters":[],"returns":{"name":"CapabilityManifest","kind":"object"}`},
		{"the type of its result", "mcp_aql_read", `{"operation":"introspect","query":"types","name":"CapabilityManifest"}`,
			`"kind":"object"`},
		{"a batch", "mcp_aql_read", `{"operations":[{"operation":"get_manifest"},{"operation":"get_manifest",` +
			`"params":{"x":1}},{"operation":"introspect","params":{"query":"types"}},` +
			`{"operation":"get_note","params":{"note_id":"n"}},{"operation":"get_manifest","params":{}}]}`,
			`"summary":{"total":5,"succeeded":4,"failed":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := f.call(tt.tool, tt.request); !strings.Contains(got, tt.want) {
				t.Errorf("answer %s\nwant   %s", got, tt.want)
			}
		})
	}
	for _, tool := range f.adapter.Tools() {
		if listed := strings.Contains(tool.Description, "introspect, get_manifest, "); listed != (tool.Family == "read") {
			t.Errorf("tool %s: listed %v in\n%s", tool.Name, listed, tool.Description)
		}
	}
}

// REQ-GM-01: a manifest begins with the name of the service. Trust levels §5.3: who may not introspect, may not see it
// either.
func TestManifestIsRefused(t *testing.T) {
	if _, err := New(gen.NewRegistry(nil, nil), Options{GetManifest: true}); err == nil ||
		!strings.Contains(err.Error(), "the service has no name") {
		t.Errorf("without a name: %v", err)
	}
	taken := []gen.WireType{{Name: "CapabilityManifest", Kind: gen.KindScalar}}
	if _, err := New(gen.NewRegistry(nil, taken), Options{Name: "notes", GetManifest: true}); err == nil ||
		!strings.Contains(err.Error(), `two types are called "CapabilityManifest"`) {
		t.Errorf("with a type of its type's name: %v", err)
	}
	untested := newFixture(t, Options{GetManifest: true, Trust: &trust.Options{DenyUntestedIntrospection: true}})
	if got := untested.call("mcp_aql_read", askManifest); !strings.Contains(got,
		`{"code":"PERMISSION_TRUST_LEVEL_INSUFFICIENT","message":"Operation 'get_manifest' requires`) {
		t.Errorf("untested: %s", got)
	}
}

// REQ-GE-06: the fingerprint of a merged adapter covers the definitions of all its packages, in their order, and
// nothing of how it runs.
func TestFingerprintOfMergedAdapters(t *testing.T) {
	record := func(context.Context, *noteRequest) (string, error) { return "", nil }
	registry := func(name string) *Registry {
		return gen.NewRegistry([]gen.Handler{noteOperation(name, gen.Read, gen.Safe, record, noteID)}, noteTypes).
			About("Has " + name + ".")
	}
	fingerprint := func(options Options, registries ...*Registry) string {
		adapter, err := New(Merge(registries...), options)
		if err != nil {
			t.Fatal(err)
		}
		return adapter.Fingerprint()
	}
	one, other := fingerprint(Options{}, registry("get_note")), fingerprint(Options{}, registry("get_page"))
	both := fingerprint(Options{}, registry("get_note"), registry("get_page"))
	reversed := fingerprint(Options{}, registry("get_page"), registry("get_note"))
	configured := fingerprint(Options{
		Name: "notes", Version: "2.0.0", Description: "Notes.", Mode: "single", Prefix: "my_", GetManifest: true,
		AdapterInfo: true, Trust: &trust.Options{},
	}, registry("get_note"), registry("get_page"))
	commented := fingerprint(Options{}, registry("get_note").About("Has notes."))
	if one == commented {
		t.Errorf("another package comment has the fingerprint %s too", one)
	}
	if one == other || both == one || both == other || both == reversed {
		t.Errorf("not all are different: %s, %s, both %s, reversed %s", one, other, both, reversed)
	}
	if both != configured {
		t.Errorf("options change the fingerprint: %s and %s", both, configured)
	}
}
