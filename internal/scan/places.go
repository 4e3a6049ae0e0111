package scan

import (
	"go/types"
	"path/filepath"

	"github.com/aqltag/aqltag/model"
)

// places notes where the parameters of operations and the types with their fields are declared in a directory. What is
// declared elsewhere is left out.
func (w *wireTypes) places(dir string, handlers []handled) map[string]model.Position {
	places := make(map[string]model.Position)
	note := func(name string, p model.Position) {
		if p.File != "" && filepath.Dir(p.File) == dir {
			places[name] = p
		}
	}
	fields := func(owner string, shape *model.Shape) {
		for _, field := range shape.Fields {
			note(owner+"."+field.Param.Name, field.Position)
		}
	}
	for _, h := range handlers {
		fields(h.Operation.Name, h.request)
	}
	for _, t := range w.all {
		if named, ok := types.Unalias(w.goTypes[t.key.shape]).(*types.Named); ok {
			note(t.name, w.position(named.Obj().Pos()))
		}
		fields(t.name, t.key.shape)
	}
	return places
}
