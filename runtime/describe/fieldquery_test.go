package describe

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// shownFields are the names in an answer to FieldsQuery, with a number behind them if there are more.
func shownFields(t *testing.T, answer []byte) (names []string, fields []parameterInfo) {
	t.Helper()
	var response struct {
		Success bool
		Data    struct {
			Fields []parameterInfo
			More   int
		}
	}
	if err := json.Unmarshal(answer, &response); err != nil || !response.Success {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, field := range response.Data.Fields {
		names = append(names, field.Name)
	}
	if response.Data.More > 0 {
		names = append(names, fmt.Sprintf("+%d", response.Data.More))
	}
	return names, response.Data.Fields
}

// many adds types to an adapter until it answers FieldsQuery.
func many(a *gen.Definitions) *gen.Definitions {
	for i := 0; !ShowsFields(a); i++ {
		a.Types = append(a.Types, gen.Type{Name: fmt.Sprintf("Unused%d", i), Kind: gen.KindScalar})
	}
	return a
}

// podAdapter is an adapter with an operation whose request has arrays, maps, unions and types inside themselves.
func podAdapter() *gen.Definitions {
	text := func(name string) gen.Param { return gen.Param{Name: name, Type: "string"} }
	of := func(name, typ string) gen.Param { return gen.Param{Name: name, Type: typ} }
	lists := func(name, typ string) gen.Param {
		return gen.Param{Name: name, Type: "array", Items: &gen.Param{Type: typ}}
	}
	object := func(name string, fields ...gen.Param) gen.Type {
		return gen.Type{Name: name, Kind: gen.KindObject, Fields: fields}
	}
	return many(&gen.Definitions{
		Operations: []gen.Operation{{
			Name: "create_pod", Category: gen.Create, Danger: gen.Safe, Description: "Creates a pod.",
			Params: []gen.Param{
				{Name: "name", Type: "string", Required: true, Description: "What it is called. Any text."},
				of("input", "Pod"),
			},
			Returns: gen.Returns{Name: "Status", Kind: gen.KindObject},
		}},
		Types: []gen.Type{
			object("Pod", lists("containers", "Container"), lists("init_containers", "Container"),
				gen.Param{Name: "volumes", Type: "object", Items: &gen.Param{Type: "Volume"}}, of("schema", "Schema")),
			object("Container",
				gen.Param{
					Name: "image", Type: "string", Required: true, MinLength: 1,
					Description: "Where the image is. It is pulled before the container starts.",
				}, text("name"), of("limits", "Quantities")),
			{Name: "Volume", Kind: gen.KindUnion, Members: []string{"Disk", "Secret", "Nothing2"}},
			{Name: "Nothing2", Kind: gen.KindScalar},
			object("Disk", gen.Param{Name: "gigabytes", Type: "integer", Minimum: "1"}, of("volume", "Volume")),
			object("Secret", text("secret_name"), of("volume", "Volume")),
			{Name: "Quantities", Kind: gen.KindObject, Items: &gen.Param{Type: "string"}},
			object("Schema", text("title"), of("not", "Schema"),
				gen.Param{Name: "properties", Type: "object", Items: &gen.Param{Type: "Schema"}}),
			object("Status", text("phase"), text("image")),
		},
	})
}

// B13: a name or a path finds fields of a request, those of the first levels first.
func TestFieldsQuery(t *testing.T) {
	in, err := Introspect(podAdapter(), surfaceOf(t, Semantic, "crude"), Protocol{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, field string
		want        []string
	}{
		{"a name, at each place", "name", []string{"name", "input.containers[].name"}},
		{"a name that is there once", "gigabytes", []string{"input.volumes{}.gigabytes"}},
		{"a name in another spelling", "secretName", []string{"input.volumes{}.secret_name"}},
		{
			"an object, with what is in it", "schema",
			[]string{"input.schema", "input.schema.title", "input.schema.not", "input.schema.properties"},
		},
		{"a path from the root", "input.containers.image", []string{"input.containers[].image"}},
		{"a path with marks", "input.containers[].image", []string{"input.containers[].image"}},
		{
			"a path to a type that another field has, too", "input.init_containers.image",
			[]string{"input.init_containers[].image"},
		},
		{"the end of a path", "init_containers.image", []string{"input.init_containers[].image"}},
		{"a key of a map", "limits.cpu", []string{"input.containers[].limits"}},
		{"inside a key of a map", "volumes.data.gigabytes", []string{"input.volumes{}.gigabytes"}},
		{"a path through a type inside itself", "schema.not.not.title", []string{"input.schema.not.not.title"}},
		{
			"a field that a key could hide", "schema.properties.title",
			[]string{"input.schema.properties{}.title"},
		},
		{"of the result", "returns.image", []string{"returns.image"}},
		{"the result", "returns", []string{"returns", "returns.phase", "returns.image"}},
		{"part of a name", "giga", []string{"input.volumes{}.gigabytes"}},
		{"a misspelt name", "imgae", []string{"input.containers[].image"}},
		{"nothing like it", "qqqqqqqqq", nil},
		{"a path that leads nowhere", "input.containers.qqqqqqqqq", nil},
		{
			"the whole request", "",
			[]string{
				"name", "input", "input.containers", "input.init_containers", "input.volumes", "input.schema",
				"input.containers[].image", "input.containers[].name", "+8",
			},
		},
		{"more than anybody asks", strings.Repeat("x", 300), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := shownFields(t, in.Fields("create_pod", tt.field))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	const image = `{"success":true,"data":{"fields":[{"name":"input.containers[].image","type":"string","required":true,` +
		`"description":"Where the image is. It is pulled before the container starts.","minLength":1}]}}`
	if diff := cmp.Diff(image, string(in.Fields("create_pod", "image"))); diff != "" {
		t.Errorf("the only one is shown in full; -want +got:\n%s", diff)
	}
	const names = `{"success":true,"data":{"fields":[` +
		`{"name":"name","type":"string","required":true,"description":"What it is called."},` +
		`{"name":"input.containers[].name","type":"string","required":false}]}}`
	if diff := cmp.Diff(names, string(in.Fields("create_pod", "name"))); diff != "" {
		t.Errorf("of several, the first sentence; -want +got:\n%s", diff)
	}
	if got := string(in.Fields("create_pods", "name")); got != `{"success":true,"data":{"fields":null}}` {
		t.Errorf("an unknown operation: %s", got)
	}
}

// A path through types inside themselves and members of unions costs no more than its length.
func TestFieldsQueryIsBounded(t *testing.T) {
	in, err := Introspect(podAdapter(), surfaceOf(t, Semantic, "crude"), Protocol{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		strings.Repeat("volume.", 28) + "x", "schema." + strings.Repeat("properties.", 17) + "x",
	} {
		if names, _ := shownFields(t, in.Fields("create_pod", path)); len(names) > 20 {
			t.Errorf("%s: %v", path, names)
		}
	}
}

// Adapters with few types have neither the query nor its parameter, and their answers do not mention it.
func TestFieldsQueryOfSmallAdapters(t *testing.T) {
	small, large := todoAdapter(), many(todoAdapter())
	for _, tt := range []struct {
		adapter *gen.Definitions
		want    bool
	}{{small, false}, {large, true}} {
		in, err := Introspect(tt.adapter, surfaceOf(t, Semantic, "crude"), Protocol{})
		if err != nil {
			t.Fatal(err)
		}
		self := string(in.Operation("introspect"))
		result := string(in.Type("IntrospectionResult"))
		if strings.Contains(self, `"fields"`) != tt.want || strings.Contains(self, `"field"`) != tt.want ||
			strings.Contains(result, `"name":"fields"`) != tt.want {
			t.Errorf("with %d types: %s\n%s", len(tt.adapter.Types), self, result)
		}
		if strings.Contains(string(in.Operations()), `"fields_query"`) != tt.want {
			t.Errorf("with %d types, the extensions: %s", len(tt.adapter.Types), in.Operations())
		}
		if strings.Contains(string(in.Operation("create_todo")), FieldsQuery+"'") {
			t.Error("an operation with a small request mentions the query")
		}
	}
}

// closure is an adapter with one operation whose request has so many types, as a typed API of a cloud has them: many
// fields, the same names in many types, and long descriptions.
func closure(types int) *gen.Definitions {
	random := rand.New(rand.NewPCG(13, 170))
	words := strings.Fields("name kind image key value path port host mode size limit request policy selector label " +
		"secret volume mount probe command env source target class zone region weight rule status token timeout " +
		"retries schedule strategy replica owner reference template condition reason message metadata annotation")
	pick := func() string { return words[random.IntN(len(words))] }
	a := &gen.Definitions{Operations: []gen.Operation{{
		Name: "create_workload", Category: gen.Create, Danger: gen.Reversible,
		Description: "Creates a workload from its specification. The cluster starts its containers at once, in the order " +
			"of their names, and reports their state in the status of the workload.",
		Params: []gen.Param{
			{Name: "namespace", Type: "string", Required: true, Description: "Namespace of the workload, which must exist"},
			{Name: "input", Type: "Type0", Required: true, Description: "What to run"},
		},
		Returns: gen.Returns{Name: "Type0", Kind: gen.KindObject},
	}}}
	next := 1
	for i := range types {
		t := gen.Type{Name: fmt.Sprintf("Type%d", i), Kind: gen.KindObject, Description: "One of the types. " + pick()}
		taken := make(map[string]bool)
		for range 6 + random.IntN(25) {
			name := pick() + "_" + pick()
			if random.IntN(3) == 0 {
				name = pick()
			}
			if taken[name] {
				continue
			}
			taken[name] = true
			field := gen.Param{
				Name: name, Type: []string{"string", "integer", "boolean"}[random.IntN(3)],
				Description: "The " + name + " of this object. " + strings.Repeat("It has to fit the others. ", random.IntN(12)),
			}
			var inner string
			switch choice := random.IntN(8); {
			case choice < 3 && next < types:
				inner = fmt.Sprintf("Type%d", next)
				next++
			case choice == 3:
				inner = fmt.Sprintf("Type%d", random.IntN(next)) // a type that others have, too
			}
			switch random.IntN(4) {
			case 0:
				if inner != "" {
					field.Type, field.Items = "array", &gen.Param{Type: inner}
				}
			case 1:
				if inner != "" {
					field.Type, field.Items = "object", &gen.Param{Type: inner}
				}
			default:
				if inner != "" {
					field.Type = inner
				}
			}
			t.Fields = append(t.Fields, field)
		}
		a.Types = append(a.Types, t)
	}
	return a
}

// B13: in a request of 170 types, an agent that reads the details of the operation finds what any one field takes in at
// most 2,500 bytes of answers. It asks for the field by its name, and by the names around it while others are shown.
func TestLargeRequestsAreNavigable(t *testing.T) {
	const most = 2500
	a := closure(170)
	in, err := Introspect(a, surfaceOf(t, Semantic, "crude"), Protocol{})
	if err != nil {
		t.Fatal(err)
	}
	o := &a.Operations[0]
	places, types := in.finder.everyField(o)
	if types != 170 || len(in.Types()) < 10000 {
		t.Fatalf("%d types in the request, %d bytes in the list", types, len(in.Types()))
	}
	details := in.Operation(o.Name)
	if !strings.Contains(string(details), fieldsNote) {
		t.Errorf("the details do not say how to go on: %s", details)
	}
	step := 1
	if testing.Short() {
		step = 10
	}
	var read []int
	for i := 0; i < len(places); i += step {
		p := places[i]
		names := segmentsOf(p.path)
		bytes := len(details)
		var field *parameterInfo
		for n := 1; field == nil && n <= len(names); n++ {
			answer := in.Fields(o.Name, strings.Join(names[len(names)-n:], "."))
			bytes += len(answer)
			_, fields := shownFields(t, answer)
			if at := slices.IndexFunc(fields, func(f parameterInfo) bool { return f.Name == p.path }); at >= 0 {
				field = &fields[at]
			}
		}
		if field == nil {
			t.Fatalf("%s is not found", p.path)
		}
		want := parameterInfoOf(p.field)
		if field.Type != want.Type || *field.Required != *want.Required || (field.Items == nil) != (want.Items == nil) {
			t.Errorf("%s: %+v", p.path, field)
		}
		if bytes > most {
			t.Errorf("%s: %d bytes", p.path, bytes)
		}
		read = append(read, bytes)
	}
	slices.Sort(read)
	t.Logf("%d fields; median %d bytes, most %d, of them %d of details",
		len(read), read[len(read)/2], read[len(read)-1], len(details))
}
