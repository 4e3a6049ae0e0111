package tagparse_test

import (
	"fmt"

	"github.com/aqltag/aqltag/tagparse"
)

// A tag has items with a key, most of them with a value.
func ExampleParse() {
	items, _ := tagparse.Parse("required,maxlen=200,enum=low|'a, b'", tagparse.Parameter)
	for _, item := range items {
		fmt.Printf("%d-%d %s %q %q\n", item.KeyOffset, item.End, item.Key, item.Value, item.List)
	}
	// Output:
	// 0-8 required "" []
	// 9-19 maxlen "200" []
	// 20-35 enum "low|a, b" ["low" "a, b"]
}

// All mistakes in a tag are found at once, each at its bytes.
func ExampleParse_mistakes() {
	tag := "catagory=READ,timeout=soon"
	_, problems := tagparse.Parse(tag, tagparse.Operation)
	for _, p := range problems {
		fmt.Printf("%q: %s; suggestion: %q\n", tag[p.Offset:p.End], p.Message, p.Suggestion)
	}
	// Output:
	// "catagory": there is no key "catagory"; suggestion: "category"
	// "soon": key "timeout" takes a duration such as 30s or 2m; suggestion: ""
}

// A struct tag may have tags of several libraries, and mistakes that package reflect ignores.
func ExampleStructTag() {
	pairs, problems := tagparse.StructTag("`json:\"title\" aq1:\"required\"`")
	for _, pair := range pairs {
		fmt.Printf("%s at byte %d: %s\n", pair.Key, pair.KeyOffset, pair.Value)
	}
	for _, p := range problems {
		fmt.Println(p.Message)
	}
	// Output:
	// json at byte 1: title
	// aq1 at byte 14: required
	// struct tag key "aq1" is ignored; it looks like "aql"
}

func ExampleParseDirective() {
	d, _, _ := tagparse.ParseDirective(`aql:example {"title":"Buy milk"} The shortest request`)
	fmt.Println(d.Name, d.Example, d.Description)
	// Output: example {"title":"Buy milk"} The shortest request
}
