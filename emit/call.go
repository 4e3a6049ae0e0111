package emit

import (
	"strconv"

	"github.com/aqltag/aqltag/model"
)

// receiver is a type whose methods are handlers. NewRegistry takes one value of each.
type receiver struct {
	typeName string
	pointer  bool // some handler needs a pointer
	param    string
}

func (r *receiver) star() string {
	if r.pointer {
		return "*"
	}
	return ""
}

// call is an operation on its way into the file.
type call struct {
	handler    *model.Handler
	receiver   *receiver
	typeName   string
	definition string
}

// nameCalls finds the receivers and names what each operation needs.
func (g *generator) nameCalls() {
	g.wireTypes = g.names.unique("wireTypes")
	if g.names.used["NewRegistry"] {
		g.fail("package %s declares NewRegistry, which is the name of the generated constructor", g.pkg.Name)
	}
	g.names.used["NewRegistry"] = true
	for i := range g.pkg.Handlers {
		h := &g.pkg.Handlers[i]
		c := &call{handler: h}
		second := h.Func + "Operation"
		if h.Receiver != nil {
			c.receiver = g.receiver(h.Receiver)
			second = h.Receiver.Type + upperFirst(h.Func)
		}
		c.typeName = g.names.unique(lowerFirst(h.Func)+"Call", lowerFirst(second)+"Call")
		c.definition = g.names.unique(lowerFirst(h.Func)+"Definition", lowerFirst(second)+"Definition")
		g.calls = append(g.calls, c)
	}
}

func (g *generator) receiver(r *model.Receiver) *receiver {
	for _, known := range g.receivers {
		if known.typeName == r.Type {
			known.pointer = known.pointer || r.Pointer
			return known
		}
	}
	name := lowerFirst(r.Type)
	added := &receiver{typeName: r.Type, pointer: r.Pointer, param: g.names.unique(name, name+"Value")}
	g.receivers = append(g.receivers, added)
	return added
}

// call writes the type that carries one request: its state, and the methods of aql.Call.
func (g *generator) call(p *printer, c *call) {
	h := c.handler
	g.at = h.Func
	b := &body{generator: g, printer: p, title: upperFirst(h.Func)}
	var fields []model.Field
	if h.Request != nil {
		fields = h.Request.Fields
		b.title = g.title(h.Request)
	}
	b.base = "c.request"
	b.update = h.Operation.Category == model.Update
	b.track("c.seen", fields)

	p.comment(c.typeName + " is a request for " + h.Operation.Name + ".")
	var rows []column
	if c.receiver != nil {
		rows = append(rows, column{c.receiver.param, c.receiver.star() + c.receiver.typeName})
	}
	if h.Request != nil {
		rows = append(rows, column{"request", g.goType(h.Request)})
	}
	if b.seenType() != "" {
		rows = append(rows, column{"seen", b.seenType()})
	}
	if len(rows) == 0 {
		p.line("type ", c.typeName, " struct{}")
	} else {
		p.open("type ", c.typeName, " struct {")
		p.columns(rows, "")
		p.shut("}")
	}
	p.line()

	wire := g.names.use(pathWire, "wire")
	method := "func (c *" + c.typeName + ") "
	p.open(method, "Member(r *", wire, ".Reader) bool {")
	if len(fields) == 0 {
		p.line("return false")
	} else {
		b.members(fields, func() { p.line("return false") })
		p.line("return true")
	}
	p.shut("}")
	p.line()

	if b.tracked == 0 {
		p.emptyFunction(method + "Complete(*" + wire + ".Reader)")
	} else {
		p.open(method, "Complete(r *", wire, ".Reader) {")
		b.complete(fields)
		p.shut("}")
	}
	p.line()

	g.at = h.Func
	p.open(method, "Invoke(ctx ", g.names.use(pathContext, "context"), ".Context, w *", wire, ".Writer) error {")
	b.invoke(c)
	p.shut("}")
	p.line()
	g.at = ""
}

func (b *body) invoke(c *call) {
	h := c.handler
	function := h.Func
	if c.receiver != nil {
		function = "c." + c.receiver.param + "." + h.Func
	} else if isLocal(h.Func) {
		b.fail("the handler's name is one that generated code uses for a variable; rename it")
	}
	args := ""
	if h.Context {
		args = "ctx"
	}
	if h.Request != nil {
		if args != "" {
			args += ", "
		}
		if h.RequestPointer {
			args += "&"
		}
		args += "c.request"
	}
	invocation := function + "(" + args + ")"
	if h.Result == nil {
		b.open("if err := ", invocation, "; err != nil {")
		b.line("return err")
		b.shut("}")
		b.line("w.Null()")
		b.line("return nil")
		return
	}
	b.line("result, err := ", invocation)
	b.open("if err != nil {")
	b.line("return err")
	b.shut("}")
	b.writeResult(h.Result)
	b.line("return nil")
}

// writeResult writes what a handler returned. An agent sees a list as an object with items, which has room for more
// (requirements T-90).
func (b *body) writeResult(sh *model.Shape) {
	place, list := "result", sh
	for list.Kind == model.ShapePointer {
		place, list = "*"+place, list.Elem
	}
	if list.Kind != model.ShapeSlice && list.Kind != model.ShapeArray {
		b.write("result", sh)
		return
	}
	if sh.Kind == model.ShapePointer {
		b.open("if result == nil {")
		b.line("w.Null()")
		b.line("return nil")
		b.shut("}")
	}
	b.line("w.BeginObject()")
	b.line(`w.Key("items")`)
	b.write(place, list)
	b.line("w.EndObject()")
}

// seenType is the type of the bit set that tells which parameters were given.
func (b *body) seenType() string {
	switch words := (b.tracked + 63) / 64; words {
	case 0:
		return ""
	case 1:
		return "uint64"
	default:
		return "[" + strconv.Itoa(words) + "]uint64"
	}
}
