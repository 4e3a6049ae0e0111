// Package reference renders definitions as a page for people: a table of the operations of each endpoint family, then
// each operation with its parameters, examples and failures, then the types. The page is GitHub Flavored Markdown
// without HTML.
//
// The runtime and the aql-tag command use it; a service does not need it.
package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Render returns the page about an adapter. It fails on a surface that is not valid.
func Render(a *gen.Definitions, s describe.Surface, protocol describe.Protocol) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p := &page{adapter: a, surface: s, protocol: protocol, anchors: make(map[string]string)}
	p.name()
	p.begin()
	p.overview()
	p.heading(2)
	for i := range a.Operations {
		p.operation(&a.Operations[i])
	}
	if len(a.Types) > 0 {
		p.heading(2)
		for i := range a.Types {
			p.typ(&a.Types[i])
		}
	}
	p.heading(2)
	p.paragraph("Any operation can answer with these codes, whatever its parameters are.")
	p.failures(describe.CommonFailures())
	return []byte(words.Visible(strings.TrimRight(p.text.String(), "\n") + "\n")), nil
}

// badges are the danger levels with a symbol.
var badges = map[gen.Danger]string{
	gen.Safe: "🟢 safe", gen.Reversible: "🔵 reversible", gen.Destructive: "🟠 destructive", gen.Dangerous: "🔴 dangerous",
	gen.Forbidden: "⛔ forbidden",
}

// meanings explain the danger levels (MCP-AQL danger levels §2.1).
var meanings = map[gen.Danger]string{
	gen.Safe:        "changes nothing that matters",
	gen.Reversible:  "changes what can be changed back",
	gen.Destructive: "may lose data for good, so it asks first",
	gen.Dangerous:   "may lose much for good, so it asks first",
	gen.Forbidden:   "runs only where somebody decided that it may, and asks first",
}

// page is the page being written.
type page struct {
	adapter  *gen.Definitions
	surface  describe.Surface
	protocol describe.Protocol
	text     strings.Builder
	titles   []string          // of the headings that are not written yet, in their order
	anchors  map[string]string // by op:NAME, type:NAME, or the key of a section
}

// name determines the anchors of all headings, in their order on the page.
func (p *page) name() {
	taken := make(map[string]int)
	add := func(key, title string) {
		p.anchors[key] = slug(title, taken)
		p.titles = append(p.titles, title)
	}
	add("title", p.title())
	// Several words distinguish sections from operations and types, whose names have no spaces.
	add("operations", "All operations")
	add("reference", "Each operation")
	for i := range p.adapter.Operations {
		add("op:"+p.adapter.Operations[i].Name, p.adapter.Operations[i].Name)
	}
	if len(p.adapter.Types) > 0 {
		add("types", "All types")
		for i := range p.adapter.Types {
			add("type:"+p.adapter.Types[i].Name, p.adapter.Types[i].Name)
		}
	}
	add("failures", "Failures of any operation")
}

func (p *page) title() string {
	// The word in the middle distinguishes the anchor from that of a type of the same name.
	return strings.TrimSpace(cmp.Or(p.adapter.Name, "MCP-AQL") + " adapter " + p.adapter.Version)
}

// heading writes the next heading.
func (p *page) heading(level int) {
	p.paragraph(strings.Repeat("#", level) + " " + escape(p.titles[0]))
	p.titles = p.titles[1:]
}

func (p *page) paragraph(text string) { p.text.WriteString(text + "\n\n") }

func (p *page) begin() {
	p.heading(1)
	if p.adapter.Description != "" {
		p.paragraph(escapeParagraphs(p.adapter.Description))
	}
	tools := "one tool"
	if p.surface.Mode == describe.Discrete {
		tools = "a tool for each"
	} else if n := len(p.families()); p.surface.Mode != describe.Single && n > 1 {
		tools = fmt.Sprintf("%d tools", n)
	}
	called := "Each is called by its name:"
	if p.surface.Mode == describe.Discrete {
		called = "Arguments look like this:"
	}
	p.paragraph(fmt.Sprintf("%s, reached through %s of an MCP server. %s",
		words.Count(len(p.adapter.Operations), "operation"), tools, called))
	if o := p.first(); o != nil {
		p.code(p.request(o, o.Examples[0].Params))
	}
	p.paragraph("The answer is `{\"success\": true, \"data\": …}`, or " +
		"`{\"success\": false, \"error\": {\"code\", \"message\", \"details\"}}` with a code that tells why. " +
		"Names that are not listed here are refused, and null stands for absence. " +
		"The operation `introspect` tells at run time what this page tells.")
	links := []string{p.link("operations", "All operations"), p.link("reference", "Each operation")}
	if len(p.adapter.Types) > 0 {
		links = append(links, p.link("types", "All types"))
	}
	p.paragraph(strings.Join(append(links, p.link("failures", "Failures of any operation")), " · "))
}

// first returns the operation whose example is shown at the top: the first of the least dangerous ones with an example.
func (p *page) first() *gen.Operation {
	var found *gen.Operation
	for i := range p.adapter.Operations {
		o := &p.adapter.Operations[i]
		if len(o.Examples) > 0 && (found == nil || o.Danger.Level() < found.Danger.Level()) {
			found = o
		}
	}
	return found
}

// families returns the families that have operations.
func (p *page) families() []describe.Family {
	var list []describe.Family
	for _, family := range p.surface.Profile.Families {
		if len(p.surface.OwnOperations(p.adapter, family.Name)) > 0 {
			list = append(list, family)
		}
	}
	return list
}

