package policy_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/policy"
)

// Members and elements are those that encoding/json finds, in the same texts.
func FuzzCursor(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `[ ]`, `{"a":1,"b":[1,{"c":"]}"}],"d\u0061\"":"\\"}`, "[ 1 ,\n\"a,b:c\\\"\" , {\"x\" : [ ] }, null,true , -1.5e3 ]", `[[[]],[{}]]`, `{"":""}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || text[0] != '{' && text[0] != '[' {
			return
		}
		names, values := policy.Pass(text)
		var list []json.RawMessage
		if text[0] == '[' {
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
		} else {
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &members); err != nil {
				t.Fatal(err)
			}
			if len(members) != len(names) {
				return // there are duplicates, which never get this far
			}
			for _, name := range names {
				value, ok := members[string([]rune(name))]
				if !ok {
					t.Errorf("there is no member %q", name)
				}
				list = append(list, value)
			}
		}
		var want []string
		for _, value := range list {
			want = append(want, string(value))
		}
		if !slices.Equal(want, values) {
			t.Error(cmp.Diff(want, values))
		}
	})
}
