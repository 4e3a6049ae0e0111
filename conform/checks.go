package conform

import "strings"

// check is one row of the table of checks.
type check struct {
	name         string
	level        Level
	tier         int // the conformance level from which on the check is made
	category     Category
	requirements string // separated by spaces
	run          func(p *prober, rec *recorder)
	title        string
}

// checks returns the table of all checks in the order in which they are made. Harmless checks come first, and those of
// all answers of the run come last. The titles are part of the report.
func checks() []check {
	return []check{
		// What the server says about itself.
		{"introspect/protocol", Must, 1, Fidelity, "REQ-PM-01 REQ-PM-03", checkProtocol,
			"the list of operations says which version of the protocol is spoken"},
		{"introspect/claim", Should, 1, Fidelity, "REQ-PM-02", checkConformanceClaim,
			"the list of operations says which conformance level is claimed"},
		{"introspect/list-shape", Must, 1, Fidelity, "REQ-IN-03 REQ-IN-07", checkListShape,
			"the list of operations has the closed shape"},
		{"introspect/details-shape", Must, 1, Fidelity, "REQ-IN-09 REQ-IN-10 REQ-CL-07", checkDetailsShape,
			"operation details have the closed shape"},
		{"introspect/types-shape", Must, 1, Fidelity, "REQ-IN-04 REQ-TY-02 REQ-TY-03", checkTypesShape,
			"the list of types and their details have the closed shapes"},
		{"introspect/unique-names", Must, 1, Fidelity, "REQ-NM-07", checkUnique,
			"no two operations, types, parameters or fields share a name"},
		{"introspect/names", Must, 1, Fidelity, "REQ-NM-01 REQ-RF-07 REQ-CL-07", checkNames,
			"names of operations and parameters are snake_case"},
		{"introspect/agreement", Must, 1, Fidelity, "REQ-IN-11 REQ-IN-27", checkListAndDetailsAgree,
			"list and details of an operation agree"},
		{"introspect/types-resolve", Must, 1, Fidelity, "REQ-IN-13", checkTypesResolve,
			"every type that is named can be looked up"},
		{"introspect/permissions", Must, 1, Fidelity, "REQ-EP-03 REQ-EP-05", checkPermissions,
			"permissions follow from the category"},
		{"introspect/reserved-names", Must, 1, Fidelity, "REQ-NM-06", checkReserved,
			"reserved operations have their own category"},
		{"introspect/itself", Should, 1, Fidelity, "REQ-IN-01 REQ-IN-15", checkListsItself,
			"introspect lists itself"},
		{"introspect/unknown-name", Must, 1, Fidelity, "REQ-IN-05", checkUnknownName,
			"an unknown name is answered with null, not with an error"},
		{"introspect/unknown-query", Must, 1, Fidelity, "REQ-IN-06", checkUnknownQuery,
			"an unknown query is an error with code and message only"},
		{"introspect/stable", Should, 1, Fidelity, "REQ-IN-17", checkStable,
			"the same question has the same answer"},
		{"introspect/danger", Must, 1, Fidelity, "REQ-IN-29 REQ-DL-01", checkDanger,
			"danger levels are told where operations have them"},
		{"introspect/descriptions", Should, 1, Constraints, "REQ-IN-15", checkDescriptions,
			"every operation and parameter is described"},
		{"introspect/examples", Should, 1, Constraints, "REQ-IN-14", checkExamples,
			"every operation has examples, and they are requests to it"},

		// The tools that it lists.
		{"tools/names", Must, 1, Fidelity, "REQ-TL-05 REQ-TL-08 REQ-IN-09", checkToolNames,
			"operations say which tool they are called on, and it exists"},
		{"tools/descriptions", Must, 1, Fidelity, "REQ-TL-01", checkToolDescriptions,
			"every tool's description shows how to call introspect"},
		{"tools/schemas", Must, 1, Fidelity, "REQ-TL-11", checkToolSchemas,
			"every tool's input schema is an object with operation and params"},
		{"tools/annotations", Should, 1, Fidelity, "REQ-TL-09", checkAnnotations,
			"the annotations of a tool are those of its family"},
		{"tools/mode", Must, 1, Fidelity, "REQ-EP-01 REQ-PM-03", checkMode,
			"the mode that is told is the one that the tools show"},
		{"tools/redirects", Should, 1, Fidelity, "REQ-TL-01", checkRedirects,
			"the endpoint of the tools answers itself, and redirects nobody"},
		{"tools/families", Should, 1, Fidelity, "REQ-EP-06", checkFamilies,
			"a CRUDE adapter has a tool for every family"},

		// The parameters that it accepts and refuses.
		{"params/valid", Must, 1, Fidelity, "REQ-IN-11 REQ-CL-07", checkValid,
			"requests that follow introspection are not refused"},
		{"params/documented-accepted", Should, 1, Fidelity, "REQ-IN-12", checkDocumented,
			"every parameter that is documented is accepted"},
		{"params/undocumented", Must, 1, Fidelity, "REQ-IN-12 REQ-UK-10 REQ-RF-13", checkUndocumented,
			"no cross-cutting parameter is accepted that is not documented"},
		{"params/required", Must, 1, Parameters, "REQ-VO-02 REQ-CL-07 REQ-IN-12", checkRequired,
			"each required parameter that is missing is refused by name"},
		{"params/unknown", Must, 1, Parameters, "REQ-UK-01 REQ-UK-07", checkUnknown,
			"an unknown parameter is refused"},
		{"params/unknown-named", Must, 1, Parameters, "REQ-UK-02 REQ-CL-07", checkUnknownNamed,
			"all unknown parameters are named"},
		{"params/top-level", Must, 1, Parameters, "REQ-RF-05 REQ-UK-04", checkTopLevel,
			"parameters beside operation count, and those in params win"},
		{"params/metadata", Must, 1, Parameters, "REQ-RF-18 REQ-UK-05", checkMetadata,
			"keys that begin with an underscore are no parameters"},
		{"params/order", Must, 1, Parameters, "REQ-VO-02", checkOrder,
			"what is missing is told before what is unknown"},
		{"params/types", Must, 1, Parameters, "REQ-VO-05", checkTypes,
			"a value of another type is refused, and nothing is converted"},
		{"params/defaults", Must, 1, Parameters, "REQ-VO-11", checkDefaults,
			"the default that is documented is the one that works"},
		{"params/envelope", Must, 1, Parameters, "REQ-RF-02 REQ-RF-04", checkEnvelope,
			"what is no request is refused"},
		{"params/no-effect", Must, 1, Parameters, "REQ-UK-01 REQ-VO-02", checkNoEffect,
			"a refused request changes nothing"},

		// The constraints on values.
		{"params/enum", Must, 1, Parameters, "REQ-VO-06", checkEnum,
			"a value that is none of the documented ones is refused"},
		{"params/range", Must, 1, Parameters, "REQ-VO-07", checkRange,
			"a number beyond its documented bounds is refused"},
		{"params/pattern", Must, 1, Parameters, "REQ-VO-08", checkPattern,
			"text that does not match its documented pattern is refused"},
		{"params/length", Should, 1, Parameters, "REQ-VO-09", checkLength,
			"text that is shorter or longer than documented is refused"},
		{"params/items", Should, 1, Parameters, "REQ-VO-09", checkItems,
			"a list item of another type than documented is refused"},
		{"params/date-time", Must, 1, Parameters, "REQ-DE-05", checkDateTime,
			"a time that is not ISO 8601 is refused"},
		{"constraints/told", Should, 1, Constraints, "REQ-ER-07 REQ-ER-09", checkRefusals,
			"a refusal says which parameter is meant and what would do"},
		{"constraints/documented", Should, 1, Constraints, "REQ-IN-18", checkUndocumentedRules,
			"no constraint is enforced that introspection keeps to itself"},
		{"limits/depth", Must, 1, Parameters, "REQ-DE-10 REQ-DE-14", checkDepth,
			"the documented nesting limit holds"},

		// Endpoint families, tools and modes.
		{"endpoints/wrong", Must, 1, Parameters, "REQ-EP-04 REQ-CL-01", checkWrongEndpoint,
			"an operation on the tool of another family is refused"},
		{"endpoints/introspect", Must, 1, Parameters, "REQ-EP-04 REQ-IN-01", checkIntrospectOnOtherTools,
			"introspect is refused on the tools of other families"},
		{"endpoints/first", Must, 1, Parameters, "REQ-VO-01", checkEndpointFirst,
			"the wrong tool is told before wrong parameters"},
		{"endpoints/no-effect", Must, 1, Parameters, "REQ-EP-04", checkEndpointNoEffect,
			"an operation on the wrong tool changes nothing"},
		{"endpoints/right-tool", Should, 1, ErrorQuality, "REQ-TL-18", checkRightTool,
			"a refusal says which tool is the right one"},
		{"endpoints/unknown-operation", Must, 1, ErrorQuality, "REQ-RF-03 REQ-ER-03", checkUnknownOperation,
			"an operation that does not exist is told as such"},
		{"modes/both", Must, 2, Features, "REQ-CL-02 REQ-EP-08", checkBothModes,
			"the other endpoint mode is there, with the same operations"},

		// Batches.
		{"batch/supported", Should, 2, Features, "REQ-CL-02 REQ-BA-01 REQ-PM-04", checkBatchSupported,
			"batches are supported, and said to be"},
		{"batch/shape", Must, 2, Features, "REQ-BA-03 REQ-BA-06", checkBatchShape,
			"the answer to a batch has the closed shape"},
		{"batch/order", Must, 2, Features, "REQ-BA-03 REQ-BA-04", checkBatchOrder,
			"results come in the order of the requests, each with its index and operation"},
		{"batch/independent", Must, 2, Features, "REQ-BA-04", checkBatchIndependent,
			"a failure stops none of those behind it"},
		{"batch/envelope", Must, 2, Features, "REQ-BA-05", checkBatchEnvelope,
			"a batch with failures succeeds as a whole"},
		{"batch/summary", Must, 2, Features, "REQ-BA-03", checkBatchSummary,
			"the summary counts the results"},
		{"batch/same", Must, 2, Features, "REQ-BA-03 REQ-BA-06", checkBatchSame,
			"an operation answers in a batch as it does alone"},
		{"batch/malformed", Must, 2, Features, "REQ-BA-02 REQ-BA-13", checkBatchMalformed,
			"what is no batch is refused as a whole"},

		// Field selection.
		{"fields/supported", Should, 2, Features, "REQ-CL-02 REQ-PM-04", checkFieldsSupported,
			"field selection is supported, and said to be"},
		{"fields/only-requested", Must, 2, Features, "REQ-FS-01 REQ-FS-05", checkOnlyRequested,
			"only the fields that were asked for come back"},
		{"fields/nested", Must, 2, Features, "REQ-FS-02", checkNested,
			"a path selects a nested value, and keeps it nested"},
		{"fields/items", Must, 2, Features, "REQ-FS-05", checkFieldsOfItems,
			"in lists, fields select from each item and leave the page alone"},
		{"fields/presets", Must, 2, Features, "REQ-FS-01", checkPresets,
			"the presets minimal, standard and full are taken, each with no more than the next"},
		{"fields/malformed", Must, 2, Features, "REQ-FS-09", checkMalformedFields,
			"a path of another form is refused"},
		{"fields/unknown", Should, 2, Features, "REQ-FS-07", checkUnknownFields,
			"an unknown field is not passed over in silence"},
		{"fields/related", Should, 2, Features, "REQ-FS-02 REQ-IN-13", checkRelated,
			"what a resource is announced to lead to can be selected, whole and in part"},
		{"fields/related-unknown", Should, 2, Features, "REQ-FS-07", checkRelatedUnknown,
			"an unknown field of what a resource leads to is refused, and nothing else is told than what is announced"},
		{"fields/related-depth", Should, 2, Features, "REQ-RL-04", checkRelatedDepth,
			"a path through what resources lead to has an end"},

		{"fields/computed", Should, 2, Features, "REQ-CF-01 REQ-CF-04", checkComputed,
			"a computed field that is listed is under '_computed' where 'fields' names it, and not where it names others"},
		{"fields/computed-unknown", Should, 2, Features, "REQ-CF-01 REQ-FS-07", checkComputedUnknown,
			"a computed field that is not listed is not passed over in silence"},

		// Pagination.
		{"pages/advertised", Should, 2, Features, "REQ-PM-04", checkPages,
			"pagination is claimed where operations have cursors, and only there"},
		{"pages/size", Should, 2, Features, "REQ-CQ-07", checkPageSize,
			"a page has no more items than were asked for"},
		{"pages/offset", Should, 2, Features, "REQ-PG-09 REQ-PG-10 REQ-CQ-08", checkOffsets,
			"pages and offsets are told with the result"},
		{"pages/info", Must, 2, Features, "REQ-PG-03", checkPageInfo,
			"cursors come with pageInfo"},
		{"pages/conflicts", Must, 2, Features, "REQ-PG-01 REQ-PG-02", checkPageConflicts,
			"controls that contradict each other are refused"},
		{"pages/cursor", Must, 2, Features, "REQ-PG-05 REQ-PG-06", checkCursor,
			"a cursor leads on, and a made-up one is refused"},
		{"pages/changed-cursor", Should, 2, Features, "REQ-PG-06", checkChangedCursor,
			"a cursor that was changed is refused"},
		{"pages/backward", Must, 2, Features, "REQ-PG-01 REQ-PG-05", checkBackward,
			"the way back has the same pages as the way there"},
		{"pages/total", Should, 2, Features, "REQ-PG-03 REQ-PG-09 REQ-PG-10", checkTotals,
			"the total that is told is the number of items on all pages"},
		{"pages/clamp", Should, 2, Features, "REQ-PG-08", checkLargePages,
			"a page larger than the service has them is granted in part, not refused"},

		// Filters and orders of lists.
		{"collections/filter", Should, 2, Features, "REQ-CQ-05", checkFilterKeys,
			"a filter by a field that does not exist is refused"},
		{"collections/sort", Should, 2, Features, "REQ-CQ-06", checkSortFields,
			"an order by a field that does not exist is refused"},
		{"collections/summary", Should, 2, Features, "REQ-AG-02 REQ-AG-03", checkSummaries,
			"a summary counts the items of all pages, and comes alone"},
		{"collections/computed", Should, 2, Features, "REQ-CF-02 REQ-CF-03", checkComputedUses,
			"a filter or an order by a computed field that is not listed as one for it is refused"},

		// What query_relationships follows.
		{"relationships/depth", Should, 2, Features, "REQ-RL-05", checkRelationshipDepth,
			"a depth beyond the greatest that is documented is refused"},
		{"relationships/type", Should, 2, Features, "REQ-RL-01 REQ-RL-03", checkRelationshipType,
			"a type of relationships that is not documented is refused"},
		{"relationships/include", Should, 2, Features, "REQ-RL-02", checkRelationshipSections,
			"'include' leaves the sections that it names, and the root"},
		{"relationships/nodes", Should, 2, Features, "REQ-RL-04", checkRelationshipNodes,
			"no element is among the nodes of a graph twice"},
		{"relationships/edges", Should, 2, Features, "REQ-RL-02", checkRelationshipEdges,
			"both ends of each edge of a graph are among its nodes"},

		// What was written is read.
		{"roundtrip/create-read", Must, 1, RoundTrip, "REQ-RS-08", checkCreateRead,
			"what was created reads back as it was sent"},
		{"roundtrip/update-applies", Must, 1, RoundTrip, "REQ-UP-07", checkUpdateApplies,
			"what was updated reads back with its new value"},
		{"roundtrip/update-preserves", Must, 1, RoundTrip, "REQ-UP-11", checkUpdatePreserves,
			"what an update does not name stays as it was"},
		{"roundtrip/deep-merge", Must, 1, RoundTrip, "REQ-UP-07 REQ-UP-11", checkDeepMerge,
			"what an update does not name inside an object stays as it was"},
		{"roundtrip/arrays-replace", Must, 1, RoundTrip, "REQ-UP-07", checkArraysReplace,
			"an update replaces a list whole"},
		{"roundtrip/null-removes", Must, 1, RoundTrip, "REQ-UP-07 REQ-UP-09", checkNullRemoves,
			"null in an update removes"},

		// Updates.
		{"update/input", Must, 1, Parameters, "REQ-UP-01 REQ-UP-02", checkUpdateInput,
			"UPDATE operations take what changes in a required object 'input'"},
		{"update/unknown-field", Should, 1, Parameters, "REQ-UP-05 REQ-UK-09", checkUnknownField,
			"an unknown field of 'input' is refused by name"},
		{"update/identifier", Must, 1, Parameters, "REQ-UP-06", checkIdentifierInInput,
			"an identifier inside 'input' is refused"},
		{"update/read-only", Should, 1, Parameters, "REQ-UP-12", checkReadOnlyFields,
			"a field that says it is read-only is not written"},
		{"update/field-types", Must, 1, Parameters, "REQ-UP-04", checkFieldTypes,
			"fields of 'input' are held against their types"},
		{"update/if-match", Should, 1, Parameters, "REQ-CC-04", checkIfMatch,
			"an update for another version is refused and changes nothing"},

		// Confirmation of destructive operations.
		{"confirm/asks", Must, 1, Features, "REQ-CT-04 REQ-DL-04", checkConfirmationRequired,
			"what is destructive asks for confirmation first"},
		{"confirm/token", Must, 1, Features, "REQ-CT-01 REQ-CT-07", checkToken,
			"the token has the form of one, and an end"},
		{"confirm/no-effect", Must, 1, Features, "REQ-CT-04", checkConfirmNoEffect,
			"nothing is destroyed before it is confirmed"},
		{"confirm/unknown", Must, 1, Features, "REQ-CT-06", checkUnknownToken,
			"a token that was never given is refused"},
		{"confirm/scope", Must, 1, Features, "REQ-CT-03 REQ-CT-06", checkTokenScope,
			"a token is not good for other parameters"},
		{"confirm/redeems", Must, 1, Features, "REQ-CT-05 REQ-CT-06", checkTokenRedeemed,
			"a token lets the same request through"},
		{"confirm/once", Must, 1, Features, "REQ-CT-09 REQ-CT-10", checkTokenUsedOnce,
			"a token is good once"},
		{"confirm/batch", Should, 2, Features, "REQ-BA-08 REQ-BA-09 REQ-BA-11", checkBatchConfirmation,
			"a batch stops where confirmation is needed, or passes it over, and says so"},

		// Every answer of the run.
		{"errors/not-found", Must, 1, ErrorQuality, "REQ-ER-03", checkNotFound,
			"reading what does not exist is told as such"},
		{"errors/in-band", Must, 1, ErrorQuality, "REQ-RS-06 REQ-RS-07 REQ-VO-04", checkInBand,
			"what is wrong with a request is told in the answer, not by the transport"},
		{"errors/shape", Must, 1, ErrorQuality,
			"REQ-RS-01 REQ-RS-02 REQ-RS-03 REQ-RS-04 REQ-RS-05 REQ-MT-04 REQ-ER-01", checkAnswers,
			"every answer has the discriminated, closed shape"},
		{"errors/codes", Must, 1, ErrorQuality, "REQ-ER-02", checkCodes,
			"error codes begin with a registered category"},
		{"errors/leaks", Must, 1, ErrorQuality, "REQ-ER-08 REQ-ER-14", checkLeaks,
			"no message shows what the server is made of"},
		{"errors/is-error", Must, 1, ErrorQuality, "REQ-TL-13 REQ-TL-14", checkIsError,
			"isError is for what a client cannot mend"},
		{"errors/details", Should, 1, ErrorQuality, "REQ-ER-07", checkDetails,
			"validation errors carry details"},
		{"errors/internal", Should, 1, ErrorQuality, "REQ-ER-03", checkInternal,
			"no sound request ends in an internal error"},
	}
}

// CheckInfo describes a check before it is made.
type CheckInfo struct {
	Name, Title  string
	Requirements []string // ids in docs/requirements.md
	Level        Level
	Tier         int // the conformance level from which on the check is made
	Category     Category
}

// Checks lists all checks in the order in which they are made.
func Checks() []CheckInfo {
	var all []CheckInfo
	for _, c := range checks() {
		all = append(all, CheckInfo{c.name, c.title, strings.Fields(c.requirements), c.level, c.tier, c.category})
	}
	return all
}
