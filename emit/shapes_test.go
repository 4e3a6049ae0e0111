package emit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/model"
)

// shapesPackage is the model of testdata/shapes.
func shapesPackage() *model.Package {
	level := enum("shapes", "Level", "Quiet=quiet", "Loud=loud")
	status := enum("kinds", "Status", "Open=open", "Closed=closed", "hidden=hidden")
	point := object("kinds", "Point", field("X", "x", integer(0)), field("Y", "y", integer(0)))
	local := object("shapes", "element", field("N", "n", integer(0)))
	node := object("shapes", "Node")
	node.Fields = []model.Field{field("Name", "name", text(), required), field("Children", "children", slice(pointer(node)), omitEmpty)}
	box := func(elem *model.Shape) *model.Shape {
		sh := object("shapes", "Box", field("Value", "value", elem, required))
		sh.Go.Args = []*model.Shape{elem}
		return sh
	}
	moment := instant()
	moment.Go = model.GoName{PkgPath: testModule + "/shapes", PkgName: "shapes", Name: "Moment"}
	wait := integer(64)
	wait.Go = model.GoName{PkgPath: "time", PkgName: "time", Name: "Duration"}
	weights := named("shapes", "Weights", dictionary(float(64)))
	weights.Key = level
	inner := &model.Shape{Kind: model.ShapeStruct, Fields: []model.Field{
		field("A", "a", text(), required), field("B", "b", slice(integer(0)), preset("[1,2]")),
	}}
	limit := field("*Page.Limit", "limit", integer(0))
	all := object("shapes", "All",
		limit,
		field("*Page.Labels", "labels", dictionary(text())),
		field("Flag", "flag", boolean()),
		field("Small", "small", integer(8)),
		field("Int", "int", integer(0), preset("5")),
		field("Big", "big", integer(64)),
		field("Huge", "huge", unsigned(64)),
		field("Port", "port", unsigned(16)),
		field("Ratio", "ratio", float(64)),
		field("Half", "half", float(32)),
		field("Code", "code", named("shapes", "Code", integer(16))),
		field("Text", "text", text(), param(func(p *model.Param) { p.Aliases = []string{"words"} })),
		field("Level", "level", level),
		field("Levels", "levels", slice(level)),
		field("Status", "status", status),
		field("Bytes", "bytes", bytesShape()),
		field("Blob", "blob", named("shapes", "Blob", bytesShape())),
		field("At", "at", instant(), readOnly),
		field("Moment", "moment", moment),
		field("Wait", "wait", wait),
		field("Any", "any", anything()),
		field("Names", "names", named("shapes", "Names", slice(text()))),
		field("Grid", "grid", slice(slice(integer(0)))),
		field("Pair", "pair", array(2, integer(0))),
		field("Points", "points", slice(point)),
		field("Elements", "elements", slice(local)),
		field("Weights", "weights", weights),
		field("Nodes", "nodes", dictionary(pointer(node))),
		field("Boxes", "boxes", dictionary(box(integer(0)))),
		field("Deep", "deep", dictionary(dictionary(slice(text())))),
		field("Tree", "tree", pointer(node)),
		field("Box", "box", box(level)),
		field("PText", "p_text", pointer(text())),
		field("PInt", "p_int", pointer(integer(0))),
		field("PLevel", "p_level", pointer(level)),
		field("PAt", "p_at", pointer(instant())),
		field("PList", "p_list", pointer(slice(text()))),
		field("PP", "pp", pointer(pointer(integer(0)))),
		field("PMap", "p_map", pointer(dictionary(integer(0)))),
		field("Inner", "inner", inner),
		field("Maybe", "maybe", slice(pointer(integer(0)))),
		field("Title", "title", text(), identifier),
	)
	changes := object("shapes", "Changes", field("Text", "text", pointer(text())), field("Owner", "owner", pointer(text()), appendOnly))
	defaults := object("shapes", "DefaultsRequest",
		field("*Page.Limit", "limit", integer(0), preset("25")),
		field("Flag", "flag", boolean(), preset("true")),
		field("Int", "int", integer(0), preset("1e3")),
		field("PInt", "p_int", pointer(integer(64)), preset("-5")),
		field("Ratio", "ratio", float(64), preset("0.25")),
		field("Text", "text", text(), preset(`"a \"quoted\" one"`)),
		field("Level", "level", level, preset(`"loud"`)),
		field("PLevel", "p_level", pointer(level), preset(`"quiet"`)),
		field("Status", "status", status, preset(`"closed"`)),
		field("At", "at", instant(), preset(`"2026-02-04T10:30:00+05:30"`)),
		field("PAt", "p_at", pointer(instant()), preset(`"2026-02-04T10:30:00.5Z"`)),
		field("Wait", "wait", wait, preset("1500")),
		field("Names", "names", named("shapes", "Names", slice(text())), preset(`["a","b"]`)),
		field("Pair", "pair", array(2, integer(0)), preset(`[1,2]`)),
		field("Map", "map", dictionary(integer(0)), preset(`{"b":2,"a":1}`)),
		field("Bytes", "bytes", bytesShape(), preset(`"AAH/"`)),
		field("Any", "any", anything(), preset(`{"x":[1,null]}`)),
		field("Point", "point", point, preset(`{"x":1}`)),
		field("Tree", "tree", pointer(node), preset(`{"name":"n"}`)),
	)
	limits := object("shapes", "LimitsRequest",
		field("Title", "title", text(), param(func(p *model.Param) { p.Pattern, p.MinLength, p.MaxLength = `^[a-z"]+$`, 2, 4 })),
		field("Names", "names", slice(text()), param(func(p *model.Param) {
			p.MinItems, p.MaxItems = 1, 2
			p.Items = &model.Param{Type: "string", MinLength: 2, Enum: []string{"one", "two"}}
		})),
		field("Score", "score", integer(0), param(func(p *model.Param) { p.Minimum, p.Maximum = "0.5", "1e1" })),
		field("Ratio", "ratio", pointer(float(64)), param(func(p *model.Param) { p.Minimum, p.Maximum = "0", "0.5" })),
		field("Port", "port", unsigned(16), param(func(p *model.Param) { p.Minimum, p.Maximum = "-1", "8080" })),
		field("Choice", "choice", text(), param(func(p *model.Param) { p.Enum = []string{"a", "b,c"} })),
		field("Weights", "weights", dictionary(integer(0)), param(func(p *model.Param) {
			p.MaxItems, p.Items = 1, &model.Param{Type: "integer", Maximum: "9"}
		})),
	)
	omit := object("shapes", "Omit",
		field("Flag", "flag", boolean(), omitEmpty),
		field("Int", "int", integer(0), omitZero),
		field("Text", "text", text(), omitEmpty),
		field("List", "list", slice(integer(0)), omitEmpty),
		field("Map", "map", dictionary(integer(0)), omitZero),
		field("Pointer", "pointer", pointer(integer(0)), omitEmpty),
		field("Any", "any", anything(), omitEmpty),
		field("At", "at", instant(), omitZero),
		field("Point", "point", point, omitZero),
		field("Count", "count", integer(64), quoted),
		field("Ratio", "ratio", float(64), quoted, omitEmpty),
		field("PCount", "p_count", pointer(unsigned(8)), quoted),
		field("Odd", "odd\"<name>", text()),
	)
	forest := named("shapes", "Forest", slice(nil))
	forest.Elem = forest
	tree := named("shapes", "Dictionary", dictionary(nil))
	tree.Elem = tree
	trees := object("shapes", "Trees", field("Forest", "forest", forest), field("Dictionary", "dictionary", tree), field("Loose", "loose", dictionary(anything())))
	plant := object("shapes", "TreesRequest",
		field("Trees.Forest", "forest", forest), field("Trees.Dictionary", "dictionary", tree), field("Trees.Loose", "loose", dictionary(anything())))
	grow := object("shapes", "GrowRequest", field("Input", "input", patch(trees), required))
	nothing := object("shapes", "NothingRequest")

	plain := func(name string, category model.Category, operation string, request, result *model.Shape) model.Handler {
		return handler(name, category, operation, request, result)
	}
	method := func(receiver string, pointer bool, operation string, result *model.Shape) model.Handler {
		h := handler("Next", model.Read, operation, nothing, result)
		h.Receiver = &model.Receiver{Type: receiver, Pointer: pointer}
		return h
	}
	byPointer := plain("Defaults", model.Read, "defaults", defaults, defaults)
	byPointer.RequestPointer = true
	return &model.Package{
		Path: testModule + "/shapes", Name: "shapes",
		Handlers: []model.Handler{
			plain("Echo", model.Create, "echo", object("shapes", "EchoRequest", field("Value", "value", all, required)), pointer(all)),
			plain("Merge", model.Update, "merge", object("shapes", "MergeRequest", field("Input", "input", patch(all), required)), pointer(all)),
			plain("Input", model.Update, "input", object("shapes", "InputRequest", field("Input", "input", changes, required)), dictionary(pointer(text()))),
			byPointer,
			plain("Limits", model.Read, "limits", limits, nil),
			plain("OmitAll", model.Read, "omit", object("shapes", "OmitRequest", field("Set", "set", boolean())), omit),
			plain("Plant", model.Create, "plant", plant, trees),
			plain("Grow", model.Update, "grow", grow, pointer(trees)),
			plain("List", model.Read, "list", nothing, slice(pointer(node))),
			plain("NoList", model.Read, "no_list", nothing, pointer(slice(text()))),
			plain("Array", model.Read, "array", nothing, array(2, level)),
			plain("Word", model.Read, "word", nothing, level),
			plain("Nobody", model.Read, "nobody", nothing, pointer(all)),
			plain("Cycle", model.Read, "cycle", nothing, pointer(node)),
			method("Counter", true, "next", integer(0)),
			method("Fixed", false, "fixed", unsigned(8)),
		},
		Types: []model.Type{{Name: "Level", Kind: model.KindEnum, Values: []model.EnumValue{{Value: "quiet", Description: "Hardly heard."}, {Value: "loud"}}}},
		Taken: []string{
			"All", "Array", "Blob", "Box", "Changes", "Code", "Counter", "Cycle", "Defaults", "DefaultsRequest", "Dictionary", "Echo", "EchoRequest",
			"Fixed", "Forest", "Grow", "GrowRequest", "Input", "InputRequest", "Level", "Limits", "LimitsRequest", "List", "Loud", "Merge", "MergeRequest", "Moment",
			"Names", "Next", "NoList", "Nobody", "Node", "NothingRequest", "Omit", "OmitAll", "OmitRequest", "Page", "Plant", "Quiet", "Registry",
			"Trees", "TreesRequest", "Weights", "Word", "allocate", "aql", "context", "element", "kinds", "model", "readNode", "time", "titlePattern",
		},
		Imported: []string{"aql", "context", "kinds", "time"},
	}
}

