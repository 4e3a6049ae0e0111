package propose

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// classify returns what a function is taken for, with what only its parameters tell.
func (d *draft) classify() Judgment {
	j := d.judgment
	j.Reasons = slices.Clone(j.Reasons)
	if j.Category == gen.Delete && len(d.identifiers(j.Category)) == 0 {
		j.Reasons = append(j.Reasons, "nothing says which one is deleted, so it may delete many")
	}
	return j
}

// danger is the level of the operation: the highest that the names of the operation and the function stand for, and
// dangerous for a deletion that does not name what it deletes.
func (d *draft) danger(category gen.Category, identifiers []string) gen.Danger {
	level, _ := naming.InferDanger(d.name, category)
	if d.judgment.Danger.Level() > level.Level() {
		level = d.judgment.Danger
	}
	if other, _ := naming.InferDanger(naming.SnakeCase(d.fn.Func.Name()), category); other.Level() > level.Level() {
		level = other
	}
	many := len(identifiers) == 0 || slices.ContainsFunc(strings.Split(d.name, "_"), func(word string) bool {
		return slices.Contains([]string{"all", "every", "everything", "bulk", "batch", "many", "mass"}, word)
	})
	if category == gen.Delete && many && level.Level() < gen.Dangerous.Level() {
		level = gen.Dangerous
	}
	return level
}

// directives returns the comment lines that make the operation, and sets the candidate's danger.
func (d *draft) directives(c *Candidate) []string {
	c.Danger = d.danger(c.Category, c.Identifiers)
	items := "category=" + string(c.Category) + ",danger=" + string(c.Danger)
	if d.name != naming.SnakeCase(d.fn.Func.Name()) {
		items = "op=" + d.name + "," + items
	}
	if c.Guessed {
		items += ",guessed"
	}
	lines := []string{}
	switch body := d.body(c.Identifiers); {
	case c.Category == gen.Create && d.trial.Arguments != nil:
		for _, name := range d.created() {
			lines = append(lines, "//aql:param "+name+" required")
		}
	case c.Category != gen.Update || len(d.trial.InPath) > 0: // the path identifies what changes
	case body != "" && len(c.Identifiers) > 0 && d.trial.Arguments != nil:
		items += ",ids=" + strings.Join(c.Identifiers, "|")
	case slices.Contains(c.Params, "input"):
	case body != "":
		lines = append(lines, "//aql:param "+body+" name=input")
	default:
		ids := leaveOne(c.Identifiers, len(c.Params))
		if len(ids) == 0 {
			break
		}
		items += ",ids=" + strings.Join(ids, "|")
		for _, argument := range d.trial.Arguments {
			// A Go function gets all of its arguments, so an argument that an update leaves out would be emptied.
			i := slices.IndexFunc(d.trial.Request.Fields, func(f shapes.Field) bool { return f.Param.Go == argument.Field })
			field := d.trial.Request.Fields[i]
			if !slices.Contains(ids, field.Param.Name) && !shapes.IsNilable(field.Shape) {
				lines = append(lines, "//aql:param "+field.Param.Name+" required")
			}
		}
	}
	return d.asText(slices.Insert(lines, 0, "//aql:op "+items), c)
}

// created lists the arguments that are what a CREATE creates: the objects that are no options. A function that gets nil
// in place of one may pass it on.
func (d *draft) created() []string {
	var names, options []string
	for _, field := range d.trial.Request.Fields {
		shape := shapes.Indirect(field.Shape)
		if shape.Kind != shapes.Struct || field.Param.Required {
			continue
		}
		if naming.IsOptions(field.Param.Name) || naming.IsOptions(naming.SnakeCase(shape.Go.Name)) {
			options = append(options, field.Param.Name)
		} else {
			names = append(names, field.Param.Name)
		}
	}
	if len(d.trial.Request.Fields) == 1 {
		return append(names, options...)
	}
	return names
}

// asText adds that identifiers of 64 bits travel as text, which no client rounds.
func (d *draft) asText(lines []string, c *Candidate) []string {
	for _, field := range d.trial.Request.Fields {
		named := strings.Contains(lines[0], ",ids=") && slices.Contains(c.Identifiers, field.Param.Name)
		field.Param.ID = field.Param.ID || named
		if !field.IsWideIdentifier() {
			continue
		}
		line := "//aql:param " + field.Param.Name + " "
		if at := slices.IndexFunc(lines, func(other string) bool { return strings.HasPrefix(other, line) }); at >= 0 {
			lines[at] += ",string"
		} else {
			lines = append(lines, line+"string")
		}
	}
	return lines
}

// body is the only parameter of an update besides its identifiers, if it is an object. It is the input.
func (d *draft) body(identifiers []string) string {
	body := ""
	for _, field := range d.trial.Request.Fields {
		if slices.Contains(identifiers, field.Param.Name) {
			continue
		}
		kind := shapes.Indirect(field.Shape).Kind
		if body != "" || kind != shapes.Struct && kind != shapes.Patch {
			return ""
		}
		body = field.Param.Name
	}
	return body
}

// leaveOne returns the first identifiers, so that an update has something left to change.
func leaveOne(identifiers []string, params int) []string {
	return identifiers[:max(0, min(len(identifiers), params-1))]
}

// queried lets agents filter, sort and page what a candidate lists.
func (p *proposer) queried(d *draft, c *Candidate, result trial) trial {
	directives := slices.Clone(c.Directives)
	directives[0] += ",query"
	if queried := p.try(d.fn, directives); queried.refusal() == nil {
		c.Directives, c.Params = directives, queried.params()
		return queried
	}
	return result
}
