package describe

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Usual is what an adapter of this run time says about itself where its options say nothing: batches, warnings and
// confirmation before everything destructive, the standard limits, calls side by side. Exports show it, since the options of
// a process are not in its definitions.
func Usual(a *gen.Adapter) Protocol {
	selects := slices.ContainsFunc(a.Operations, func(o gen.Operation) bool {
		return slices.ContainsFunc(o.Params, func(p gen.Param) bool { return p.Type == gen.TypeSelection })
	})
	conformance := "level-1"
	if selects {
		conformance = "level-2"
	}
	return Protocol{
		Conformance: conformance,
		Capabilities: Capabilities{
			Batch: true, FieldSelection: selects, Warnings: true, Confirmation: true, DangerousOperations: true,
		},
		Limits: Limits{
			RequestSize: 1 << 20, ResponseSize: 10 << 20, StringLength: 1 << 20, ArrayElements: 10_000, NestingDepth: 32,
		},
		Concurrency: "fully-concurrent",
		Gate:        Usually,
	}
}
