package describe

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

func toolsOf(t *testing.T, a *gen.Definitions, s Surface) []Tool {
	t.Helper()
	tools, err := s.Tools(a, Protocol{})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// REQ-EP-05, REQ-EP-06, REQ-TL-05, REQ-TL-06, REQ-TL-09, REQ-TL-10, T-35.
func TestToolNamesAndFlags(t *testing.T) {
	type row struct {
		Name, Title, Family   string
		ReadOnly, Destructive bool
	}
	crude := []row{
		{"mcp_aql_create", "todo: create", "create", false, false},
		{"mcp_aql_read", "todo: read", "read", true, false},
		{"mcp_aql_update", "todo: update", "update", false, true},
		{"mcp_aql_delete", "todo: delete", "delete", false, true},
		{"mcp_aql_execute", "todo: execute", "execute", false, true},
	}
	unified := row{"mcp_aql", "todo", "", false, true}
	for name, want := range map[string][]row{
		"semantic/crude": crude,
		"semantic/crude_authorize": append(slices.Clone(crude),
			row{"mcp_aql_authorize", "todo: authorize", "authorize", false, true}),
		"semantic/semantic": {
			{"mcp_aql_discover", "todo: discover", "discover", true, false},
			{"mcp_aql_query", "todo: query", "query", true, false},
			{"mcp_aql_manage", "todo: manage", "manage", false, true},
			{"mcp_aql_operate", "todo: operate", "operate", false, true},
		},
		"single/crude": {unified},
		"all/crude":    append(slices.Clone(crude), unified),
	} {
		var got []row
		for _, tool := range toolsOf(t, todoAdapter(), everySurface(t)[name]) {
			got = append(got, row{tool.Name, tool.Title, tool.Family, tool.ReadOnly, tool.Destructive})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// REQ-TL-10: a family is as risky as its riskiest operation, not as the operations it could have.
func TestFamilyFlagsFollowItsOperations(t *testing.T) {
	a := &gen.Definitions{Operations: []gen.Operation{
		{Name: "add", Category: gen.Create}, {Name: "peek", Category: gen.Read, Family: "operate"},
	}}
	flags := make(map[string]permissions)
	for _, tool := range toolsOf(t, a, surfaceOf(t, Semantic, "semantic")) {
		flags[tool.Family] = permissions{tool.ReadOnly, tool.Destructive}
	}
	want := map[string]permissions{
		"discover": {ReadOnly: true}, "query": {ReadOnly: true}, "manage": {}, "operate": {ReadOnly: true},
	}
	if diff := cmp.Diff(want, flags); diff != "" {
		t.Error(diff)
	}
}

// REQ-TL-12: where the adapter wants it, tools with few operations list their names, and the others do not.
func TestInputSchemaListsOperations(t *testing.T) {
	s := surfaceOf(t, All, "crude")
	s.OperationEnum = 2
	tools, err := s.Tools(&gen.Definitions{Operations: []gen.Operation{
		{Name: "get_a", Category: gen.Read}, {Name: "drop_a", Category: gen.Delete}, {Name: "drop_b", Category: gen.Delete},
	}}, Protocol{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, tool := range tools {
		compile(t, tool.InputSchema)
		var schema struct {
			Properties struct{ Operation struct{ Enum []string } }
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		got[tool.Family] = strings.Join(schema.Properties.Operation.Enum, " ")
	}
	want := map[string]string{
		"read": "introspect get_a", "delete": "drop_a drop_b", "": "", // four are more than two
		"create": "", "update": "", "execute": "", // there are none
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// REQ-TL-11, T-36: the base schema, as literally as it can be beside batches.
func TestInputSchemaIsTheBaseSchema(t *testing.T) {
	want := `{"type":"object","properties":{"operation":{"type":"string"},"params":{"type":"object",` +
		`"additionalProperties":true},` +
		`"operations":{"type":"array","items":{"type":"object","properties":{"operation":{"type":"string"},` +
		`"params":{"type":"object"}}}}}}`
	for _, tool := range toolsOf(t, todoAdapter(), surfaceOf(t, All, "crude")) {
		if diff := cmp.Diff(want, string(tool.InputSchema)); diff != "" {
			t.Errorf("%s: %s", tool.Name, diff)
		}
	}
}

// REQ-TL-01, REQ-TL-03, REQ-TL-04, T-37: every description names its operations and shows how to call introspect
// through the tool that answers it.
func TestDescriptionsNameOperationsAndIntrospect(t *testing.T) {
	a := todoAdapter()
	for name, s := range everySurface(t) {
		s.Prefix = "my_"
		self := IntrospectOperation()
		for _, tool := range toolsOf(t, a, s) {
			if !strings.Contains(tool.Description, `{ operation: "introspect", params: { query: "operations"`) {
				t.Errorf("%s %s: no call of introspect in\n%s", name, tool.Name, tool.Description)
			}
			home := s.Family(&self)
			via := "(via my_mcp_aql_" + home + ")"
			if tool.Family != "" && tool.Family != home && !strings.Contains(tool.Description, via) {
				t.Errorf("%s %s: no %q in\n%s", name, tool.Name, via, tool.Description)
			}
			for _, o := range s.everyOperation(a) {
				listed := regexp.MustCompile(`(?m)^[A-Za-z ]+: .*\b` + o.Name + `\b`).MatchString(tool.Description)
				if here := tool.Family == "" || s.Family(o) == tool.Family; here && !listed {
					t.Errorf("%s %s: operation %s is missing in\n%s", name, tool.Name, o.Name, tool.Description)
				}
			}
			if tool.Family != "" && !strings.Contains(tool.Description, "\nSupported operations: ") {
				t.Errorf("%s %s: no list of operations in\n%s", name, tool.Name, tool.Description)
			}
		}
	}
}

// REQ-TL-02.
func TestCrudeDescriptions(t *testing.T) {
	want := map[string]string{
		"create": `Additive, non-destructive operations.
Supported operations: create_todo
Adds data; leaves existing data as it is.
Example: { operation: "create_todo", params: {"title":"Buy milk & <tea>"} }
Discover required parameters (via mcp_aql_read): ` +
			`{ operation: "introspect", params: { query: "operations", name: "create_todo" } }`,
		"read": `Safe, read-only operations.
Supported operations: introspect, list_todos
Changes nothing.
Example: { operation: "list_todos" }
Discover all operations: { operation: "introspect", params: { query: "operations" } }
Discover required parameters: add name: "list_todos" to its params
Types: query "types". Batch: { operations: [{ operation, params }, …] }`,
		"update": `Modifying operations that overwrite data.
Supported operations: update_todo
Overwrites existing values.
Example: { operation: "update_todo", params: { todo_id: …, input: … } }
Discover required parameters (via mcp_aql_read): ` +
			`{ operation: "introspect", params: { query: "operations", name: "update_todo" } }`,
		"delete": `Destructive operations that remove data.
Supported operations: delete_todo
Removed data may be gone for good.
Example: { operation: "delete_todo", params: { todo_id: … } }
Discover required parameters (via mcp_aql_read): ` +
			`{ operation: "introspect", params: { query: "operations", name: "delete_todo" } }`,
		"execute": `Runtime lifecycle operations with effects beyond stored data.
Supported operations: wipe
Potentially destructive and non-idempotent.
Example: { operation: "wipe", params: { password: … } }
Discover required parameters (via mcp_aql_read): ` +
			`{ operation: "introspect", params: { query: "operations", name: "wipe" } }`,
		"": `todo: All operations in one tool, routed automatically by operation name.
CREATE: create_todo
READ: introspect, list_todos
UPDATE: update_todo
DELETE: delete_todo
EXECUTE: wipe
Quick start: { operation: "introspect", params: { query: "operations" } }
Discover required parameters: add name: "create_todo" to its params
Types: query "types". Batch: { operations: [{ operation, params }, …] }`,
	}
	got := make(map[string]string)
	for _, tool := range toolsOf(t, todoAdapter(), surfaceOf(t, All, "crude")) {
		got[tool.Family] = tool.Description
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// REQ-TL-03.
func TestAlternateFamilyDescription(t *testing.T) {
	tools := toolsOf(t, todoAdapter(), surfaceOf(t, Semantic, "semantic"))
	want := `Adds and changes data.
Primary semantic categories: CREATE, UPDATE
Supported operations: create_todo, update_todo
Example: { operation: "create_todo", params: {"title":"Buy milk & <tea>"} }
Discover required parameters (via mcp_aql_discover): ` +
		`{ operation: "introspect", params: { query: "operations", name: "create_todo" } }`
	if diff := cmp.Diff(want, tools[2].Description); diff != "" {
		t.Error(diff)
	}
}

// T-35.
func TestEmptyFamilies(t *testing.T) {
	a := &gen.Definitions{Name: "empty"}
	s := surfaceOf(t, Semantic, "crude")
	tools := toolsOf(t, a, s)
	if len(tools) != 5 || !strings.Contains(tools[3].Description, "no operations are available") {
		t.Errorf("got %d tools, the fourth saying %q; want five, and that it has no operations", len(tools),
			tools[3].Description)
	}
	s.OmitEmptyFamilies = true
	if tools := toolsOf(t, a, s); len(tools) != 1 || tools[0].Name != "mcp_aql_read" {
		t.Errorf("got %v; want the tool of introspect alone", tools)
	}
}

// REQ-TL-04: however many operations there are, the text stays short and says how many it leaves out.
func TestLongListsAreAbbreviated(t *testing.T) {
	tools := toolsOf(t, manyOperations(500), surfaceOf(t, All, "crude"))
	more := regexp.MustCompile(`, \+\d+ more$`)
	for _, tool := range tools {
		if len(tool.Description) > 1500 {
			t.Errorf("%s: description of %d bytes", tool.Name, len(tool.Description))
		}
		for line := range strings.Lines(tool.Description) {
			line = strings.TrimSpace(line)
			listing := regexp.MustCompile(`^(Supported operations|[A-Z]+): `).MatchString(line)
			if listing && !more.MatchString(line) {
				t.Errorf("%s: line %q does not say how many are left out", tool.Name, line)
			}
		}
	}
	if !strings.Contains(tools[0].Description, "create_invoice_0, create_invoice_5, ") {
		t.Errorf("the list does not begin with the first operations:\n%s", tools[0].Description)
	}
}

func TestShareIsFair(t *testing.T) {
	group := func(name string, n int) []*gen.Operation {
		return slices.Repeat([]*gen.Operation{{Name: name}}, n)
	}
	for _, test := range []struct {
		name   string
		groups [][]*gen.Operation
		budget int
		want   []int
	}{
		{"all fit", [][]*gen.Operation{group("a_b", 2), group("c", 1)}, 8, []int{2, 1}},
		{"a large group leaves room for a small one", [][]*gen.Operation{group("a", 100), group("b", 3)}, 20, []int{7, 3}},
		{"one of each is always shown", [][]*gen.Operation{group("a", 9), group("b", 9), nil}, 0, []int{1, 1, 0}},
		{"a name too dear ends its group only",
			[][]*gen.Operation{append(group("a", 1), group("a_very_long_name", 9)...), group("b", 9)}, 8, []int{1, 3}},
	} {
		if diff := cmp.Diff(test.want, share(test.groups, test.budget)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// The promise is 350 o200k_base tokens for the one tool and 1300 for the five. A tokenizer is no dependency of this
// package; four bytes to a token, which such text stays above, bound the cost well enough to notice a change.
func TestFiftyOperationsStayShort(t *testing.T) {
	for mode, tokens := range map[Mode]int{Single: 350, Semantic: 1300} {
		bytes := 0
		for _, tool := range toolsOf(t, manyOperations(50), surfaceOf(t, mode, "crude")) {
			bytes += len(tool.Name) + len(tool.Title) + len(tool.Description) + len(tool.InputSchema) +
				len(`{"readOnlyHint":false,"destructiveHint":false}`)
		}
		if bytes > 4*tokens {
			t.Errorf("%s: %d bytes, more than 4 for each of %d tokens", mode, bytes, tokens)
		}
	}
}

// REQ-ER-14, T-29: what we write ourselves never looks like a leak. Two openings are the protocol's own words
// (REQ-TL-02).
func TestNothingLooksLikeALeak(t *testing.T) {
	leak := regexp.MustCompile(`(?i)at\s+\S+|typeerror|/src/|\.go:\d|goroutine|panic:|\*?model\.|project\.`)
	given := strings.NewReplacer("operations that overwrite data", "", "operations that remove data", "")
	check := func(where, text string) {
		text = given.Replace(text)
		if found := leak.FindString(text); found != "" {
			t.Errorf("%s: %q in %s", where, found, text)
		}
	}
	for name, s := range everySurface(t) {
		for _, a := range []*gen.Definitions{todoAdapter(), manyOperations(50), {}} {
			for _, tool := range toolsOf(t, a, s) {
				check(name+" "+tool.Name, tool.Title+tool.Description)
			}
			for _, answer := range answers(introspect(t, a, s)) {
				check(name, string(answer))
			}
		}
	}
}

func TestToolsRefuseOperationsTheyCannotTellApart(t *testing.T) {
	a := &gen.Definitions{Operations: []gen.Operation{
		{Name: "a", Category: gen.Read}, {Name: "a", Category: gen.Read},
		{Name: "introspect", Category: gen.Read}, {Name: "get_manifest", Category: gen.Read, Source: "a.go:7"},
		{Name: "b", Category: "AUTHORIZE"},
	}}
	s := surfaceOf(t, Single, "crude")
	s.GetManifest = true
	want := `two operations are called "a"
the service's operation "introspect" has the name of the built-in operation "introspect"; rename it
the service's operation "get_manifest" at a.go:7 has the name of the built-in operation "get_manifest"; ` +
		`rename it, or leave GetManifest off, which adds the built-in one
operation "b": category "AUTHORIZE" is none of CREATE, READ, UPDATE, DELETE, EXECUTE`
	_, toolsErr := s.Tools(a, Protocol{})
	_, introspectErr := Introspect(a, s, Protocol{})
	for _, err := range []error{toolsErr, introspectErr} {
		if err == nil || err.Error() != want {
			t.Errorf("error %v; want %s", err, want)
		}
	}
}

// An introspect call in a description is nearly JSON; filled in, it is a request that works.
func TestIntrospectCallIsARequest(t *testing.T) {
	quoted := regexp.MustCompile(`(\w+):`).ReplaceAllString(introspectCall("create_todo"), `"$1":`)
	var request struct {
		Operation string
		Params    struct{ Query, Name string }
	}
	if err := json.Unmarshal([]byte(quoted), &request); err != nil {
		t.Fatal(err)
	}
	if request.Operation != "introspect" || request.Params.Query != "operations" || request.Params.Name != "create_todo" {
		t.Errorf("got %+v", request)
	}
}
