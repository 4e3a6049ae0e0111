package describe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostResources is how many resources a summary names: those with the most operations.
const mostResources = 40

// summaryInfo is in _protocol in place of the operations, of which there are too many.
type summaryInfo struct {
	Operations int            `json:"operations"`
	Resources  map[string]int `json:"resources"` // how many operations each has
	Others     int            `json:"other_resources,omitempty"`
	Next       string         `json:"next"`
}

// overviewOf returns the operations list with a summary. It has only the built-in operations.
func overviewOf(operations []*gen.Operation, protocol protocolInfo, s Surface, p Protocol) operationsList {
	builtIns := slices.Clone(operations)
	builtIns = slices.DeleteFunc(builtIns, func(o *gen.Operation) bool { return !s.isBuiltIn(o.Name) })
	protocol.DangerLevels = nil
	protocol.Summary = summaryOf(operations[len(builtIns):])
	return listOf(builtIns, protocol, s, p)
}

func summaryOf(operations []*gen.Operation) *summaryInfo {
	counts := make(map[string]int)
	for _, o := range operations {
		counts[resourceOf(o)]++
	}
	info := &summaryInfo{
		Operations: len(operations), Resources: counts, Others: max(len(counts)-mostResources, 0),
		Next: fmt.Sprintf("%s, %s: too many to list; introspect again with search (words for the task), prefix, category or "+
			"danger, or go through all with first and after",
			words.Count(len(counts), "resource"), words.Count(len(operations), "operation")),
	}
	if info.Others > 0 {
		largest := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		})
		for _, name := range largest[mostResources:] {
			delete(counts, name)
		}
	}
	return info
}

// resourceOf returns the resource of an operation: the word behind the verb of its name, in the singular (MCP-AQL core
// §8.5.2).
func resourceOf(o *gen.Operation) string {
	_, resource, _ := strings.Cut(o.Name, "_")
	resource, _, _ = strings.Cut(resource, "_")
	if resource == "" {
		return o.Name
	}
	switch {
	case strings.HasSuffix(resource, "ies"):
		return strings.TrimSuffix(resource, "ies") + "y"
	case strings.HasSuffix(resource, "ss"), strings.HasSuffix(resource, "us"), strings.HasSuffix(resource, "is"):
		return resource
	}
	return strings.TrimSuffix(resource, "s")
}
