package gen

// Only returns the definitions of the operations that keep reports, with the types that they mention. An operation that
// names one of the others as its replacement is deprecated without one.
func (a *Definitions) Only(keep func(*Operation) bool) Definitions {
	only := Definitions{Name: a.Name, Version: a.Version}
	removed := make(map[string]bool)
	for i := range a.Operations {
		if o := &a.Operations[i]; keep(o) {
			only.Operations = append(only.Operations, *o)
		} else {
			removed[o.Name] = true
		}
	}
	if len(removed) == 0 {
		return *a
	}
	for i := range only.Operations {
		if o := &only.Operations[i]; removed[o.Replacement] {
			o.Replacement = ""
			if o.Deprecated == "" {
				o.Deprecated = "it has no replacement here"
			}
		}
	}
	reached := only.reached(a.Types)
	for i := range a.Types {
		if reached[a.Types[i].Name] {
			only.Types = append(only.Types, a.Types[i])
		}
	}
	return only
}

// reached returns the names of the types that the operations mention, directly or in other types.
func (a *Definitions) reached(types []Type) map[string]bool {
	r := reach{types: make(map[string]*Type, len(types)), reached: make(map[string]bool)}
	for i := range types {
		r.types[types[i].Name] = &types[i]
	}
	for i := range a.Operations {
		r.params(a.Operations[i].Params)
		r.name(a.Operations[i].Returns.Name)
	}
	return r.reached
}

// reach collects the types that can be reached.
type reach struct {
	types   map[string]*Type
	reached map[string]bool
}

func (r *reach) name(name string) {
	t := r.types[name]
	if t == nil || r.reached[name] {
		return
	}
	r.reached[name] = true
	r.params(t.Fields)
	if t.Items != nil {
		r.param(t.Items)
	}
	for _, member := range t.Members {
		r.name(member)
	}
	r.name(t.Changes)
}

func (r *reach) params(params []Param) {
	for i := range params {
		r.param(&params[i])
	}
}

func (r *reach) param(p *Param) {
	for ; p != nil; p = p.Items {
		r.name(p.Type)
	}
}
