package compat_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/internal/export/introspection"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// service is an adapter with one of everything that can change.
type service struct {
	adapter  gen.Definitions
	surface  describe.Surface
	protocol describe.Protocol
}

func newService() *service {
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		panic(err)
	}
	return &service{
		adapter: gen.Definitions{
			Operations: []gen.Operation{
				{
					Name: "list_notes", Category: gen.Read, Danger: gen.Safe, Description: "Lists notes.",
					Returns: gen.Returns{Name: "NotePage", Kind: gen.KindObject},
					Params: []gen.Param{
						{Name: "limit", Type: "integer", Default: "25", Minimum: "1", Maximum: "100"},
						{Name: "color", Type: "Color", Enum: []string{"red", "blue"}},
						{Name: "shape", Type: "string", Enum: []string{"round", "square"}},
						{Name: "query", Type: "string", MinLength: 1, MaxLength: 100, Pattern: "^[a-z]+$", Aliases: []string{"q"}},
						{Name: "tags", Type: "array", MinItems: 1, MaxItems: 20, Items: &gen.Param{Type: "string", MaxLength: 10}},
						{Name: "labels", Type: "object", Items: &gen.Param{Type: "string"}},
						{Name: "since", Type: "string", Format: "date"},
						{Name: "filter", Type: "Filter"},
					},
				},
				{
					Name: "delete_note", Category: gen.Delete, Danger: gen.Destructive, Description: "Removes a note.",
					Params: []gen.Param{{Name: "note_id", Type: "string", Required: true}},
				},
			},
			Types: []gen.Type{
				{Name: "Color", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "red"}, {Value: "blue"}}},
				{Name: "Filter", Kind: gen.KindObject, Fields: []gen.Param{{Name: "owner", Type: "string"}}},
				{Name: "NotePage", Kind: gen.KindObject,
					Fields: []gen.Param{{Name: "items", Type: "array", Items: &gen.Param{Type: "Note"}}}},
				{Name: "Note", Kind: gen.KindObject, Fields: []gen.Param{
					{Name: "note_id", Type: "string", Presets: []string{"minimal"}, ReadOnly: true},
					{Name: "color", Type: "Color"},
					{Name: "next", Type: "Note"},
				}},
			},
		},
		surface: describe.Surface{Mode: describe.Semantic, Profile: profile},
		protocol: describe.Protocol{
			Conformance:  "level-2",
			Capabilities: describe.Capabilities{Batch: true, Confirmation: true, DangerousOperations: true},
			Limits:       describe.Limits{RequestSize: 1000},
			Concurrency:  "fully-concurrent", SupportsETag: true, MaxConcurrentRequests: 8,
			Gate: func(o *gen.Operation) describe.Gating {
				if o.Danger.Level() >= gen.Destructive.Level() {
					return describe.Confirmed
				}
				return describe.Ungated
			},
			Queries: []string{"adapter_info"},
		},
	}
}

