// Package adapterschema renders definitions as an adapter definition file of MCP-AQL (adapter-schema). That format is
// made for adapters in front of an HTTP API, so it has no place for much of what the definitions of a native adapter
// contain. A Warning names each part that is left out. Trust, authentication and rate limits are left out, because they
// belong to how an adapter runs.
package adapterschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Warning is about something in the definitions that the document leaves out or changes.
type Warning struct {
	// Path is a member of the document, an operation, or an operation and its parameter, such as "create_todo.title".
	Path    string
	Message string
}

// String returns the warning on one line.
func (w Warning) String() string { return w.Path + ": " + w.Message }

// document is an adapter definition (adapter-schema).
type document struct {
	Name        string     `json:"name"`
	Type        string     `json:"type"`
	Version     string     `json:"version"`
	Description string     `json:"description"`
	Target      target     `json:"target"`
	Operations  operations `json:"operations"`
}

// target is the API behind an adapter.
type target struct {
	BaseURL       string `json:"base_url"`
	Transport     string `json:"transport"`
	Protocol      string `json:"protocol"`
	Serialization string `json:"serialization"`
}

// operations holds the operations of each category in definition order.
type operations struct {
	Create  []operation `json:"create,omitempty"`
	Read    []operation `json:"read,omitempty"`
	Update  []operation `json:"update,omitempty"`
	Delete  []operation `json:"delete,omitempty"`
	Execute []operation `json:"execute,omitempty"`
}

func (o *operations) of(category gen.Category) *[]operation {
	return map[gen.Category]*[]operation{
		gen.Create: &o.Create, gen.Read: &o.Read, gen.Update: &o.Update, gen.Delete: &o.Delete, gen.Execute: &o.Execute,
	}[category]
}

type operation struct {
	Name                 string        `json:"name"`
	MapsTo               string        `json:"maps_to"`
	Description          string        `json:"description,omitempty"`
	Params               export.Object `json:"params,omitempty"`
	Response             *response     `json:"response,omitempty"`
	Pagination           *pagination   `json:"pagination,omitempty"`
	SupportsFields       bool          `json:"supports_fields,omitempty"`
	DangerLevel          gen.Danger    `json:"danger_level,omitempty"`
	RequiresConfirmation bool          `json:"requires_confirmation,omitempty"`
	NonIdempotent        bool          `json:"non_idempotent,omitempty"`
}

// response is the result of an operation.
type response struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// Render returns the adapter definition, as indented JSON with a newline at its end, and a warning for each part that
// it leaves out, in the order of the definitions. The error lists everything that is wrong: a service name that has no
// letter, invalid names and categories of operations, and literals that are not JSON.
func Render(a *gen.Definitions) ([]byte, []Warning, error) {
	r := renderer{adapter: a}
	d := document{Type: "adapter", Name: r.name(), Version: r.version()}
	d.Description = cmp.Or(a.Description, "MCP-AQL adapter of "+d.Name)
	d.Target = target{BaseURL: "native:" + d.Name, Transport: "native", Protocol: "custom", Serialization: "json"}
	r.warn("target", "a native adapter has no API behind it: base_url and every maps_to only name it and its operations")
	for i := range a.Operations {
		definition := &a.Operations[i]
		list := d.Operations.of(definition.Category)
		switch {
		case list == nil:
			r.fault("operation %q: category %q is none of CREATE, READ, UPDATE, DELETE, EXECUTE",
				definition.Name, definition.Category)
		case !operationName.MatchString(definition.Name):
			r.fault("operation %q: the name is not of small letters, digits and underscores", definition.Name)
		default:
			*list = append(*list, r.operation(definition))
		}
	}
	r.types()
	if err := errors.Join(r.faults...); err != nil {
		return nil, nil, fmt.Errorf("rendering the adapter definition: %w", err)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d); err != nil {
		return nil, nil, fmt.Errorf("rendering the adapter definition: %w", err)
	}
	return text.Bytes(), r.warnings, nil
}

// renderer collects warnings and errors.
type renderer struct {
	adapter  *gen.Definitions
	warnings []Warning
	faults   []error
}

