package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// fields writes the table of parameters or fields.
func (p *page) fields(what string, fields []gen.Param) {
	t := table{{what, "Type", "Rules", "Description"}}
	for i := range fields {
		f := &fields[i]
		name := code(f.Name)
		if f.Required {
			name = "**" + name + "**"
		}
		description := escape(f.Description)
		if f.Deprecated != "" {
			description = strings.TrimSpace(description + " *Deprecated:* " + escape(f.Deprecated))
		}
		t = append(t, []string{name, p.typeOf(f), strings.Join(p.rules(f), "; "), description})
	}
	p.table(t)
}

// typeOf returns the type of a value, with links.
func (p *page) typeOf(f *gen.Param) string {
	switch {
	case f.Type == gen.TypeSelection:
		return "preset, or list of paths"
	case f.Type == "array" && f.Items != nil:
		return "list of " + p.typeOf(f.Items)
	case f.Type == "array":
		return "list"
	case f.Type == "object" && f.Items != nil:
		return "map of " + p.typeOf(f.Items)
	case f.Type == "any":
		return "any value"
	}
	return p.typeLink(f.Type)
}

// typeLink returns the name of a type, with a link to its description.
func (p *page) typeLink(name string) string {
	if _, ok := p.adapter.Type(name); ok {
		return p.link("type:"+name, escape(name))
	}
	if name == "" {
		return "nothing"
	}
	return escape(name)
}

// rules returns the rules for a value.
func (p *page) rules(f *gen.Param) []string {
	var rules []string
	add := func(when bool, format string, args ...any) {
		if when {
			rules = append(rules, fmt.Sprintf(format, args...))
		}
	}
	add(f.Required, "required")
	add(f.ID, "identifier")
	add(f.Nullable && f.Required, "null in results")
	rules = append(rules, p.valueRules(f)...)
	for items := f.Items; items != nil; items = items.Items {
		if inner := p.valueRules(items); len(inner) > 0 {
			add(true, "each: %s", strings.Join(inner, ", "))
		}
	}
	add(f.Default != "", "default %s", code(f.Default))
	add(f.DryRun, "a dry run if true: nothing changes")
	add(f.ReadOnly, "read-only")
	add(f.AppendOnly, "append-only")
	add(f.Sensitive, "sensitive: never shown or logged")
	if f.Type != gen.TypeSelection {
		add(len(f.Presets) > 0, "preset %s", codes(f.Presets))
	}
	add(len(f.Aliases) > 0, "also called %s", codes(f.Aliases))
	add(len(f.Excludes) > 0, "not together with %s", codes(f.Excludes))
	return rules
}

// valueRules returns the rules that also apply to elements.
func (p *page) valueRules(f *gen.Param) []string {
	var rules []string
	add := func(text string) {
		if text != "" {
			rules = append(rules, text)
		}
	}
	if f.Nullable && !f.Required {
		add("may be null")
	}
	switch {
	case f.Type == gen.TypeSelection && len(f.Presets) > 0:
		add("one of " + codes(f.Presets) + ", or paths")
	case len(f.Enum) > 0:
		add("one of " + codes(f.Enum))
	}
	add(bounds(f.Minimum, f.Maximum))
	add(lengths(f.MinLength, f.MaxLength, "character"))
	add(lengths(f.MinItems, f.MaxItems, "item"))
	if names := f.Names(); names != "" {
		add(escape(strings.ToLower(names[:1]) + names[1:]))
	}
	if f.Pattern != "" {
		add("matches " + code(f.Pattern))
	}
	if f.Format != "" {
		add("format " + escape(f.Format))
	}
	return rules
}

// bounds returns the bounds of a number; empty: it has none.
func bounds(low, high string) string {
	switch {
	case low != "" && high != "":
		return low + " to " + high
	case low != "":
		return low + " or more"
	case high != "":
		return high + " or less"
	default:
		return ""
	}
}

// lengths returns the bounds of a number of things, of which 0 is none; empty: there are none.
func lengths(low, high int, thing string) string {
	switch {
	case low > 0 && low == high:
		return words.Count(low, thing)
	case low > 0 && high > 0:
		return fmt.Sprintf("%d to %s", low, words.Count(high, thing))
	case low > 0:
		return words.Count(low, thing) + " or more"
	case high > 0:
		return "up to " + words.Count(high, thing)
	default:
		return ""
	}
}

// computedFields returns the computed fields of a type with their paths as names.
func computedFields(t *gen.Type) []gen.Param {
	fields := slices.Clone(t.Computed)
	for i := range fields {
		fields[i].Name = gen.ComputedPrefix + fields[i].Name
	}
	return fields
}
