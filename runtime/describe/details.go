package describe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// The introspection schema closes every object here, so what has no member of its own goes into a description.

// operationsList is the data of query "operations" without a name.
type operationsList struct {
	Protocol   protocolInfo    `json:"_protocol"`
	Operations []operationInfo `json:"operations"`
}

// operationInfo is an entry of the operations list.
type operationInfo struct {
	Name        string       `json:"name"`
	Category    gen.Category `json:"semantic_category"`
	Endpoint    string       `json:"endpoint"`
	Description string       `json:"description"`
}

func listOf(operations []*gen.Operation, protocol protocolInfo, s Surface, p Protocol) operationsList {
	return operationsList{Protocol: protocol, Operations: infosOf(operations, s, p)}
}

func infosOf(operations []*gen.Operation, s Surface, p Protocol) []operationInfo {
	infos := make([]operationInfo, 0, len(operations))
	for _, o := range operations {
		infos = append(infos, operationInfo{o.Name, o.Category, s.Family(o), summary(o, p.gating(o))})
	}
	return infos
}

// operationDetails is one operation in full.
type operationDetails struct {
	Name        string          `json:"name"`
	Category    gen.Category    `json:"semantic_category"`
	Endpoint    string          `json:"endpoint"`
	Tool        string          `json:"mcpTool"`
	Description string          `json:"description"`
	Permissions permissions     `json:"permissions"`
	Parameters  []parameterInfo `json:"parameters"`
	Returns     typeInfo        `json:"returns"`
	Examples    []exampleInfo   `json:"examples,omitempty"`
	Summaries   *summarySupport `json:"aggregation_support,omitempty"`
	Computed    []computedInfo  `json:"computed_fields,omitempty"`
	// Relationships are what query_relationships follows (MCP-AQL introspection §3.3).
	Relationships *relationshipInfo `json:"relationship_capabilities,omitempty"`
	Lifecycle     *lifecycleInfo    `json:"lifecycle,omitempty"`
}

// lifecycleInfo is what can become of the executions of an operation (MCP-AQL core §8.4.5).
type lifecycleInfo struct {
	States   []string `json:"states"`
	Cancel   bool     `json:"supports_cancel"`
	Retry    bool     `json:"supports_retry"`
	Progress bool     `json:"progress_reporting"`
}

// relationshipInfo is what an operation that follows relationships can do.
type relationshipInfo struct {
	Supported  bool     `json:"supported"`
	Directions []string `json:"directions"`
	Types      []string `json:"relationship_types"`
	MaxDepth   int      `json:"max_depth"`
}

// permissions are the effects of a semantic category (MCP-AQL core §6.1).
type permissions struct {
	ReadOnly    bool `json:"readOnly"`
	Destructive bool `json:"destructive"`
}

func permissionsOf(category gen.Category) permissions {
	return permissions{
		ReadOnly:    category == gen.Read,
		Destructive: category != gen.Read && category != gen.Create,
	}
}

// exampleInfo is an example request.
type exampleInfo struct {
	Description string         `json:"description,omitempty"`
	Request     exampleRequest `json:"request"`
}

type exampleRequest struct {
	Operation string          `json:"operation"`
	Params    json.RawMessage `json:"params,omitempty"`
}

