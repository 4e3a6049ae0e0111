package scan

import (
	"path/filepath"

	"github.com/aqltag/aqltag/internal/scan/wiretype"
	"github.com/aqltag/aqltag/model"
)

// placesOf returns where the parameters of operations, and the types with their fields, are declared in a directory. It
// leaves out what is declared elsewhere.
func placesOf(dir string, types *wiretype.Set, handlers []handled) map[string]model.Position {
	places := make(map[string]model.Position)
	add := func(name string, p model.Position) {
		if p.File != "" && filepath.Dir(p.File) == dir {
			places[name] = p
		}
	}
	for _, h := range handlers {
		for _, field := range h.request.Fields {
			add(h.Operation.Name+"."+field.Param.Name, field.Position)
		}
	}
	types.Declared(add)
	return places
}
