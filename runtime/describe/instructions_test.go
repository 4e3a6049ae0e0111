package describe

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// D6: one page tells a model what the service is, and how to discover, batch, select fields, page and confirm.
func TestInstructions(t *testing.T) {
	whole := gen.Definitions{
		Name: "shop", Description: "Orders and\ncustomers of a shop. Prices are in cents.",
		Operations: []gen.Operation{{Name: "list_orders", Category: gen.Read, Params: []gen.Param{
			{Name: "first", Type: "integer"}, {Name: "after", Type: "string"}, {Name: "fields", Type: gen.TypeSelection},
		}}},
	}
	confirms := Protocol{Capabilities: Capabilities{Confirmation: true}}
	const discover = `Discover with introspect: params { query: "operations" } lists operations, ` +
		`{ query: "operations", search: "words for the task" } finds some, ` +
		`{ query: "operations", name: "…" } shows one with its parameters, { query: "types" } lists types.`
	const requests = "Tools take { operation, params }, and for several requests at once " +
		"{ operations: [{ operation, params }, …] }."
	for _, tt := range []struct {
		name     string
		adapter  gen.Definitions
		mode     Mode
		protocol Protocol
		want     []string
	}{
		{"everything", whole, Single, confirms, []string{
			"shop: Orders and customers of a shop. Prices are in cents.", requests, discover,
			"Where an operation has the parameter fields, name the fields of the result you need.",
			"Where it has first and after, read a page at a time: after is the cursor of the page before.",
			"If an answer is CONFIRMATION_REQUIRED, ask the user. After a yes, send the same request again, with " +
				"confirmation_token from the answer in its params.",
		}},
		{"nothing", gen.Definitions{}, Semantic, Protocol{}, []string{"MCP-AQL", requests, discover}},
		{"tools of operations", gen.Definitions{Name: "shop"}, Discrete, Protocol{}, []string{"shop", discover}},
	} {
		got := surfaceOf(t, tt.mode, "crude").Instructions(&tt.adapter, tt.protocol)
		if diff := cmp.Diff(tt.want, strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	long := gen.Definitions{Description: strings.Repeat("x", 5000)}
	if got := surfaceOf(t, Single, "crude").Instructions(&long, Protocol{}); len(got) > 2000 {
		t.Errorf("a long description makes them %d bytes", len(got))
	}
}

// D6, REQ-TL-04: the tool for all operations says what the service is, how to batch, and that there are types.
func TestUnifiedToolSaysWhatTheServiceIs(t *testing.T) {
	adapter := todoAdapter()
	adapter.Description = "Todos of one person. They have due dates."
	tools, err := surfaceOf(t, Single, "crude").Tools(adapter, Protocol{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"todo: Todos of one person. They have due dates. All operations in one tool, routed automatically by operation " +
			"name.\n",
		`Types: query "types". Batch: { operations: [{ operation, params }, …] }`,
	} {
		if !strings.Contains(tools[0].Description, part) {
			t.Errorf("%q is not in:\n%s", part, tools[0].Description)
		}
	}
}

// D6: the tool for all operations has as many sentences as are short enough together, and at least a part of one.
func TestDomain(t *testing.T) {
	long := "X" + strings.Repeat("x", 89)
	for _, tt := range []struct{ description, want string }{
		{"", ""},
		{"Todos", "Todos. "},
		{"Todos of one\nperson. Due dates.", "Todos of one person. Due dates. "},
		{"Keeps todos. " + long + ". Sends mail.", "Keeps todos. "},
		{long + ". Todos are here.", long + ". "},
		{long + "xxxxxxxxxx and more.", long + "xxxxxxxxxx… "},
	} {
		if got := domain(&gen.Definitions{Description: tt.description}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.description, got, tt.want)
		}
	}
}
