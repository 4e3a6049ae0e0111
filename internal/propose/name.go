package propose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// assignNames names the operations of all drafts: by their function, with the entity if that is only a verb, or if
// several functions share the name. taken are the names of existing operations.
func (p *proposer) assignNames(taken map[string]bool) {
	for _, d := range p.drafts {
		d.name = naming.SnakeCase(d.fn.Func.Name())
		if !naming.IsValid(d.name) {
			d.name = naming.Suggest(d.name)
		}
		if entity := p.entity(d); entity != "" && isVerb(d.name) {
			d.name += "_" + d.numbered(entity)
		}
	}
	count := make(map[string]int)
	for _, d := range p.drafts {
		count[d.name]++
	}
	for _, d := range p.drafts {
		if count[d.name] < 2 && !taken[d.name] && !naming.IsReserved(d.name) {
			continue
		}
		if entity := singular(lastWord(serviceWords(receiverName(d.fn.Func)))); entity != "" {
			d.name = withEntity(d.name, entity)
		} else if receiver := naming.SnakeCase(receiverName(d.fn.Func)); receiver != "" {
			d.name = withEntity(d.name, receiver)
		}
	}
	used := make(map[string]bool)
	for _, d := range p.drafts {
		name := d.name
		for n := 2; used[d.name] || taken[d.name] || naming.IsReserved(d.name); n++ {
			d.name = fmt.Sprintf("%s_%d", name, n)
		}
		if used[d.name] = true; d.name != name {
			d.checks = append(d.checks, fmt.Sprintf("%s is taken: find a better name than %s", name, d.name))
		}
	}
}

// isVerb reports whether a name is only a verb.
func isVerb(name string) bool {
	_, known := knownWords().verbs[name]
	alone := slices.Contains([]string{
		"stats", "status", "info", "version", "health", "history", "overview", "whoami", "login", "logout", "ping",
		"migrate",
	}, name)
	return known && !alone && !strings.Contains(name, "_")
}

// entity is what a function is about: todo for a method of TodoStore. For a method of a plain Store it is what the
// function returns, what most methods of the type return, or the name of the package.
func (p *proposer) entity(d *draft) string {
	if words := serviceWords(receiverName(d.fn.Func)); len(words) > 0 {
		return singular(strings.Join(words, "_"))
	}
	if own := d.resource(); own != "" {
		return own
	}
	if len(d.trial.Request.Fields) == 0 && d.trial.Result == nil {
		return "" // it is about all that the service has, and not about what its other methods return
	}
	votes := make(map[string]int)
	for _, other := range slices.Concat(p.existing, p.drafts) {
		if resource := other.resource(); resource != "" && receiverName(other.fn.Func) == receiverName(d.fn.Func) {
			votes[resource]++
		}
	}
	if len(votes) > 0 {
		return slices.MaxFunc(slices.Sorted(maps.Keys(votes)),
			func(a, b string) int { return cmp.Compare(votes[a], votes[b]) })
	}
	if words := serviceWords(p.root.Name); len(words) > 0 && p.root.Name != "main" {
		return singular(strings.Join(words, "_"))
	}
	return ""
}

// resource is the name of the struct that a function returns, alone or in a list.
func (d *draft) resource() string {
	shape := shapes.Indirect(d.trial.Result)
	if shape != nil && (shape.Kind == shapes.Slice || shape.Kind == shapes.Array) {
		shape = shapes.Indirect(shape.Elem)
	}
	if shape == nil || shape.Kind != shapes.Struct {
		return ""
	}
	words := serviceWords(shape.Go.Name)
	for len(words) > 1 &&
		slices.Contains([]string{"response", "result", "reply", "dto", "page", "list", "view", "row", "output", "info"},
			lastWord(words)) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, "_")
}