func (s *service) snapshot(t testing.TB) *compat.Snapshot {
	t.Helper()
	document, err := introspection.Snapshot(&s.adapter, s.surface, s.protocol)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := compat.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func (s *service) operation(name string) *gen.Operation {
	o, _ := s.adapter.Operation(name)
	return o
}

func (s *service) param(name string) *gen.Param {
	p, _ := s.operation("list_notes").Param(name)
	return p
}

func (s *service) typ(name string) *gen.Type {
	t, _ := s.adapter.Type(name)
	return t
}

// brief is a change as the table tells it: class, kind and where.
func brief(c compat.Change) string {
	where := cmp.Or(c.Operation, c.Type, "_protocol")
	if c.Path != "" {
		where += " " + c.Path
	}
	return fmt.Sprintf("%s %s %s", c.Class, c.Kind, where)
}

func briefs(changes []compat.Change) []string {
	texts := []string{}
	for _, c := range changes {
		texts = append(texts, brief(c))
	}
	slices.Sort(texts)
	return texts
}

// Every kind of change, in the direction that the name tells, and what the way back is.
var changes = []struct {
	name       string
	edit       func(s *service)
	there, ago []string
}{
	{"an operation is removed", func(s *service) { s.adapter.Operations = s.adapter.Operations[:1] },
		[]string{"breaking operation-removed delete_note"}, []string{"compatible operation-added delete_note"}},
	{"an operation is renamed", func(s *service) { s.operation("delete_note").Name = "remove_note" },
		[]string{"breaking operation-removed delete_note", "compatible operation-added remove_note"},
		[]string{"breaking operation-removed remove_note", "compatible operation-added delete_note"}},
	{"an operation changes its category", func(s *service) { s.operation("list_notes").Category = gen.Execute },
		[]string{"breaking category-changed list_notes semantic_category"},
		[]string{"breaking category-changed list_notes semantic_category"}},
	{"a required parameter is added",
		func(s *service) { s.addParam(gen.Param{Name: "owner", Type: "string", Required: true}) },
		[]string{"breaking parameter-added list_notes params.owner"},
		[]string{"breaking parameter-removed list_notes params.owner"}},
	{"an optional parameter is added", func(s *service) { s.addParam(gen.Param{Name: "owner", Type: "string"}) },
		[]string{"compatible parameter-added list_notes params.owner"},
		[]string{"breaking parameter-removed list_notes params.owner"}},
	{"a parameter becomes required, its default going with it",
		func(s *service) { s.param("limit").Required, s.param("limit").Default = true, "" },
		[]string{"breaking became-required list_notes params.limit"},
		[]string{"compatible became-optional list_notes params.limit"}},
	{"a parameter gets another name and keeps the old one",
		func(s *service) { s.param("query").Name, s.param("query").Aliases = "text", []string{"query", "q"} },
		[]string{"compatible parameter-renamed list_notes params.query"},
		[]string{"breaking parameter-renamed list_notes params.text"}},
	{"an alias is removed", func(s *service) { s.param("query").Aliases = nil },
		[]string{"breaking alias-removed list_notes params.query"},
		[]string{"compatible alias-added list_notes params.query"}},
	{"a camelCase name is accepted too", func(s *service) { s.param("query").Aliases = []string{"q", "Query"} },
		[]string{"compatible alias-added list_notes params.query"},
		[]string{"breaking alias-removed list_notes params.query"}},
	{"a camelCase name of a field is accepted too", func(s *service) {
		s.typ("Filter").Fields[0].Aliases = []string{"Owner"}
	}, []string{"compatible alias-added Filter owner"}, []string{"breaking alias-removed Filter owner"}},
	{"a parameter excludes another", func(s *service) { s.param("query").Excludes = []string{"limit"} },
		[]string{"breaking exclusion-added list_notes params.query"},
		[]string{"compatible exclusion-removed list_notes params.query"}},
	{"a default is removed", func(s *service) { s.param("limit").Default = "" },
		[]string{"breaking default-removed list_notes params.limit"},
		[]string{"notable default-added list_notes params.limit"}},
	{"a default is changed", func(s *service) { s.param("limit").Default = "50" },
		[]string{"breaking default-changed list_notes params.limit"},
		[]string{"breaking default-changed list_notes params.limit"}},
	{"a type is changed", func(s *service) { s.param("since").Type = "boolean" },
		[]string{"breaking type-changed list_notes params.since"}, []string{"breaking type-changed list_notes params.since"}},
	{"an integer may be any number", func(s *service) { s.param("limit").Type = "number" },
		[]string{"compatible type-changed list_notes params.limit"},
		[]string{"breaking type-changed list_notes params.limit"}},
	{"a string may be a list too", func(s *service) { s.param("since").Type = "string | string[]" },
		[]string{"compatible type-changed list_notes params.since"},
		[]string{"breaking type-changed list_notes params.since"}},
	{"any object will do", func(s *service) { s.param("filter").Type = "object" },
		[]string{"compatible type-changed list_notes params.filter"},
		[]string{"breaking type-changed list_notes params.filter"}},
	{"anything will do", func(s *service) { s.param("filter").Type = "any" },
		[]string{"compatible type-changed list_notes params.filter"},
		[]string{"breaking type-changed list_notes params.filter"}},
	{"an enum is narrowed", func(s *service) { s.param("shape").Enum = []string{"round"} },
		[]string{"breaking enum-narrowed list_notes params.shape"},
		[]string{"compatible enum-widened list_notes params.shape"}},
	{"an enum is dropped", func(s *service) { s.param("shape").Enum = nil },
		[]string{"compatible enum-removed list_notes params.shape"}, []string{"breaking enum-added list_notes params.shape"}},
	{"an enum type is widened, which results notice", func(s *service) {
		s.typ("Color").Values = append(s.typ("Color").Values, gen.EnumValue{Value: "green"})
		s.param("color").Enum = []string{"red", "blue", "green"}
	}, []string{"compatible enum-widened Color", "notable enum-widened Color"},
		[]string{"breaking enum-narrowed Color", "compatible enum-narrowed Color"}},
	{"an enum is given a type of its name", func(s *service) {
		s.adapter.Types = append(s.adapter.Types,
			gen.Type{Name: "Shape", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "square"}, {Value: "round"}}})
		s.param("shape").Type = "Shape"
	}, []string{}, []string{}},
	{"a maximum is lowered", func(s *service) { s.param("limit").Maximum = "50" },
		[]string{"breaking range-narrowed list_notes params.limit"},
		[]string{"compatible range-widened list_notes params.limit"}},
	{"a minimum is raised", func(s *service) { s.param("limit").Minimum = "2" },
		[]string{"breaking range-narrowed list_notes params.limit"},
		[]string{"compatible range-widened list_notes params.limit"}},
	{"a maximum is dropped", func(s *service) { s.param("limit").Maximum = "" },
		[]string{"compatible range-widened list_notes params.limit"},
		[]string{"breaking range-narrowed list_notes params.limit"}},
	{"a number is written otherwise", func(s *service) { s.param("limit").Maximum = "1.00e2" }, []string{}, []string{}},
	{"a maximum length is lowered", func(s *service) { s.param("query").MaxLength = 50 },
		[]string{"breaking length-narrowed list_notes params.query"},
		[]string{"compatible length-widened list_notes params.query"}},
	{"a minimum length is raised", func(s *service) { s.param("query").MinLength = 2 },
		[]string{"breaking length-narrowed list_notes params.query"},
		[]string{"compatible length-widened list_notes params.query"}},
	{"fewer items are allowed", func(s *service) { s.param("tags").MaxItems = 10 },
		[]string{"breaking items-narrowed list_notes params.tags"},
		[]string{"compatible items-widened list_notes params.tags"}},
	{"more items are needed", func(s *service) { s.param("tags").MinItems = 2 },
		[]string{"breaking items-narrowed list_notes params.tags"},
		[]string{"compatible items-widened list_notes params.tags"}},
	{"elements of lists may be shorter only", func(s *service) { s.param("tags").Items.MaxLength = 5 },
		[]string{"breaking length-narrowed list_notes params.tags[]"},
		[]string{"compatible length-widened list_notes params.tags[]"}},
	{"values of maps have another type", func(s *service) { s.param("labels").Items.Type = "integer" },
		// The description says it too, since the introspection schema has no maps.
		[]string{"breaking type-changed list_notes params.labels{}",
			"compatible description-changed list_notes params.labels"},
		[]string{"breaking type-changed list_notes params.labels{}",
			"compatible description-changed list_notes params.labels"}},
	{"names of maps become integers (A13)", func(s *service) { s.param("labels").Keys = &gen.Param{Type: "integer"} },
		[]string{"breaking pattern-added list_notes params.labels{name}"},
		[]string{"compatible pattern-removed list_notes params.labels{name}"}},
	{"names of maps are described", func(s *service) {
		s.param("labels").Keys = &gen.Param{
			Type: "integer", Minimum: "0", Maximum: "2", Description: "One of 0 Low (little), 2 High.",
		}
	},
		[]string{
			"breaking pattern-added list_notes params.labels{name}", "breaking range-narrowed list_notes params.labels{name}",
			"breaking range-narrowed list_notes params.labels{name}",
			"compatible description-changed list_notes params.labels{name}",
		},
		[]string{
			"compatible description-changed list_notes params.labels{name}",
			"compatible pattern-removed list_notes params.labels{name}",
			"compatible range-widened list_notes params.labels{name}",
			"compatible range-widened list_notes params.labels{name}",
		}},
	{"names of maps have a format", func(s *service) {
		s.param("labels").Keys = &gen.Param{Type: "string", Format: "uuid"}
	},
		[]string{"breaking format-added list_notes params.labels{name}"},
		[]string{"compatible format-removed list_notes params.labels{name}"}},
	{"a pattern is changed", func(s *service) { s.param("query").Pattern = "^[a-z0-9]+$" },
		[]string{"breaking pattern-changed list_notes params.query"},
		[]string{"breaking pattern-changed list_notes params.query"}},
	{"a pattern is dropped", func(s *service) { s.param("query").Pattern = "" },
		[]string{"compatible pattern-removed list_notes params.query"},
		[]string{"breaking pattern-added list_notes params.query"}},
	{"a format is changed", func(s *service) { s.param("since").Format = "date-time" },
		[]string{"breaking format-changed list_notes params.since"},
		[]string{"breaking format-changed list_notes params.since"}},
	{"a format is dropped", func(s *service) { s.param("since").Format = "" },
		[]string{"compatible format-removed list_notes params.since"},
		[]string{"breaking format-added list_notes params.since"}},
	{"a parameter becomes sensitive", func(s *service) { s.param("query").Sensitive = true },
		[]string{"compatible sensitive-added list_notes params.query"},
		[]string{"notable sensitive-removed list_notes params.query"}},
	{"a parameter is deprecated", func(s *service) { s.param("query").Deprecated = "use filter. Also accepted as a joke" },
		[]string{"compatible deprecated list_notes params.query"},
		[]string{"compatible undeprecated list_notes params.query"}},
	{"a parameter is described", func(s *service) { s.param("query").Description = "Words." },
		[]string{"compatible description-changed list_notes params.query"},
		[]string{"compatible description-changed list_notes params.query"}},
	{"a field of a request is removed", func(s *service) { s.typ("Filter").Fields = []gen.Param{} },
		[]string{"breaking field-removed Filter owner"}, []string{"compatible field-added Filter owner"}},
	{"a field of a request becomes read-only", func(s *service) { s.typ("Filter").Fields[0].ReadOnly = true },
		[]string{"breaking read-only-added Filter owner"}, []string{"compatible read-only-removed Filter owner"}},
	{"a field of a request becomes append-only", func(s *service) { s.typ("Filter").Fields[0].AppendOnly = true },
		[]string{"breaking append-only-added Filter owner"}, []string{"compatible append-only-removed Filter owner"}},
	{"a field of a request becomes required", func(s *service) { s.typ("Filter").Fields[0].Required = true },
		[]string{"breaking became-required Filter owner"}, []string{"compatible became-optional Filter owner"}},
	{"a required field of a request is added", func(s *service) {
		s.typ("Filter").Fields = append(s.typ("Filter").Fields, gen.Param{Name: "age", Type: "integer", Required: true})
	}, []string{"breaking field-added Filter age"}, []string{"breaking field-removed Filter age"}},
	{"A2: a field of a request may be null", func(s *service) { s.typ("Filter").Fields[0].Nullable = true },
		[]string{"compatible null-added Filter owner"}, []string{"breaking null-removed Filter owner"}},
	{"A2: an element of a request may be null", func(s *service) { s.param("tags").Items.Nullable = true },
		[]string{"compatible null-added list_notes params.tags[]"},
		[]string{"breaking null-removed list_notes params.tags[]"}},
	{"A2: a field of a result may be null", func(s *service) { s.typ("Note").Fields[2].Nullable = true },
		[]string{"notable null-added Note next"}, []string{"compatible null-removed Note next"}},
	{"A2: a field of a result that requests need may be null", func(s *service) {
		s.typ("Note").Fields[0].Required, s.typ("Note").Fields[0].Nullable = true, true
	}, []string{"compatible became-required Note note_id", "notable null-added Note note_id"},
		[]string{"compatible null-removed Note note_id", "notable became-optional Note note_id"}},
	{"a field of a result is removed", func(s *service) { s.typ("Note").Fields = s.typ("Note").Fields[1:] },
		[]string{"breaking field-removed Note note_id"}, []string{"compatible field-added Note note_id"}},
	{"a field of a result becomes required", func(s *service) { s.typ("Note").Fields[0].Required = true },
		[]string{"compatible became-required Note note_id"}, []string{"notable became-optional Note note_id"}},
	{"a field of a result has another type", func(s *service) { s.typ("Note").Fields[0].Type = "integer" },
		[]string{"breaking type-changed Note note_id"}, []string{"breaking type-changed Note note_id"}},
	{"a field of a result holds any number", func(s *service) {
		s.typ("Note").Fields = append(s.typ("Note").Fields, gen.Param{Name: "count", Type: "number"})
	}, []string{"compatible field-added Note count"}, []string{"breaking field-removed Note count"}},
	{"a field of a result is shown by another preset",
		func(s *service) { s.typ("Note").Fields[0].Presets = []string{"full"} },
		[]string{"breaking preset-removed Note note_id", "compatible preset-added Note note_id"},
		[]string{"breaking preset-removed Note note_id", "compatible preset-added Note note_id"}},
	{"a result has another type", func(s *service) {
		s.operation("list_notes").Returns = gen.Returns{Name: "Color", Kind: gen.KindEnum}
	},
		[]string{"breaking type-changed list_notes result"}, []string{"breaking type-changed list_notes result"}},
	{"a type has another name",
		func(s *service) { s.typ("Filter").Name, s.param("filter").Type = "NoteFilter", "NoteFilter" },
		[]string{"compatible type-renamed list_notes params.filter"},
		[]string{"compatible type-renamed list_notes params.filter"}},
	{"a type has another kind", func(s *service) { s.typ("Filter").Kind = gen.KindScalar },
		[]string{"breaking type-changed list_notes params.filter"},
		[]string{"breaking type-changed list_notes params.filter"}},
	{"an operation becomes dangerous", func(s *service) { s.operation("delete_note").Danger = gen.Dangerous },
		[]string{"breaking danger-raised delete_note danger"}, []string{"compatible danger-lowered delete_note danger"}},
	{"an operation becomes destructive and asks", func(s *service) { s.operation("list_notes").Danger = gen.Destructive },
		[]string{"breaking confirmation-added list_notes confirmation", "breaking danger-raised list_notes danger"},
		[]string{"compatible confirmation-removed list_notes confirmation", "compatible danger-lowered list_notes danger"}},
	{"an operation is denied",
		func(s *service) { s.protocol.Gate = func(*gen.Operation) describe.Gating { return describe.Denied } },
		[]string{"breaking confirmation-added delete_note confirmation",
			"breaking confirmation-added introspect confirmation", "breaking confirmation-added list_notes confirmation"},
		[]string{"compatible confirmation-removed delete_note confirmation",
			"compatible confirmation-removed introspect confirmation",
			"compatible confirmation-removed list_notes confirmation"}},
	{"a person types to confirm", func(s *service) { s.operation("delete_note").TypeToConfirm = "note_id" },
		[]string{"breaking confirmation-added delete_note confirmation", "breaking typing-added delete_note typed"},
		[]string{"compatible confirmation-removed delete_note confirmation",
			"compatible typing-removed delete_note typed"}},
	{"an operation is deprecated", func(s *service) { s.operation("delete_note").Replacement = "archive_note" },
		[]string{"compatible deprecated delete_note"}, []string{"compatible undeprecated delete_note"}},
	{"an operation has other examples",
		func(s *service) { s.operation("delete_note").Examples = []gen.Example{{Params: `{"note_id":"n1"}`}} },
		[]string{"compatible examples-changed delete_note examples"},
		[]string{"compatible examples-changed delete_note examples"}},
	{"an operation gets a reason", func(s *service) { s.operation("delete_note").Reasons = []string{"Gone for good"} },
		[]string{"compatible description-changed delete_note"}, []string{"compatible description-changed delete_note"}},
	{"a limit is lowered", func(s *service) { s.protocol.Limits.RequestSize = 999 },
		[]string{"breaking limit-lowered _protocol limits.max_request_size"},
		[]string{"compatible limit-raised _protocol limits.max_request_size"}},
	{"a limit is stated", func(s *service) { s.protocol.Limits.NestingDepth = 9 },
		[]string{"notable limit-stated _protocol limits.max_nesting_depth"},
		[]string{"notable limit-unstated _protocol limits.max_nesting_depth"}},
	{"fewer requests at once", func(s *service) { s.protocol.MaxConcurrentRequests = 4 },
		[]string{"breaking limit-lowered _protocol max_concurrent_requests"},
		[]string{"compatible limit-raised _protocol max_concurrent_requests"}},
	{"a capability is turned off", func(s *service) { s.protocol.Capabilities.Batch = false },
		[]string{"breaking capability-removed _protocol capabilities.batch"},
		[]string{"compatible capability-added _protocol capabilities.batch"}},
	{"a capability says something else", func(s *service) { s.protocol.Capabilities.ExecutionSafetyLoop = "logging" },
		[]string{"notable capability-changed _protocol capabilities.execution_safety_loop"},
		[]string{"notable capability-changed _protocol capabilities.execution_safety_loop"}},
	{"etags are gone", func(s *service) { s.protocol.SupportsETag = false },
		[]string{"breaking capability-removed _protocol supports_etag"},
		[]string{"compatible capability-added _protocol supports_etag"}},
	{"a query of introspect is gone", func(s *service) { s.protocol.Queries = nil },
		[]string{"breaking enum-narrowed introspect params.query"},
		[]string{"compatible enum-widened introspect params.query"}},
	{"the level is lower", func(s *service) { s.protocol.Conformance = "level-1" },
		[]string{"notable conformance-changed _protocol conformance"},
		[]string{"notable conformance-changed _protocol conformance"}},
	{"calls are serialized", func(s *service) { s.protocol.Concurrency = "serialized" },
		[]string{"notable concurrency-changed _protocol concurrency"},
		[]string{"notable concurrency-changed _protocol concurrency"}},
	{"the mode is another", func(s *service) { s.surface.Mode = describe.Single },
		[]string{"breaking mode-changed _protocol mode"}, []string{"breaking mode-changed _protocol mode"}},
	{"a second surface is added", func(s *service) { s.surface.Mode = describe.All },
		[]string{"compatible mode-changed _protocol mode"}, []string{"breaking mode-changed _protocol mode"}},
	{"the profile is another", func(s *service) { s.surface.Profile, _ = describe.FindProfile("semantic", nil) },
		[]string{"breaking profile-changed _protocol profile"}, []string{"breaking profile-changed _protocol profile"}},
	{"the profile has a family more",
		func(s *service) { s.surface.Profile, _ = describe.FindProfile("crude_authorize", nil) },
		[]string{"notable profile-changed _protocol profile"}, []string{"notable profile-changed _protocol profile"}},
	{"the prefix is another", func(s *service) { s.surface.Prefix = "notes_" },
		[]string{"breaking prefix-changed _protocol prefix"}, []string{"breaking prefix-changed _protocol prefix"}},
	{"an operation moves to another family", func(s *service) {
		s.surface.Profile.Families = append(slices.Clone(s.surface.Profile.Families), describe.Family{Name: "search"})
		s.operation("list_notes").Family = "search"
	}, []string{"breaking family-changed list_notes endpoint"}, []string{"breaking family-changed list_notes endpoint"}},
}

