package describe

import "github.com/aqltag/aqltag/runtime/gen"

// Version is the version of MCP-AQL that introspection reports (MCP-AQL introspection §4.1.1).
const Version = "1.0.0-draft"

// Protocol is the _protocol metadata of the operations list (MCP-AQL introspection §4.1.1). The adapter must keep what
// it claims.
type Protocol struct {
	Conformance           string // level-1 or level-2 (MCP-AQL core §10); empty: not claimed
	Capabilities          Capabilities
	Limits                Limits
	Concurrency           string // concurrency model (MCP-AQL core §9.3.1); empty: not stated
	SupportsETag          bool
	HumanOnly             bool        // no confirmation token counts, only the answer of a human
	Inbox                 bool        // what a human has to answer waits for one where the client cannot ask
	MaxConcurrentRequests int         // 0: not stated
	SafetyLoop            *SafetyLoop // nil: there is none, or it evaluates nothing
	// Gate returns what an operation requires besides valid parameters. nil: nothing.
	Gate func(o *gen.Operation) Gating
	// Queries are the queries that introspect answers in addition to operations and types, such as adapter_info.
	Queries []string
}

// Gating is what an operation requires besides valid parameters, as far as that does not depend on the request.
type Gating int

// The values of Gating, in rising order.
const (
	Ungated            Gating = iota
	SometimesConfirmed        // confirmation, for some callers or parameters
	ConfirmedUnlessDry        // confirmation, unless the request asks for a dry run
	Confirmed                 // confirmation (MCP-AQL confirmation tokens)
	SometimesApproved         // the answer of a human, for some callers or parameters; no token counts
	ApprovedUnlessDry         // the answer of a human, unless the request asks for a dry run
	Approved                  // the answer of a human
	Denied                    // the adapter's trust level denies the operation to all callers
)

// confirms reports whether the operation accepts a confirmation token.
func (g Gating) confirms() bool { return SometimesConfirmed <= g && g <= Confirmed }

// note returns the note for agents; empty: there is none.
func (g Gating) note() string {
	return [...]string{
		"", "confirmation may be required", "confirmation required unless it is a dry run", "confirmation required",
		"confirmation may be required from the user", "confirmation required from the user unless it is a dry run",
		"confirmation required from the user",
		"denied for this adapter's trust level",
	}[g]
}

// Capabilities are the optional features of an adapter (MCP-AQL introspection §4.1.1).
type Capabilities struct {
	Batch               bool `json:"batch"`
	FieldSelection      bool `json:"field_selection"`
	Aggregations        bool `json:"aggregations"`
	ComputedFields      bool `json:"computed_fields"`
	Pagination          bool `json:"pagination"`
	RelationshipQueries bool `json:"relationship_queries"`
	Warnings            bool `json:"warnings"`
	Confirmation        bool `json:"confirmation"`
	DangerousOperations bool `json:"dangerous_operations"`
	// ExecutionSafetyLoop is enforcing, monitoring, logging or disabled; empty: there is none.
	ExecutionSafetyLoop string `json:"execution_safety_loop,omitempty"`
}

// SafetyLoop is how the execution safety loop of an adapter is configured (MCP-AQL core §8.7.4). It has no patterns:
// they would tell an agent how to word what it does.
type SafetyLoop struct {
	MaxSteps      int    `json:"max_autonomous_steps"`
	RiskTolerance string `json:"risk_tolerance"`
	Block         string `json:"block"` // caller or agent: whom a hard block stops
	// Channel is the strength of the channel on which people are shown codes; none: there is no such channel.
	Channel          string   `json:"channel"`
	ChallengeSeconds int      `json:"challenge_seconds"`
	Configurable     []string `json:"configurable"`
}

// Limits are the limits that an adapter enforces (MCP-AQL core §4.7.5). A limit of zero is not reported.
type Limits struct {
	RequestSize   int `json:"max_request_size,omitempty"`  // bytes
	ResponseSize  int `json:"max_response_size,omitempty"` // bytes
	StringLength  int `json:"max_string_length,omitempty"` // bytes
	ArrayElements int `json:"max_array_elements,omitempty"`
	NestingDepth  int `json:"max_nesting_depth,omitempty"` // levels; the root object is the first
}

