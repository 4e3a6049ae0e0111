package generate

import (
	"fmt"
	"reflect"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Adapter joins the operations and types of packages, as an adapter of all of them would. It goes by the name of the
// first package. The error names the packages that cannot be joined.
func Adapter(packages []model.Package) (*gen.Definitions, error) {
	adapter := new(gen.Definitions)
	owners := make(map[string]string) // of operations
	types := make(map[string]*gen.Type)
	for i := range packages {
		pkg := &packages[i]
		for _, h := range pkg.Handlers {
			name := h.Operation.Name
			if first, taken := owners[name]; taken {
				return nil, fmt.Errorf("%s and %s both have an operation %s; name the packages of one adapter", first, pkg.Path,
					name)
			}
			owners[name] = pkg.Path
			adapter.Operations = append(adapter.Operations, h.Operation)
		}
		for k := range pkg.Types {
			t := &pkg.Types[k]
			if first, taken := types[t.Name]; !taken {
				types[t.Name] = t
				adapter.Types = append(adapter.Types, *t)
			} else if !reflect.DeepEqual(first, t) {
				return nil, fmt.Errorf("%s has another type %s than the packages before; name the packages of one adapter",
					pkg.Path, t.Name)
			}
		}
	}
	if len(packages) > 0 {
		adapter.Name = packages[0].Name
	}
	return adapter, nil
}