const emptyAll = `"flag":false,"small":0,"int":5,"big":0,"huge":0,"port":0,"ratio":0,"half":0,"code":0,"text":"","level":"","levels":[],"status":"","bytes":null,"blob":null,"at":"0001-01-01T00:00:00Z","moment":"0001-01-01T00:00:00Z","wait":0,"any":null,"names":[],"grid":[],"pair":[0,0],"points":[],"elements":[],"weights":null,"nodes":null,"boxes":null,"deep":null,"tree":null,"box":{"value":""},"p_text":null,"p_int":null,"p_level":null,"p_at":null,"p_list":null,"pp":null,"p_map":null,"inner":{"a":"","b":[]},"maybe":[],"title":""`

// allWith is emptyAll with members replaced, given as `"name":value`.
func allWith(members ...string) string {
	object := emptyAll
	for _, member := range members {
		name, _, _ := strings.Cut(member, ":")
		start := strings.Index(object, name+":")
		if start < 0 {
			object = member + "," + object
			continue
		}
		end := len(object)
		depth := 0
		for i := start + len(name) + 1; i < len(object); i++ {
			switch object[i] {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if depth == 0 && object[i] == ',' {
				end = i
				break
			}
		}
		object = object[:start] + member + object[end:]
	}
	return `{"success":true,"data":{` + object + "}}"
}

func data(json string) string { return `{"success":true,"data":` + json + "}" }

// TestShapes compiles code for every shape and sends requests through it.
func TestShapes(t *testing.T) {
	refused := func(code, path string) string { return code + " " + path }
	merged := func(members ...string) string {
		base := []string{
			`"int":7`, `"text":"old"`, `"level":"loud"`, `"at":"1970-01-01T00:00:00Z"`, `"any":{"k":1,"l":2}`, `"names":["a"]`,
			`"nodes":{"n":{"name":"n"}}`, `"boxes":{"b":{"value":1}}`, `"deep":{"a":{"x":["1"],"y":["2"]},"b":null}`,
			`"tree":{"name":"root"}`, `"p_text":"p"`,
		}
		return allWith(append(base, members...)...)
	}
	tests := []struct{ name, request, want string }{
		// Reading and writing of every shape.
		{"absent fields are zero or default", `echo {"value":{}}`, allWith()},
		{"null is absence (REQ-VO-13)", `echo {"value":{"int":null,"text":null,"names":null,"tree":null,"any":null,"pair":null,"labels":null}}`, allWith()},
		{"scalars", `echo {"value":{"flag":true,"small":-128,"int":1.0,"big":-9223372036854775808,"huge":18446744073709551615,"port":65535,"ratio":1e-9,"half":0.1,"code":-300,"text":"é<>","wait":5}}`,
			allWith(`"flag":true`, `"small":-128`, `"int":1`, `"big":-9223372036854775808`, `"huge":18446744073709551615`, `"port":65535`, `"ratio":1e-9`, `"half":0.1`, `"code":-300`, `"text":"é<>"`, `"wait":5`)},
		{"an alias names the same field", `echo {"value":{"words":"w"}}`, allWith(`"text":"w"`)},
		{"enums", `echo {"value":{"level":"loud","levels":["quiet","loud"],"status":"hidden","p_level":"quiet"}}`,
			allWith(`"level":"loud"`, `"levels":["quiet","loud"]`, `"status":"hidden"`, `"p_level":"quiet"`)},
		{"bytes and times, which come back in UTC (REQ-DE-04)", `echo {"value":{"bytes":"AAH/","blob":"AAE=","at":"2026-02-04T10:30:00+05:30","moment":"2026-02-04T00:00:00Z","p_at":"2026-02-04T00:00:00.5Z"}}`,
			allWith(`"bytes":"AAH/"`, `"blob":"AAE="`, `"at":"2026-02-04T05:00:00Z"`, `"moment":"2026-02-04T00:00:00Z"`, `"p_at":"2026-02-04T00:00:00.5Z"`)},
		{"lists", `echo {"value":{"names":["a","b"],"grid":[[1],[],[2,3]],"pair":[1,2],"points":[{"x":1},{"y":2}],"elements":[{"n":3}],"maybe":[1,null]}}`,
			allWith(`"names":["a","b"]`, `"grid":[[1],[],[2,3]]`, `"pair":[1,2]`, `"points":[{"x":1,"y":0},{"x":0,"y":2}]`, `"elements":[{"n":3}]`, `"maybe":[1,null]`)},
		{"maps, sorted by key", `echo {"value":{"weights":{"quiet":1,"loud":2.5},"nodes":{"b":{"name":"x"},"a":null},"boxes":{"k":{"value":4}},"deep":{"d":{"e":["f"]}}}}`,
			allWith(`"weights":{"loud":2.5,"quiet":1}`, `"nodes":{"a":null,"b":{"name":"x"}}`, `"boxes":{"k":{"value":4}}`, `"deep":{"d":{"e":["f"]}}`)},
		{"recursive and generic types", `echo {"value":{"tree":{"name":"a","children":[{"name":"b"},null]},"box":{"value":"loud"}}}`,
			allWith(`"tree":{"name":"a","children":[{"name":"b"},null]}`, `"box":{"value":"loud"}`)},
		{"pointers", `echo {"value":{"p_text":"t","p_int":1,"p_list":["l"],"pp":2,"p_map":{"k":1}}}`,
			allWith(`"p_text":"t"`, `"p_int":1`, `"p_list":["l"]`, `"pp":2`, `"p_map":{"k":1}`)},
		{"a struct without a name, with a default inside", `echo {"value":{"inner":{"a":"x"}}}`, allWith(`"inner":{"a":"x","b":[1,2]}`)},
		{"a pointer to an embedded struct", `echo {"value":{"limit":3}}`, allWith(`"limit":3,"labels":null`)},
		{"any", `echo {"value":{"any":{"b":[1,"x",null],"a":12345678901234567890}}}`, allWith(`"any":{"a":12345678901234567890,"b":[1,"x",null]}`)},

		// Refusals name the place.
		{"a required field of a nested object", `echo {"value":{"inner":{}}}`, refused("VALIDATION_MISSING_PARAM", "value.inner.a")},
		{"a required field inside a list", `echo {"value":{"tree":{"name":"a","children":[{}]}}}`, refused("VALIDATION_MISSING_PARAM", "value.tree.children[0].name")},
		{"a missing parameter", `echo {}`, refused("VALIDATION_MISSING_PARAM", "value")},
		{"a null for a required parameter (T-07)", `echo {"value":null}`, refused("VALIDATION_MISSING_PARAM", "value")},
		{"a wrong type in a list (REQ-VO-05)", `echo {"value":{"names":["a",1]}}`, refused("VALIDATION_INVALID_TYPE", "value.names[1]")},
		{"a null in a list of strings", `echo {"value":{"names":[null]}}`, refused("VALIDATION_INVALID_TYPE", "value.names[0]")},
		{"an object where a list belongs", `echo {"value":{"grid":[{}]}}`, refused("VALIDATION_INVALID_TYPE", "value.grid[0]")},
		{"too many elements for an array", `echo {"value":{"pair":[1,2,3]}}`, refused("VALIDATION_OUT_OF_RANGE", "value.pair")},
		{"too few elements for an array", `echo {"value":{"pair":[1]}}`, refused("VALIDATION_OUT_OF_RANGE", "value.pair")},
		{"a number that the Go type cannot hold", `echo {"value":{"small":128}}`, refused("VALIDATION_OUT_OF_RANGE", "value.small")},
		{"no value of the enum", `echo {"value":{"levels":["mute"]}}`, refused("VALIDATION_INVALID_ENUM", "value.levels[0]")},
		{"an unknown field (REQ-UK-10)", `echo {"value":{"tree":{"name":"n","nope":1}}}`, refused("VALIDATION_UNKNOWN_FIELD", `'value.tree'`) + " nope"},

		// Constraints (REQ-VO-06 to REQ-VO-09).
		{"all constraints met", `limits {"title":"ab","names":["one"],"score":10,"ratio":0.5,"port":8080,"choice":"b,c","weights":{"k":9}}`, data("null")},
		{"minimum of an integer rounds inwards", `limits {"score":0}`, refused("VALIDATION_OUT_OF_RANGE", "score")},
		{"maximum", `limits {"ratio":0.6}`, refused("VALIDATION_OUT_OF_RANGE", "ratio")},
		{"maximum of an unsigned integer", `limits {"port":8081}`, refused("VALIDATION_OUT_OF_RANGE", "port")},
		{"pattern", `limits {"title":"AB"}`, refused("VALIDATION_PATTERN_MISMATCH", "title")},
		{"length is in code points", `limits {"title":"é"}`, refused("VALIDATION_OUT_OF_RANGE", "title")},
		{"an enum of plain strings", `limits {"choice":"c"}`, refused("VALIDATION_INVALID_ENUM", "choice")},
		{"constraints of elements", `limits {"names":["one","three"]}`, refused("VALIDATION_INVALID_ENUM", "names[1]")},
		{"constraints of map values", `limits {"weights":{"k":10}}`, refused("VALIDATION_OUT_OF_RANGE", "weights.k")},
		{"number of elements", `limits {"names":[]}`, refused("VALIDATION_OUT_OF_RANGE", "names")},
		{"number of entries", `limits {"weights":{"a":1,"b":2}}`, refused("VALIDATION_OUT_OF_RANGE", "weights")},

		// Defaults (REQ-VO-11).
		{"defaults of every kind", `defaults`, data(`{"limit":25,"flag":true,"int":1000,"p_int":-5,"ratio":0.25,"text":"a \"quoted\" one","level":"loud","p_level":"quiet","status":"closed","at":"2026-02-04T05:00:00Z","p_at":"2026-02-04T10:30:00.5Z","wait":1500,"names":["a","b"],"pair":[1,2],"map":{"a":1,"b":2},"bytes":"AAH/","any":{"x":[1,null]},"point":{"x":1,"y":0},"tree":{"name":"n"}}`)},
		{"what is given replaces the default", `defaults {"limit":1,"flag":false,"int":0,"p_int":0,"ratio":0,"text":"","level":"quiet","p_level":"loud","status":"open","at":"2026-01-01T00:00:00Z","p_at":"2026-01-01T00:00:00Z","wait":0,"names":[],"pair":[0,0],"map":{},"bytes":"","any":1,"point":{},"tree":{"name":""}}`,
			data(`{"limit":1,"flag":false,"int":0,"p_int":0,"ratio":0,"text":"","level":"quiet","p_level":"loud","status":"open","at":"2026-01-01T00:00:00Z","p_at":"2026-01-01T00:00:00Z","wait":0,"names":[],"pair":[0,0],"map":{},"bytes":"","any":1,"point":{"x":0,"y":0},"tree":{"name":""}}`)},

		// Merging (REQ-UP-04 to REQ-UP-12).
		{"an empty patch changes nothing", `merge {"input":{}}`, merged()},
		{"scalars and lists replace", `merge {"input":{"text":"new","names":["b","c"],"level":"quiet","pair":[3,4]}}`,
			merged(`"text":"new"`, `"names":["b","c"]`, `"level":"quiet"`, `"pair":[3,4]`)},
		{"objects merge at every depth (REQ-UP-07)", `merge {"input":{"deep":{"a":{"x":["9"]},"b":{"z":[]}},"boxes":{"b":{"value":2},"c":{"value":3}},"tree":{"children":[{"name":"leaf"}]},"any":{"k":null,"m":{"n":1}}}}`,
			merged(`"deep":{"a":{"x":["9"],"y":["2"]},"b":{"z":[]}}`, `"boxes":{"b":{"value":2},"c":{"value":3}}`, `"tree":{"name":"root","children":[{"name":"leaf"}]}`, `"any":{"l":2,"m":{"n":1}}`)},
		{"null removes only what it names (REQ-UP-09)", `merge {"input":{"deep":{"a":{"x":null},"b":null,"nope":null},"nodes":{"n":null},"p_text":null,"tree":null,"names":null}}`,
			merged(`"deep":{"a":{"y":["2"]}}`, `"nodes":{}`, `"p_text":null`, `"tree":null`, `"names":[]`)},
		{"null brings a default or zero back", `merge {"input":{"int":null,"text":null,"any":null}}`, merged(`"int":5`, `"text":""`, `"any":null`)},
		{"a pointer is created by merging", `merge {"input":{"p_map":{"k":1},"pp":4,"labels":{"a":"b"}}}`, merged(`"limit":0,"labels":{"a":"b"}`, `"p_map":{"k":1}`, `"pp":4`)},
		{"null for an embedded field that is not there", `merge {"input":{"limit":null}}`, merged()},
		{"null for a field that has no zero value", `merge {"input":{"level":null}}`, refused("VALIDATION_INVALID_TYPE", "input.level")},
		{"null for a required field", `merge {"input":{"tree":{"name":null}}}`, refused("VALIDATION_INVALID_TYPE", "input.tree.name")},
		{"null for a struct with required fields", `merge {"input":{"inner":null}}`, refused("VALIDATION_INVALID_TYPE", "input.inner")},
		{"a read-only field (REQ-UP-12)", `merge {"input":{"at":"2026-01-01T00:00:00Z"}}`, refused("VALIDATION_READ_ONLY_FIELD", "input.at")},
		{"an identifier is unknown inside input (REQ-UP-06)", `merge {"input":{"title":"x"}}`, refused("VALIDATION_UNKNOWN_FIELD", "title")},
		{"an unknown field inside input (REQ-UP-05)", `merge {"input":{"inner":{"c":1}}}`, refused("VALIDATION_UNKNOWN_FIELD", `'input.inner'`)},
		{"a wrong type inside input (REQ-UP-04)", `merge {"input":{"deep":{"a":{"x":[1]}}}}`, refused("VALIDATION_INVALID_TYPE", "input.deep.a.x[0]")},
		{"input of another kind (REQ-UP-03)", `merge {"input":[]}`, refused("VALIDATION_INVALID_TYPE", "input")},
		{"no input (REQ-UP-02)", `merge {}`, refused("VALIDATION_MISSING_PARAM", "input")},

		// An update by a struct instead of a patch.
		{"a field of an input struct", `input {"input":{"text":"t"}}`, data(`{"owner":null,"text":"t"}`)},
		{"null is refused where it cannot remove", `input {"input":{"text":null}}`, refused("VALIDATION_INVALID_TYPE", "input.text")},
		{"an append-only field of an input struct", `input {"input":{"owner":"o"}}`, refused("VALIDATION_APPEND_ONLY", "input.owner")},

		// Types that contain themselves without a struct.
		{"recursive lists and maps", `plant {"forest":[[],[[]]],"dictionary":{"b":{},"a":{"c":{}}},"loose":{"n":null,"m":1}}`,
			data(`{"forest":[[],[[]]],"dictionary":{"a":{"c":{}},"b":{}},"loose":{"m":1,"n":null}}`)},
		{"recursive maps merge", `grow {"input":{"forest":[[]],"dictionary":{"a":{"b":{"d":{}},"c":null},"e":{}},"loose":{"x":{"y":1}}}}`,
			data(`{"forest":[[]],"dictionary":{"a":{"b":{"d":{}}},"e":{}},"loose":{"x":{"y":1}}}`)},

		// Encoding.
		{"omitempty and omitzero leave out", `omit`, data(`{"count":"0","p_count":null,"odd\"<name>":""}`)},
		{"omitempty and omitzero keep", `omit {"set":true}`, data(`{"flag":true,"int":1,"text":"t","list":[1],"map":{"k":1},"pointer":0,"any":"a","at":"1970-01-01T00:00:00Z","point":{"x":0,"y":1},"count":"9007199254740993","ratio":"0.5","p_count":"3","odd\"<name>":"o"}`)},
		{"a list is an object with items (T-90)", `list`, data(`{"items":[{"name":"a"},null]}`)},
		{"no list", `no_list`, data(`null`)},
		{"an array", `array`, data(`{"items":["loud","quiet"]}`)},
		{"a scalar", `word`, data(`"loud"`)},
		{"a nil struct", `nobody`, data(`null`)},
		{"a value that contains itself", `cycle`, "INTERNAL_ERROR"},
		{"two receivers with methods of one name, first", `next`, data("1")},
		{"two receivers with methods of one name, second", `fixed`, data("7")},
	}
	code := generate(t, shapesPackage())
	requests := make([]string, len(tests))
	for i, test := range tests {
		requests[i] = test.request
	}
	replies := run(t, "shapes", map[string]string{
		"shapes/shapes.go": source(t, "shapes/shapes.go"), "shapes/aql_gen.go": code, "kinds/kinds.go": source(t, "kinds/kinds.go"),
	}, requests)
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if strings.HasPrefix(test.want, "{") {
				if replies[i] != test.want {
					t.Errorf("%s\n got %s\nwant %s", test.request, replies[i], test.want)
				}
				return
			}
			for _, part := range strings.Fields(test.want) {
				if !strings.Contains(replies[i], `"success":false`) || !strings.Contains(replies[i], part) {
					t.Errorf("%s\n got %s\nwant a failure with %q", test.request, replies[i], part)
				}
			}
		})
	}
}