// parameterInfo is a parameter, a field of an object type, or, without name and required, the element of an array.
type parameterInfo struct {
	Name        string          `json:"name,omitempty"`
	Type        string          `json:"type"`
	Required    *bool           `json:"required,omitempty"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     json.RawMessage `json:"minimum,omitempty"`
	Maximum     json.RawMessage `json:"maximum,omitempty"`
	MinLength   int             `json:"minLength,omitempty"`
	MaxLength   int             `json:"maxLength,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	Format      string          `json:"format,omitempty"`
	Items       *parameterInfo  `json:"items,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
}

func detailsOf(a *gen.Definitions, o *gen.Operation, s Surface, gated Gating) operationDetails {
	details := operationDetails{
		Name: o.Name, Category: o.Category, Endpoint: s.Family(o), Tool: s.Tool(o), Description: description(o, gated),
		Permissions: permissionsOf(o.Category), Parameters: parameterInfos(o.Params),
		Returns: typeInfo{o.Returns.Name, o.Returns.Kind, o.Returns.Description}, Summaries: summariesOf(a, o),
	}
	if o.Returns.Name == "" {
		details.Returns = typeInfo{Name: nothingType, Kind: gen.KindScalar}
	}
	tellRelated(a, o, details.Parameters)
	if token := gen.ConfirmationToken(); gated.confirms() {
		if _, own := o.Param(token.Name); !own {
			details.Parameters = append(details.Parameters, parameterInfoOf(&token))
		}
	}
	if r := o.Relationships; r != nil {
		details.Relationships = &relationshipInfo{true, r.Directions, r.Types, gen.MaxRelationshipDepth}
	}
	if l := o.Lifecycle; l != nil {
		details.Lifecycle = &lifecycleInfo{l.States(), true, l.Durable && l.Retry > 0, true}
	}
	for _, example := range o.Examples {
		details.Examples = append(details.Examples, exampleInfo{
			example.Description, exampleRequest{o.Name, json.RawMessage(example.Params)},
		})
	}
	return details
}

func parameterInfos(params []gen.Param) []parameterInfo {
	infos := make([]parameterInfo, 0, len(params))
	for i := range params {
		infos = append(infos, parameterInfoOf(&params[i]))
	}
	return infos
}

func parameterInfoOf(p *gen.Param) parameterInfo {
	info := valueInfo(p)
	info.Name, info.Required = p.Name, &p.Required
	return info
}

// valueInfo describes a value without its name and whether it is required.
func valueInfo(p *gen.Param) parameterInfo {
	info := parameterInfo{
		Type: p.Type, Description: paramDescription(p), Default: json.RawMessage(p.Default), Enum: p.Enum,
		Minimum: json.RawMessage(p.Minimum), Maximum: json.RawMessage(p.Maximum),
		MinLength: p.MinLength, MaxLength: p.MaxLength, Pattern: p.Pattern, Format: p.Format, Sensitive: p.Sensitive,
	}
	if p.Items != nil {
		items := valueInfo(p.Items)
		info.Items = &items
	}
	return info
}

// paramDescription returns the description of a parameter, with what the closed schema has no member for.
func paramDescription(p *gen.Param) string {
	var n notes
	n.add(p.Description)
	if p.Type == "object" && p.Items != nil && p.Filter == nil && !p.Aggregates() { // of which an example or a list tells
		n.add("Map with values of type " + p.Items.Type)
	}
	n.add(p.Names())
	switch {
	case p.MinItems > 0 && p.MinItems == p.MaxItems:
		n.add(fmt.Sprintf("Exactly %s", words.Count(p.MaxItems, "item")))
	case p.MinItems > 0 && p.MaxItems > 0:
		n.add(fmt.Sprintf("%d to %s", p.MinItems, words.Count(p.MaxItems, "item")))
	case p.MinItems > 0:
		n.add(words.Count(p.MinItems, "item") + " or more")
	case p.MaxItems > 0:
		n.add("Up to " + words.Count(p.MaxItems, "item"))
	}
	n.add(nullNote(p))
	if len(p.Excludes) > 0 {
		n.add("Not together with " + strings.Join(p.Excludes, ", "))
	}
	if len(p.Presets) > 0 && p.Type != gen.TypeSelection {
		n.add("Preset " + strings.Join(p.Presets, ", "))
	}
	if p.DryRun {
		n.add("A dry run if true: nothing changes")
	}
	if p.ReadOnly {
		n.add("Read-only")
	}
	if p.AppendOnly {
		n.add("Append-only")
	}
	if others := slices.DeleteFunc(slices.Clone(p.Aliases), isOriginal); len(others) > 0 {
		n.add("Also accepted as " + strings.Join(others, ", "))
	}
	if p.Deprecated != "" {
		n.add("Deprecated: " + p.Deprecated)
	}
	return n.String()
}

// isOriginal reports whether an alias is the camelCase name that a wire name was made of.
func isOriginal(alias string) bool { return strings.ToLower(alias) != alias }

// originalsNote returns one sentence with all camelCase names of parameters or fields, which requests may use too
// (MCP-AQL introspection §8.1.2); empty if there are none.
func originalsNote(params []gen.Param) string {
	var names []string
	for i := range params {
		for _, alias := range params[i].Aliases {
			if isOriginal(alias) {
				names = append(names, alias)
			}
		}
	}
	if names == nil {
		return ""
	}
	return "Names in camelCase are accepted too: " + strings.Join(names, ", ")
}

// nullNote returns the sentence about null in the description of a parameter, a field or an element; empty: there is
// nothing to say, because null is refused, is the absence of an optional parameter, or is among the values of type any.
func nullNote(p *gen.Param) string {
	switch {
	case !p.Nullable || p.Type == "any":
		return ""
	case p.Required:
		return "May be null in results"
	default:
		return "May be null"
	}
}

// description returns the description of an operation in full.
func description(o *gen.Operation, gated Gating) string {
	var n notes
	n.add(o.Description)
	if o.TypeToConfirm != "" {
		n.add("Before it runs, a person types the value of " + o.TypeToConfirm + ".")
	}
	n.add(dangerNote(o, gated))
	if len(o.Reasons) > 0 && o.Danger.Level() > 0 {
		n.add("Reasons: " + strings.Join(o.Reasons, "; "))
	}
	n.add(originalsNote(o.Params))
	if replacement := o.Replacement; o.Deprecated != "" || replacement != "" {
		notice := strings.TrimSuffix(o.Deprecated, ".")
		if replacement != "" {
			notice = strings.TrimPrefix(notice+"; use "+replacement+" instead", "; ")
		}
		n.add("Deprecated: " + notice)
	}
	return n.String()
}

// summary returns the description of an operation for the list: the first sentence, and what an agent must not miss.
// Danger levels below destructive are left out; the details have them.
func summary(o *gen.Operation, gated Gating) string {
	var n notes
	n.add(words.FirstSentence(o.Description))
	if gated != Ungated || o.Danger.Level() >= gen.Destructive.Level() {
		n.add(dangerNote(o, gated))
	}
	switch {
	case o.Replacement != "":
		n.add("[deprecated: use " + o.Replacement + "]")
	case o.Deprecated != "":
		n.add("[deprecated]")
	}
	return n.String()
}

func dangerNote(o *gen.Operation, gated Gating) string {
	var parts []string
	if o.Danger.Level() > 0 {
		parts = append(parts, "danger: "+string(o.Danger))
	}
	if note := gated.note(); note != "" {
		parts = append(parts, note)
	}
	if parts == nil {
		return ""
	}
	return "[" + strings.Join(parts, "; ") + "]"
}
