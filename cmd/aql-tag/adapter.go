package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// adapterOf puts the operations and types of packages together, as an adapter of all of them would. A code other than -1 ends
// the command; by then everything has been said.
func adapterOf(env *environment, patterns []string, packages []model.Package) (*model.Adapter, int) {
	adapter := new(model.Adapter)
	sources := make(map[string]string)
	types := make(map[string]*model.Type)
	for i := range packages {
		pkg := &packages[i]
		for _, h := range pkg.Handlers {
			name := h.Operation.Name
			if first, taken := sources[name]; taken {
				fmt.Fprintf(env.stderr, "aql-tag: %s and %s both have an operation %s; name the packages of one adapter\n", first, pkg.Path, name)
				return nil, exitUsage
			}
			sources[name] = pkg.Path
			adapter.Operations = append(adapter.Operations, h.Operation)
		}
		for k := range pkg.Types {
			t := &pkg.Types[k]
			if first, taken := types[t.Name]; taken {
				if !reflect.DeepEqual(first, t) {
					fmt.Fprintf(env.stderr, "aql-tag: %s has another type %s than the packages before; name the packages of one adapter\n", pkg.Path, t.Name)
					return nil, exitUsage
				}
				continue
			}
			types[t.Name] = t
			adapter.Types = append(adapter.Types, *t)
		}
	}
	if len(adapter.Operations) == 0 {
		fmt.Fprintf(env.stderr, "aql-tag: no operations in %s\n", strings.Join(patterns, " "))
		return nil, exitUsage
	}
	return adapter, -1
}
