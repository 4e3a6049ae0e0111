package generate

import (
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Adapter joins the operations and types of packages, as an adapter of all of them would. It goes by the name of the
// first package. The error names the packages that cannot be joined.
func Adapter(packages []model.Package) (*gen.Definitions, error) {
	adapter := new(gen.Definitions)
	owners := make(map[string]string) // of operations
	parts := make([]gen.Definitions, len(packages))
	for i := range packages {
		pkg := &packages[i]
		for _, h := range pkg.Handlers {
			name := h.Operation.Name
			if first, taken := owners[name]; taken {
				return nil, fmt.Errorf("%s and %s both have an operation %s; name the packages of one adapter", first, pkg.Path,
					name)
			}
			owners[name] = pkg.Path
			parts[i].Operations = append(parts[i].Operations, h.Operation)
		}
		parts[i].Types = pkg.Types
		parts[i].Relations = pkg.RelationDefinitions()
		adapter.Description = strings.TrimSpace(adapter.Description + " " + pkg.Description)
	}
	parts, err := gen.Qualify(parts) // as aql.Merge does
	if err != nil {
		return nil, fmt.Errorf("joining the packages of one adapter: %w", err)
	}
	known := make(map[string]bool)
	for _, part := range parts {
		adapter.Operations = append(adapter.Operations, part.Operations...)
		adapter.Relations = append(adapter.Relations, part.Relations...)
		for _, t := range part.Types {
			if !known[t.Name] {
				adapter.Types = append(adapter.Types, t)
			}
			known[t.Name] = true
		}
	}
	gen.AddRelationships(adapter)
	gen.AddExecutions(adapter)
	if len(packages) > 0 {
		adapter.Name = packages[0].Name
	}
	return adapter, nil
}