func (r *renderer) warn(path, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{path, fmt.Sprintf(format, args...)})
}

func (r *renderer) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

var (
	operationName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	adapterName    = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	adapterVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?$`)
	notInName      = regexp.MustCompile(`[^a-z0-9]+`)
)

// name returns the name of the service in the form of the format: lowercase letters, digits and hyphens.
func (r *renderer) name() string {
	if adapterName.MatchString(r.adapter.Name) {
		return r.adapter.Name
	}
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(r.adapter.Name), "-"), "-")
	if name = strings.TrimLeft(name, "0123456789-"); name == "" {
		r.fault("the service's name %q has no letter that a name here could begin with", r.adapter.Name)
	}
	r.warn("name", "%q is spelt %q, since names are of small letters, digits and hyphens", r.adapter.Name, name)
	return name
}

// version returns the version of the service if it is a semantic one; else 0.0.0.
func (r *renderer) version() string {
	if adapterVersion.MatchString(r.adapter.Version) {
		return r.adapter.Version
	}
	const unknown = "0.0.0"
	version, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(r.adapter.Version, "v")), "+")
	if !adapterVersion.MatchString(version) {
		version = unknown
	}
	r.warn("version", "%q is spelt %q, since versions are of three numbers", r.adapter.Version, version)
	return version
}

func (r *renderer) operation(o *gen.Operation) operation {
	rendered := operation{
		Name: o.Name, MapsTo: o.Name, Description: o.Description, Response: r.response(o), Pagination: paginationOf(o),
		DangerLevel: o.Danger, RequiresConfirmation: o.Danger.Level() >= gen.Destructive.Level(),
		NonIdempotent: o.Category == gen.Execute,
	}
	var lost losses
	lost.add(o.Family != "", "endpoint family %s", o.Family)
	lost.add(len(o.Reasons) > 0, "reasons for the danger level")
	lost.add(o.Confirm != "", "confirmation message")
	lost.add(o.TypeToConfirm != "", "that a person types the value of %s to confirm", o.TypeToConfirm)
	lost.add(len(o.Examples) > 0, "examples")
	lost.add(o.Timeout != 0, "time limit %v", o.Timeout)
	lost.add(o.Lifecycle != nil, "that it outlives the call")
	lost.add(o.Deprecated != "" || o.Replacement != "", "deprecated")
	r.lose(o.Name, lost)
	for i := range o.Params {
		p := &o.Params[i]
		rendered.SupportsFields = rendered.SupportsFields || p.Type == gen.TypeSelection
		rendered.Params = append(rendered.Params, export.Member{Name: p.Name, Value: r.param(o.Name+"."+p.Name, p)})
	}
	return rendered
}

func (r *renderer) response(o *gen.Operation) *response {
	if o.Returns.Name == "" {
		return &response{Type: "null"}
	}
	answer := &response{Type: r.typeName(o.Returns.Name), Description: cmp.Or(o.Returns.Description, o.Returns.Name)}
	if o.Returns.Kind == gen.KindScalar {
		answer.Type = o.Returns.Name
	}
	return answer
}

// typeName returns the type of values of a type: string for an enum, object for a type with fields. The format has no
// list of types that names could refer to.
func (r *renderer) typeName(name string) string {
	t, known := r.adapter.Type(name)
	switch {
	case !known:
		return name
	case t.Kind == gen.KindEnum:
		return "string"
	case t.Kind == gen.KindObject:
		return "object"
	default:
		return "any"
	}
}

// types adds a warning about the types that the document leaves out.
func (r *renderer) types() {
	var names []string
	for i := range r.adapter.Types {
		if t := &r.adapter.Types[i]; t.Kind == gen.KindObject || t.Kind == gen.KindUnion {
			names = append(names, t.Name)
		}
	}
	if names != nil {
		r.warn("types", "not told: the fields and members of %s", strings.Join(names, ", "))
	}
}

// losses are parts of a definition that have no place in the document.
type losses []string

func (l *losses) add(lost bool, format string, args ...any) {
	if lost {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}

func (r *renderer) lose(path string, lost losses) {
	if len(lost) > 0 {
		r.warn(path, "not told: %s", strings.Join(lost, ", "))
	}
}
