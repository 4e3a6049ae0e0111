// Package catalogue has a large service for tests and benchmarks: the definitions of 1,000 operations on 20 resources,
// as they might be in the software of a company.
package catalogue

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

//go:embed catalogue.txt
var text string

// Definitions returns the 1,000 operations.
func Definitions() *gen.Definitions { return read(text) }

// Repeated returns the definitions n times, each time with names of their own: n thousand operations.
func Repeated(n int) *gen.Definitions {
	all := &gen.Definitions{Name: "company"}
	for i := range n {
		part := Definitions()
		if i > 0 {
			for k := range part.Operations {
				part.Operations[k].Name = fmt.Sprintf("%s_of_unit%d", part.Operations[k].Name, i)
			}
		} else {
			all.Types = part.Types
		}
		all.Operations = append(all.Operations, part.Operations...)
	}
	return all
}

// reader reads the lines of the catalogue: a resource with its meaning and its fields; after "-" what belongs to it,
// in the same form; after "!" what can be done with it.
type reader struct {
	definitions gen.Definitions
	resource    string
}

func read(text string) *gen.Definitions {
	r := reader{definitions: gen.Definitions{Name: "company"}}
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		switch kind, name, _ := strings.Cut(parts[0], " "); kind {
		case "-":
			r.entity(r.resource+"_"+name, parts[1], "the "+spaced(r.resource)+" and ", strings.Fields(parts[2]))
		case "!":
			r.action(strings.Fields(name), parts[1])
		default:
			r.resource = kind
			r.entity(kind, parts[1], "", strings.Fields(parts[2]))
		}
	}
	return &r.definitions
}

// entity adds the operations that every resource has, and its type. of is what else an update names.
func (r *reader) entity(name, meaning, of string, fields []string) {
	noun := spaced(name)
	object := gen.Type{Name: camel(name), Kind: gen.KindObject, Description: sentence(meaning)}
	for _, field := range fields {
		object.Fields = append(object.Fields,
			gen.Param{Name: field, Type: typeOf(field), Description: sentence(spaced(field))})
	}
	patch := object
	patch.Name, patch.Changes = object.Name+"Patch", object.Name
	r.definitions.Types = append(r.definitions.Types, object, patch)
	id := gen.Param{Name: name + "_id", Type: "string", Required: true, ID: true, Description: "Which " + noun}
	create := append([]gen.Param(nil), object.Fields...)
	create[0].Required = true
	if of != "" {
		create = append([]gen.Param{{
			Name: r.resource + "_id", Type: "string", Required: true, Description: "Which " + spaced(r.resource),
		}}, create...)
	}
	r.add("create_"+name, gen.Create, gen.Reversible, "Adds "+article(noun)+": "+meaning+".", object.Name, create...)
	r.add("get_"+name, gen.Read, gen.Safe, "Returns one "+noun+".", object.Name, id)
	r.add("list_"+plural(name), gen.Read, gen.Safe, "Returns the "+spaced(plural(name))+", the newest first.", object.Name,
		gen.Param{Name: "first", Type: "integer", Minimum: "1", Maximum: "100", Description: "How many"},
		gen.Param{Name: "after", Type: "string", Description: "Cursor of the page before"},
		gen.Param{Name: "query", Type: "string", Description: "Text that they have"})
	r.add("update_"+name, gen.Update, gen.Reversible, "Changes "+article(noun)+".", object.Name, id,
		gen.Param{Name: "input", Type: patch.Name, Required: true, Description: "What changes"})
	r.add("delete_"+name, gen.Delete, gen.Destructive, "Removes "+article(noun)+" for good.", "", id)
}

// action adds an operation of its own. words are its name, or the verb of it, its category and its danger level.
func (r *reader) action(words []string, description string) {
	name := words[0]
	if !strings.Contains(name, "_") {
		name += "_" + r.resource
	}
	r.add(name, gen.Category(words[1]), gen.Danger(words[2]), description, camel(r.resource),
		gen.Param{Name: r.resource + "_id", Type: "string", Required: true, Description: "Which " + spaced(r.resource)})
}

func (r *reader) add(name string, category gen.Category, danger gen.Danger, text, returns string, params ...gen.Param) {
	o := gen.Operation{
		Name: name, Category: category, Danger: danger, DangerSource: gen.DangerFromTag, Description: text, Params: params,
	}
	if returns != "" {
		o.Returns = gen.Returns{Name: returns, Kind: gen.KindObject}
	}
	r.definitions.Operations = append(r.definitions.Operations, o)
}

func typeOf(field string) string {
	switch field {
	case "amount", "price", "weight", "quantity", "size", "budget", "rent", "mileage", "points", "stars", "days":
		return "number"
	}
	return "string"
}

func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func camel(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		out.WriteString(sentence(word))
	}
	return out.String()
}

func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y") && !strings.ContainsRune("aeiou", rune(name[len(name)-2])):
		return name[:len(name)-1] + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"):
		return name + "es"
	}
	return name + "s"
}
