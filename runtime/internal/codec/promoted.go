package codec

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Promoted returns which fields of results are those of structs that other structs of results embed: by the field of
// the embedded struct, the fields of the structs that embed it, all as Type.field.
func Promoted(results []*Result, types map[string]*gen.Type) map[string][]string {
	structs := make(map[structKey]bool)
	seen := make(map[*encoder]bool)
	for _, result := range results {
		addStructs(result.value, structs, seen)
	}
	names := make(map[reflect.Type][]string)
	for key := range structs {
		names[key.goType] = append(names[key.goType], key.name)
	}
	promoted := make(map[string][]string)
	for key := range structs {
		fields := types[key.name].Fields
		for i := range fields {
			p := &fields[i]
			t := key.goType
			for path := p.Go; strings.Contains(path, "."); {
				var name string
				name, path, _ = strings.Cut(path, ".")
				f, _ := direct(pointee(t), name)
				t = pointee(f.Type)
				for _, embedded := range names[t] {
					if of := fieldAt(types[embedded].Fields, path, p.Constant); of != nil {
						whole := embedded + "." + of.Name
						promoted[whole] = append(promoted[whole], key.name+"."+p.Name)
					}
				}
			}
		}
	}
	for _, name := range slices.Collect(maps.Keys(promoted)) {
		slices.Sort(promoted[name])
		promoted[name] = slices.Compact(promoted[name])
	}
	return promoted
}

// addStructs adds the structs in the values of an encoder.
func addStructs(n *encoder, to map[structKey]bool, seen map[*encoder]bool) {
	for ; n != nil && !seen[n]; n = n.elem {
		seen[n] = true
		if n.kind != kindStruct {
			continue
		}
		key := structKey{n.goType, n.object.name}
		if to[key] {
			return
		}
		to[key] = true
		for i := range n.object.fields {
			addStructs(n.object.fields[i].value, to, seen)
		}
	}
}

func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// fieldAt finds the field with a Go path, and with a constant where it describes the data there.
func fieldAt(fields []gen.Param, path, constant string) *gen.Param {
	i := slices.IndexFunc(fields, func(p gen.Param) bool { return p.Go == path && p.Constant == constant })
	if i < 0 {
		return nil
	}
	return &fields[i]
}
