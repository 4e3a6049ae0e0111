package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// related returns the call that adds the relations to a registry; empty: there are none.
func (g *generator) related() string {
	if len(g.pkg.Relations) == 0 {
		return ""
	}
	return ".Relate(" + g.relationsVar + ")"
}

// relations writes the relations.
func (g *generator) relations(p *printer) {
	if len(g.pkg.Relations) == 0 {
		return
	}
	p.line()
	p.open("var ", g.relationsVar, " = []", g.gen("Relation"), "{")
	for i := range g.pkg.Relations {
		g.relation(p, &g.pkg.Relations[i])
	}
	p.shut("}")
}

// relation writes the members of one relation that are set, and its loader.
func (g *generator) relation(p *printer, r *model.Relation) {
	var head members
	head.text("Of", r.Of)
	head.text("Name", r.Name)
	head.text("By", r.By)
	head.text("Target", r.Target)
	head.flag("Many", r.Many)
	head.text("To", r.To)
	head.text("Param", r.Param)
	head.text("Type", r.Type)
	head.text("Inverse", r.Inverse)
	if len(r.Presets) > 0 {
		head.add("Presets", stringsLiteral(r.Presets))
	}
	head.flag("Opaque", r.Opaque)
	p.open("{", head.String(), ",")
	head = nil
	head.text("Description", r.Description)
	head.add("Receivers", g.receiversOfLoader(r))
	if len(head) > 0 {
		p.line(head.String(), ",")
	}
	ctx, receivers := g.localName("ctx"), g.localName("receivers")
	of, keys := g.freeLocal("of"), g.freeLocal("keys")
	key, from, to := g.goType(r.Key), g.goType(r.From), g.goType(r.Elem)
	p.open("Loader: &", g.names.use(pathAQL, "aql"), ".Loader[", from, ", ", key, ", ", to, "]{")
	address := "&"
	if r.Pointer {
		address = ""
	}
	member, value := "One: ", "*"+to
	if r.Many {
		member, value = "Many: ", "[]*"+to
	}
	loader, receiver := r.Func, "_"
	if r.Receiver != nil {
		known := g.receiver(r.Receiver)
		loader, receiver = receivers+"["+strconv.Itoa(known.index)+"].("+known.asserted()+")."+r.Func, receivers
	}
	if len(r.Through) == 0 {
		p.line("Key: func(", of, " *", from, ") *", key, " { return ", address, of, ".", r.Field, " },")
	} else {
		missing := make([]string, len(r.Through))
		for i, path := range r.Through {
			missing[i] = of + "." + path + " == nil"
		}
		p.open("Key: func(", of, " *", from, ") *", key, " {")
		p.open("if ", strings.Join(missing, " || "), " {")
		p.line("return nil")
		p.shut("}")
		p.line("return ", address, of, ".", r.Field)
		p.shut("},")
	}
	p.open(member, "func(", ctx, " ", g.names.use(pathContext, "context"), ".Context, ", receiver, " []any, ", keys,
		" []", key, ") (map[", key, "]", value, ", error) {")
	p.line("return ", loader, "(", ctx, ", ", keys, ")")
	p.shut("},")
	p.shut("}},")
	p.indent--
}

// freeLocal returns a name for a parameter of a generated function that nothing else in the file has.
func (g *generator) freeLocal(name string) string {
	for !g.names.free(name) {
		name += "Value"
	}
	return name
}

// receiversOfLoader returns a literal of the places of the receivers that a loader uses; empty: it uses all.
func (g *generator) receiversOfLoader(r *model.Relation) string {
	switch {
	case r.Receiver == nil && len(g.receivers) > 0:
		return "[]int{}"
	case r.Receiver == nil || len(g.receivers) == 1:
		return ""
	}
	return "[]int{" + strconv.Itoa(g.receiver(r.Receiver).index) + "}"
}

// loaderGuards writes the types of the loaders that are not written where they are called.
func (g *generator) loaderGuards(p *printer) {
	var seen []string
	for i := range g.pkg.Relations {
		r := &g.pkg.Relations[i]
		value, params, function := "*"+g.goType(r.Elem), "", r.Func
		if r.Many {
			value = "[]" + value
		}
		if r.Receiver != nil {
			receiver := g.receiver(r.Receiver).goType()
			params, function = receiver+", ", "("+receiver+")."+r.Func
		}
		if slices.Contains(seen, function) {
			continue
		}
		seen = append(seen, function)
		p.line("var _ func(", params, g.names.use(pathContext, "context"), ".Context, []", g.goType(r.Key), ") (map[",
			g.goType(r.Key), "]", value, ", error) = ", function)
	}
}