func (s *service) addParam(p gen.Param) {
	o := s.operation("list_notes")
	if _, has := o.Param(p.Name); has {
		return
	}
	o.Params = append(o.Params, p)
}

func TestChangesAreClassified(t *testing.T) {
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			changed := newService()
			tt.edit(changed)
			before, after := newService().snapshot(t), changed.snapshot(t)
			there, ago := compat.Compare(before, after), compat.Compare(after, before)
			if diff := gocmp.Diff(tt.there, briefs(there)); diff != "" {
				t.Errorf("there (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(tt.ago, briefs(ago)); diff != "" {
				t.Errorf("and back (-want +got):\n%s", diff)
			}
			for _, c := range append(there, ago...) {
				if c.Message == "" || strings.HasSuffix(c.Message, ".") || strings.Contains(c.Message, "%!") {
					t.Errorf("%s: message %q", c.Kind, c.Message)
				}
				if c.Type != "" && !slices.Contains(c.Operations, "list_notes") {
					t.Errorf("%s of %s is not told to reach list_notes: %v", c.Kind, c.Type, c.Operations)
				}
			}
			for _, s := range []*compat.Snapshot{before, after} {
				if same := compat.Compare(s, s); len(same) != 0 {
					t.Errorf("a snapshot differs from itself: %v", briefs(same))
				}
			}
		})
	}
}