// More than 64 tracked parameters need more than one word of bits.
func TestManyParameters(t *testing.T) {
	const count = 70
	var source strings.Builder
	source.WriteString("package many\n\nimport aql \"github.com/aqltag/aqltag/runtime\"\n\ntype Request struct {\n")
	var fields []model.Field
	var sum, names []string
	for i := range count {
		name := fmt.Sprintf("F%d", i)
		fmt.Fprintf(&source, "\t%s int\n", name)
		option := preset("1")
		if i == count-1 {
			option = required
		}
		fields = append(fields, field(name, strings.ToLower(name), integer(0), option))
		sum = append(sum, "r."+name)
		names = append(names, name)
	}
	fmt.Fprintf(&source, "}\n\nfunc Sum(r Request) (int, error) { return %s, nil }\n\nfunc Registry() *aql.Registry { return NewRegistry() }\n", strings.Join(sum, " + "))
	h := handler("Sum", model.Read, "sum", object("many", "Request", fields...), integer(0))
	h.Context = false
	pkg := &model.Package{Path: testModule + "/many", Name: "many", Handlers: []model.Handler{h}, Taken: append([]string{"Registry", "Request", "Sum", "aql"}, names...)}
	replies := run(t, "many", map[string]string{"many/many.go": source.String(), "many/aql_gen.go": generate(t, pkg)},
		[]string{`sum {"f69":100}`, `sum {"f0":5,"f64":5,"f69":0}`, `sum {}`})
	for i, want := range []string{data("169"), data("77"), "VALIDATION_MISSING_PARAM"} {
		if !strings.Contains(replies[i], want) {
			t.Errorf("reply %d: got %s, want %s", i, replies[i], want)
		}
	}
}