// serviceWords are the words of a type's or package's name, without those that only mean that it is a service.
func serviceWords(name string) []string {
	words := strings.FieldsFunc(naming.SnakeCase(name), func(r rune) bool { return r == '_' })
	for len(words) > 0 && isServiceWord(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	for len(words) > 0 && isTechnology(words[0]) {
		words = words[1:]
	}
	return words
}

// isTechnology reports whether a word in front of a service's name only means how it is implemented.
func isTechnology(word string) bool {
	return slices.Contains([]string{
		"base", "default", "my", "mem", "memory", "sql", "sqlite", "postgres", "pg", "mysql", "redis", "http", "rest", "in",
	}, word)
}

func isServiceWord(word string) bool {
	return slices.Contains([]string{
		"service", "services", "svc", "store", "storage", "repository", "repo", "manager", "mgr", "client", "api",
		"handler", "handlers", "controller", "server", "srv", "db", "dao", "queries", "querier", "impl", "provider",
		"backend", "app", "adapter", "registry", "usecase", "usecases", "internal", "model", "models", "pkg", "lib",
		"gateway", "s", "memory", "core", "v1", "v2", "v3",
	}, word)
}

func lastWord(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// withEntity puts an entity behind the verb of a name: list_items of a user store is list_user_items.
func withEntity(name, entity string) string {
	verb, rest, _ := strings.Cut(name, "_")
	if slices.Contains(strings.Split(name, "_"), entity) {
		return name
	}
	if rest == "" {
		return verb + "_" + entity
	}
	return verb + "_" + entity + "_" + rest
}

// numbered is the entity, in the plural if the function returns a list.
func (d *draft) numbered(entity string) string {
	if result := shapes.Indirect(d.trial.Result); result != nil &&
		(result.Kind == shapes.Slice || result.Kind == shapes.Array) {
		return plural(entity)
	}
	if verb := naming.SnakeCase(d.fn.Func.Name()); verb == "list" || verb == "count" || verb == "search" {
		return plural(entity)
	}
	return entity
}

// plural returns the plural of an English noun, by its last letters.
func plural(noun string) string {
	switch {
	case noun == "":
		return ""
	case strings.HasSuffix(noun, "y") && !strings.ContainsRune("aeiou", rune(noun[max(len(noun)-2, 0)])):
		return noun[:len(noun)-1] + "ies"
	case hasAnySuffix(noun, "s", "x", "ch", "sh"):
		return noun + "es"
	}
	return noun + "s"
}

// singular reverses plural.
func singular(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ies") && len(noun) > 4:
		return noun[:len(noun)-3] + "y"
	case hasAnySuffix(noun, "sses", "xes", "ches", "shes"):
		return noun[:len(noun)-2]
	case strings.HasSuffix(noun, "s") && !hasAnySuffix(noun, "ss", "us", "is", "news"):
		return noun[:len(noun)-1]
	}
	return noun
}

func hasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// identifiers lists the parameters that identify the resource of an operation: those that are named like an identifier,
// up to that of the resource itself. If there is none, a name or number counts, except for CREATE. All scalars in
// front of the body of an update identify what it changes, and all parameters in the path of an HTTP request what it is
// about.
func (d *draft) identifiers(category gen.Category) []string {
	fields := d.trial.Request.Fields
	if len(d.trial.InPath) > 0 && category != gen.Create {
		return d.trial.InPath
	}
	if ids := d.before(); category == gen.Update && len(ids) > 0 {
		return ids
	}
	entities := d.entities()
	var strong, weak []string
	for i, field := range fields {
		name := field.Param.Name
		if !isReference(field.Shape) {
			continue
		}
		switch {
		case isOwnIdentifier(name, entities):
			return append(strong, name)
		case isIdentifier(name):
			if d.trial.Arguments != nil && i > len(strong) {
				continue // it follows a value that is set, so it is part of that value
			}
			strong = append(strong, name)
		case len(weak) == 0 && category != gen.Create &&
			(name == "name" || name == "number" || slices.Contains(entities, name) ||
				slices.ContainsFunc(entities, func(e string) bool { return name == e+"_name" || name == e+"_number" })):
			weak = append(weak, name)
		}
	}
	if len(strong) > 0 {
		return strong
	}
	return weak
}

// before lists the arguments of an update in front of the one object that is its body, if all of them can identify
// something.
func (d *draft) before() []string {
	if d.trial.Arguments == nil {
		return nil
	}
	var names []string
	for i, field := range d.trial.Request.Fields {
		kind := shapes.Indirect(field.Shape).Kind
		switch {
		case isReference(field.Shape):
			names = append(names, field.Param.Name)
		case i == len(d.trial.Request.Fields)-1 && (kind == shapes.Struct || kind == shapes.Patch):
			return names
		default:
			return nil
		}
	}
	return nil
}

// entities are the words that may name the resource: those behind the verb, in the singular too.
func (d *draft) entities() []string {
	_, _, words := knownWords().leading(d.name)
	words = append(slices.Clone(words), strings.Join(words, "_"))
	for _, word := range slices.Clone(words) {
		words = append(words, singular(word))
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// isReference reports whether a parameter is a text or number that can identify something.
func isReference(shape *shapes.Shape) bool {
	switch shapes.Indirect(shape).Kind {
	case shapes.Int, shapes.Uint, shapes.Text, shapes.JSON:
		return true
	case shapes.String:
		return len(shapes.Indirect(shape).Enum) == 0
	}
	return false
}

// isOwnIdentifier reports whether a parameter identifies the resource itself: id, or todo_id of a todo.
func isOwnIdentifier(name string, entities []string) bool {
	if slices.Contains([]string{"id", "uuid", "guid", "uid", "slug", "key", "handle"}, name) {
		return true
	}
	return slices.ContainsFunc(entities, func(entity string) bool {
		suffix, ok := strings.CutPrefix(name, entity+"_")
		return ok && isOwnIdentifier(suffix, nil)
	})
}

// isIdentifier reports whether a parameter identifies something.
func isIdentifier(name string) bool {
	return hasAnySuffix(name, "_id", "_uuid", "_guid", "_uid", "_slug", "_key")
}