// A change says where, what it was and what it is, in a form that scripts can read.
func TestChangeTellsOldAndNew(t *testing.T) {
	changed := newService()
	changed.param("limit").Maximum = "50"
	changed.adapter.Types[3].Fields = changed.adapter.Types[3].Fields[1:]
	got, err := json.MarshalIndent(compat.Compare(newService().snapshot(t), changed.snapshot(t)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "class": "breaking",
    "kind": "range-narrowed",
    "operation": "list_notes",
    "path": "params.limit",
    "old": 100,
    "new": 50,
    "message": "the maximum of parameter limit of list_notes changed from 100 to 50"
  },
  {
    "class": "breaking",
    "kind": "field-removed",
    "type": "Note",
    "operations": [
      "list_notes"
    ],
    "side": "result",
    "path": "note_id",
    "old": "note_id",
    "message": "field note_id of Note in results is gone"
  }
]`
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A snapshot of an adapter that says nothing of danger is no promise that there is none.
func TestDangerThatIsNotStated(t *testing.T) {
	const silent = `{"operations":[{"name":"delete_note","semantic_category":"DELETE"}]}`
	const stated = `{"_protocol":{"danger_levels":{"delete_note":"destructive"}},` +
		`"operations":[{"name":"delete_note","semantic_category":"DELETE"}]}`
	before, err := compat.Parse([]byte(silent))
	if err != nil {
		t.Fatal(err)
	}
	after, err := compat.Parse([]byte(stated))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"notable danger-stated delete_note danger"}
	if diff := gocmp.Diff(want, briefs(compat.Compare(before, after))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseRefusesWhatIsNoSnapshot(t *testing.T) {
	for _, tt := range []struct{ document, says string }{
		{`[`, "unexpected end of JSON input"},
		{`{"operations":[]}`, "the snapshot has no operations"},
		{`{"operations":[{}]}`, "operation 1 of the snapshot has no name"},
		{`{"operations":[{"name":1}]}`, "reading the snapshot"},
		{`{"operations":[{"name":"a"},{"name":"a"}]}`, `two operations "a"`},
		{`{"operations":[{"name":"a","parameters":[{"name":"p"},{"name":"p"}]}]}`,
			`operation "a" has two parameters or fields "p"`},
		{`{"operations":[{"name":"a","parameters":[{}]}]}`, `parameter or field 1 of operation "a" has no name`},
		{`{"operations":[{"name":"a"}],"types":[{}]}`, "type 1 of the snapshot has no name"},
		{`{"operations":[{"name":"a"}],"types":[{"name":"T"},{"name":"T"}]}`, `two types "T"`},
		{`{"operations":[{"name":"a"}],"types":[{"name":"T","fields":[null]}]}`,
			`parameter or field 1 of type "T" has no name`},
		{`{"operations":[{"name":"a","parameters":[{"name":"p","items":` + nested(200) + `}]}]}`,
			"more than 100 deep"},
	} {
		if _, err := compat.Parse([]byte(tt.document)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want it to say %q", tt.document, err, tt.says)
		}
	}
}

func nested(depth int) string {
	return strings.Repeat(`{"items":`, depth) + `null` + strings.Repeat(`}`, depth)
}
