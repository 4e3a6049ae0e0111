package tagparse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateRules(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Rule
	}{
		{"none", "", nil},
		{"a flag and a parameter", "required,min=1", []Rule{
			{Name: "required", Offset: 0, End: 8}, {Name: "min", Param: "1", Offset: 9, End: 14},
		}},
		{"rules of elements", "max=5,dive,min=2,dive,email", []Rule{
			{Name: "max", Param: "5", Offset: 0, End: 5}, {Name: "min", Param: "2", Offset: 11, End: 16, Depth: 1}, {Name: "email", Offset: 22, End: 27, Depth: 2},
		}},
		{"rules of keys", "dive,keys,min=1,endkeys,required", []Rule{
			{Name: "min", Param: "1", Offset: 10, End: 15, Depth: 1, Key: true}, {Name: "required", Offset: 24, End: 32, Depth: 1},
		}},
		{"alternatives", "rgb|rgba", []Rule{{Name: "rgb", Offset: 0, End: 8, Alternatives: []Rule{
			{Name: "rgb", Offset: 0, End: 3}, {Name: "rgba", Offset: 4, End: 8},
		}}}},
		{"escaped comma and bar", "startswith=a0x2Cb0x7Cc", []Rule{{Name: "startswith", Param: "a,b|c", Offset: 0, End: 22}}},
		{"empty rules", ",required,,", []Rule{{Name: "required", Offset: 1, End: 9}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ParseValidate(tt.text)
			for i := range got {
				for j := range got[i].Alternatives {
					got[i].Alternatives[j].Alternatives = nil
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"red green": {"red", "green"}, "'dark red'  blue ": {"dark red", "blue"}, "": nil, "'open": {"'open"}, "1 2": {"1", "2"},
	} {
		if diff := cmp.Diff(want, Words(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestSchemaStyles(t *testing.T) {
	tests := []struct {
		name, text string
		want       []SchemaItem
	}{
		{"flags alone are items", "required", []SchemaItem{{Key: "required", Flag: true, End: 8}}},
		{"items", `title=Name,enum=a\,b`, []SchemaItem{{Key: "title", Value: "Name", End: 10}, {Key: "enum", Value: "a,b", Offset: 11, End: 20}}},
		{"an unknown key in front is an item all the same", "colour=red", []SchemaItem{{Key: "colour", Value: "red", End: 10}}},
		{"a description", "the city to look up", nil},
		{"a description with commas and equals signs", "the city, such as a=b, required", nil},
		{"a description that begins with a key", "required for all", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := ParseSchema(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
				t.Errorf("ok %t: %s", ok, diff)
			}
		})
	}
}

// Offsets lie in the text and rules do not overlap, whatever the text.
func FuzzForeignTags(f *testing.F) {
	f.Add("required,min=1,dive,keys,max=2,endkeys,oneof='a b' c|email")
	f.Add(`title=x\,y,enum=a,description=`)
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, rule := range ParseValidate(text) {
			if rule.Offset < last || rule.End > len(text) || rule.Offset >= rule.End {
				t.Fatalf("rule %+v", rule)
			}
			last = rule.End
			Words(rule.Param)
		}
		last = 0
		items, _ := ParseSchema(text)
		for _, item := range items {
			if item.Offset < last || item.End > len(text) || item.Offset > item.End {
				t.Fatalf("item %+v", item)
			}
			last = item.End
		}
	})
}
