package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// receiver is a type whose methods are handlers. NewRegistry takes one value of each.
type receiver struct {
	*model.Receiver
	pointer bool // some handler needs a pointer
	param   string
	index   int    // among the receivers
	prefix  string // the package of the type, with a period
	methods string // name of the interface of the handlers of a generic type
}

// goType returns the type that NewRegistry takes.
func (r *receiver) goType() string {
	text := r.prefix + r.Type
	if r.generic() {
		names := make([]string, len(r.TypeParams))
		for i, p := range r.TypeParams {
			names[i] = p.Name
		}
		text += "[" + strings.Join(names, ", ") + "]"
	}
	if r.pointer {
		return "*" + text
	}
	return text
}

// asserted returns the type that handlers assert of the receiver. Of a generic type that is an interface: its type
// arguments have no names outside NewRegistry.
func (r *receiver) asserted() string {
	if r.generic() {
		return r.methods
	}
	return r.goType()
}

func (r *receiver) generic() bool { return len(r.TypeParams) > 0 }

// receiver returns the receiver of a handler, which is that of other handlers of the same type.
func (g *generator) receiver(r *model.Receiver) *receiver {
	for _, known := range g.receivers {
		if known.Type == r.Type && known.Package == r.Package {
			known.pointer = known.pointer || r.Pointer
			return known
		}
	}
	name := lowerFirst(r.Type)
	added := &receiver{
		Receiver: g.renameTypeParams(r), pointer: r.Pointer, index: len(g.receivers),
		param: g.names.unique(name, name+"Value"),
	}
	if r.Package.Path != "" {
		added.prefix = g.names.use(r.Package.Path, r.Package.Name) + "."
	}
	if added.generic() {
		added.methods = g.names.unique(name+"Methods", name+"Handlers")
	}
	g.receivers = append(g.receivers, added)
	return added
}

// renameTypeParams renames the type parameters of a receiver whose names NewRegistry, which declares those of all
// receivers, uses already.
func (g *generator) renameTypeParams(r *model.Receiver) *model.Receiver {
	renamed := *r
	renamed.TypeParams = nil
	names := make(map[string]string)
	for _, param := range r.TypeParams {
		names[param.Name] = g.names.unique(param.Name, upperFirst(r.Type)+upperFirst(param.Name))
	}
	for _, param := range r.TypeParams {
		param.Name = names[param.Name]
		param.Constraint.Text = replaceIdentifiers(param.Constraint.Text, func(name string, qualifier bool) string {
			if new, ok := names[name]; ok && !qualifier {
				return new
			}
			return name
		})
		renamed.TypeParams = append(renamed.TypeParams, param)
	}
	return &renamed
}

// receiversOf returns a literal of the places of the receivers that an operation uses; empty: it uses all.
func (g *generator) receiversOf(c *call) string {
	used := make([]bool, len(g.receivers))
	if c.receiver != nil {
		used[c.receiver.index] = true
	}
	if m := c.handler.Merge; m != nil && m.Get.Receiver != nil {
		used[g.receiver(m.Get.Receiver).index] = true
	}
	if !slices.Contains(used, false) {
		return ""
	}
	var places []string
	for i, u := range used {
		if u {
			places = append(places, strconv.Itoa(i))
		}
	}
	return "[]int{" + strings.Join(places, ", ") + "}"
}

// methodSets writes an interface of the handlers of each generic receiver.
func (g *generator) methodSets(p *printer) {
	for _, r := range g.receivers {
		if !r.generic() {
			continue
		}
		p.line()
		p.comment(r.methods + " are the handlers among the methods of " + r.Type + " with any type arguments.")
		p.open("type ", r.methods, " interface {")
		for _, c := range g.calls {
			if c.receiver == r {
				p.line(c.handler.Func, strings.TrimPrefix(g.signatureOf(c.handler, nil), "func"))
			}
		}
		p.shut("}")
	}
}