// overview writes a table of operations for each endpoint family.
func (p *page) overview() {
	p.heading(2)
	used := make(map[gen.Danger]bool)
	for _, family := range p.families() {
		operations := p.surface.OwnOperations(p.adapter, family.Name)
		intro := fmt.Sprintf("**%s** through the tool `%s`", escape(family.Name), p.surface.Tool(operations[0]))
		if family.Description != "" {
			intro += ": " + escape(family.Description)
		}
		if p.surface.Mode == describe.Discrete {
			intro = "**" + escape(family.Name) + "**"
		}
		p.paragraph(intro)
		t := table{{"Operation", "Danger", "What it does", "Returns"}}
		for _, o := range operations {
			used[o.Danger] = true
			what := escape(words.FirstSentence(o.Description))
			if o.Deprecated != "" || o.Replacement != "" {
				what = strings.TrimSpace(what + " *Deprecated.*")
			}
			t = append(t, []string{p.link("op:"+o.Name, code(o.Name)), badges[o.Danger], what, p.typeLink(o.Returns.Name)})
		}
		p.table(t)
	}
	var legend []string
	for _, danger := range gen.Dangers() {
		if used[danger] {
			legend = append(legend, "- "+badges[danger]+": "+meanings[danger])
		}
	}
	if legend != nil {
		p.paragraph(strings.Join(legend, "\n"))
	}
}

func (p *page) operation(o *gen.Operation) {
	p.heading(3)
	p.paragraph(fmt.Sprintf("%s · %s · tool `%s` · returns %s", cmp.Or(badges[o.Danger], string(o.Danger)), o.Category,
		p.surface.Tool(o), p.typeLink(o.Returns.Name)))
	if o.Description != "" {
		p.paragraph(escapeParagraphs(o.Description))
	}
	p.notices(o)
	if len(o.Params) == 0 {
		p.paragraph("It has no parameters.")
	} else {
		p.fields("Parameter", o.Params)
	}
	for _, example := range o.Examples {
		caption := strings.TrimRight(example.Description, ".:")
		p.paragraph(escape(cmp.Or(caption, "Example")) + ":")
		p.code(p.request(o, example.Params))
	}
	own := describe.Failures(p.adapter, o, p.protocol.Confirms(o))
	if len(own) == 0 {
		p.paragraph("It can fail as " + p.link("failures", "any operation") + " can.")
		return
	}
	p.paragraph("It can fail as " + p.link("failures", "any operation") + " can, and with these codes:")
	p.failures(own)
}

// notices writes what a reader must not miss: that an operation needs confirmation, and that it is deprecated.
func (p *page) notices(o *gen.Operation) {
	var quotes []string
	approves := p.protocol.Approves(o)
	if approves {
		quote := "⚠️ **Asks for approval.** The user is asked before it is carried out; if nobody can be asked, it is denied."
		if o.TypeToConfirm != "" {
			quote += " To approve, the user types the value of " + code(o.TypeToConfirm) + "."
		}
		quotes = append(quotes, quote)
	}
	if p.protocol.Confirms(o) {
		quotes = append(quotes, "⚠️ **Asks for confirmation.** The first call does nothing and answers with a token; "+
			"the same call with it as `confirmation_token` is carried out.")
	}
	if approves || p.protocol.Confirms(o) {
		if o.Confirm != "" {
			quotes = append(quotes, "The question is: "+escape(o.Confirm))
		}
		var reasons []string
		for _, reason := range o.Reasons {
			reasons = append(reasons, "- "+escape(reason))
		}
		if reasons != nil {
			quotes = append(quotes, strings.Join(reasons, "\n> "))
		}
	}
	if o.Deprecated != "" || o.Replacement != "" {
		notice := strings.TrimSpace("**Deprecated.** " + escape(o.Deprecated))
		if o.Replacement != "" {
			replacement := code(o.Replacement)
			if _, ok := p.adapter.Operation(o.Replacement); ok {
				replacement = p.link("op:"+o.Replacement, replacement)
			}
			notice += " Use " + replacement + " instead."
		}
		quotes = append(quotes, notice)
	}
	if quotes != nil {
		p.paragraph("> " + strings.Join(quotes, "\n>\n> "))
	}
}

func (p *page) failures(list []describe.Failure) {
	t := table{{"Code", "When"}}
	for _, f := range list {
		t = append(t, []string{code(f.Code), escape(f.When)})
	}
	p.table(t)
}

func (p *page) typ(t *gen.Type) {
	p.heading(3)
	if t.Description != "" {
		p.paragraph(escapeParagraphs(t.Description))
	}
	switch {
	case t.Kind == gen.KindEnum:
		rows := table{{"Value", "Meaning"}}
		for _, v := range t.Values {
			rows = append(rows, []string{code(v.Value), escape(v.Description)})
		}
		p.table(rows)
	case t.Kind == gen.KindUnion:
		var members []string
		for _, member := range t.Members {
			members = append(members, p.typeLink(member))
		}
		p.paragraph("One of " + strings.Join(members, ", ") + ".")
	case t.Items != nil:
		p.paragraph("Every member is " + p.typeOf(t.Items) + ".")
	case len(t.Fields) > 0:
		fields := slices.Clone(t.Fields)
		for i := range fields {
			if t.Changes != "" { // presets concern results only
				fields[i].Presets = nil
			}
		}
		p.fields("Field", fields)
		if t.Computed != nil {
			p.fields("Computed field", computedFields(t))
		}
		if t.Related != nil {
			p.fields("Relation", t.Related)
		}
	case t.Kind == gen.KindObject:
		p.paragraph("It has no fields.")
	case t.Description == "":
		p.paragraph("A value of no further structure.")
	}
}