// protocolInfo is the _protocol object.
type protocolInfo struct {
	Version               string       `json:"version"`
	Conformance           string       `json:"conformance,omitempty"`
	Mode                  Mode         `json:"mode,omitempty"` // one of the protocol
	Profile               string       `json:"profile"`
	Capabilities          Capabilities `json:"capabilities"`
	Limits                *Limits      `json:"limits,omitempty"`
	Concurrency           string       `json:"concurrency,omitempty"`
	SupportsETag          bool         `json:"supports_etag"`
	MaxConcurrentRequests int          `json:"max_concurrent_requests,omitempty"`
	// Extensions name what is not in the protocol (MCP-AQL core §10.3).
	Extensions   []string              `json:"extensions,omitempty"`
	DangerLevels map[string]gen.Danger `json:"danger_levels,omitempty"`
	SafetyLoop   *SafetyLoop           `json:"safety_loop,omitempty"`
	Summary      *summaryInfo          `json:"summary,omitempty"`
}

// The extensions of the protocol that an adapter may have.
const (
	extensionDangerLevels = "danger_levels" // _protocol.danger_levels
	extensionFieldsQuery  = "fields_query"  // introspect answers FieldsQuery
	extensionDiscrete     = "discrete_mode" // each operation is a tool
	extensionSafetyLoop   = "safety_loop"   // _protocol.safety_loop
	extensionSelection    = "selection"     // introspect answers DetailsQuery, and selects operations
)

func (p Protocol) info(a *gen.Definitions, s Surface) protocolInfo {
	info := protocolInfo{
		Version: Version, Conformance: p.Conformance, Mode: s.Mode, Profile: s.Profile.Name, Capabilities: p.Capabilities,
		Concurrency: p.Concurrency, SupportsETag: p.SupportsETag, MaxConcurrentRequests: p.MaxConcurrentRequests,
	}
	if s.Mode == Discrete {
		info.Mode, info.Extensions = "", append(info.Extensions, extensionDiscrete)
	}
	if p.Limits != (Limits{}) {
		info.Limits = &p.Limits
	}
	for i := range a.Operations {
		if o := &a.Operations[i]; namesDanger(o) {
			if info.DangerLevels == nil {
				info.DangerLevels = make(map[string]gen.Danger)
			}
			info.DangerLevels[o.Name] = o.Danger
		}
	}
	info.Extensions = append(info.Extensions, extensionSelection)
	if info.DangerLevels != nil {
		info.Extensions = append(info.Extensions, extensionDangerLevels)
	}
	if info.SafetyLoop = p.SafetyLoop; info.SafetyLoop != nil {
		info.Extensions = append(info.Extensions, extensionSafetyLoop)
	}
	if ShowsFields(a) {
		info.Extensions = append(info.Extensions, extensionFieldsQuery)
	}
	return info
}

// namesDanger reports whether _protocol.danger_levels has an operation: one that is destructive or worse, or that reads
// and is not safe. Details say the level of every operation.
func namesDanger(o *gen.Operation) bool {
	level := o.Danger.Level()
	return level >= gen.Destructive.Level() || level > 0 && o.Category == gen.Read
}

// Confirms reports whether an operation may require confirmation.
func (p Protocol) Confirms(o *gen.Operation) bool { return p.gating(o).confirms() }

// Approves reports whether an operation may require the answer of a human, and takes no token.
func (p Protocol) Approves(o *gen.Operation) bool {
	gated := p.gating(o)
	return SometimesApproved <= gated && gated <= Approved
}

func (p Protocol) gating(o *gen.Operation) Gating {
	if p.Gate == nil {
		return Ungated
	}
	switch gated := p.Gate(o); {
	case !p.HumanOnly && o.TypeToConfirm == "":
		return gated
	case !p.HumanOnly && gated == ConfirmedUnlessDry:
		return ApprovedUnlessDry
	case gated == SometimesConfirmed:
		return SometimesApproved
	case gated.confirms():
		return Approved
	default:
		return gated
	}
}
