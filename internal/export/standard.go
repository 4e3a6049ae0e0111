package export

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// StandardProtocol returns the _protocol metadata of an adapter that runs with standard options: batches, warnings, the
// standard limits, concurrent calls, and a confirmation before every destructive operation. It claims level 2 only for
// definitions with field selection (MCP-AQL core §10).
func StandardProtocol(a *gen.Definitions) describe.Protocol {
	selection := a.SelectsFields()
	conformance := "level-1"
	if selection {
		conformance = "level-2"
	}
	return describe.Protocol{
		Conformance: conformance,
		Capabilities: describe.Capabilities{
			Batch: true, FieldSelection: selection, Aggregations: a.Aggregates(),
			ComputedFields: a.Computes(), Pagination: a.Paginates(),
			RelationshipQueries: a.FollowsRelationships(), Warnings: true, Confirmation: true, DangerousOperations: true,
		},
		Limits: describe.Limits{
			RequestSize: 1 << 20, ResponseSize: 10 << 20, StringLength: 1 << 20, ArrayElements: 10_000, NestingDepth: 32,
		},
		Concurrency: "fully-concurrent",
		Gate: func(o *gen.Operation) describe.Gating {
			switch dry := slices.ContainsFunc(o.Params, func(p gen.Param) bool { return p.DryRun }); {
			case NeedsConfirmation(o) && dry:
				return describe.ConfirmedUnlessDry
			case NeedsConfirmation(o):
				return describe.Confirmed
			}
			return describe.Ungated
		},
	}
}

// NeedsConfirmation reports whether an operation needs a confirmation under standard options: one that is destructive
// or worse does (MCP-AQL danger levels §3).
func NeedsConfirmation(o *gen.Operation) bool { return o.Danger.Level() >= gen.Destructive.Level() }

// TakesToken reports whether a token confirms calls of an operation under standard options.
func TakesToken(o *gen.Operation) bool { return NeedsConfirmation(o) && o.TypeToConfirm == "" }
