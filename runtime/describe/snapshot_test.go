package describe

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A snapshot is what introspect answers, each operation and each type in full, in the order of the lists; the files of an
// export make the same one.
func TestSnapshotHoldsEveryAnswer(t *testing.T) {
	a, s := todoAdapter(), surfaceOf(t, Semantic, "")
	document, err := Snapshot(a, s, Usual(a))
	if err != nil {
		t.Fatal(err)
	}
	introspection, err := Introspect(a, s, Usual(a))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Protocol   json.RawMessage   `json:"_protocol"`
		Operations []json.RawMessage `json:"operations"`
		Types      []json.RawMessage `json:"types"`
	}
	if err := json.Unmarshal(document, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Operations) != len(a.Operations)+1 || len(got.Types) < len(a.Types) || !bytes.Contains(got.Protocol, []byte(`"mode"`)) {
		t.Errorf("%d operations and %d types: %s", len(got.Operations), len(got.Types), document)
	}
	for _, detail := range got.Operations {
		var named struct{ Name string }
		var compact bytes.Buffer
		if err := errors.Join(json.Unmarshal(detail, &named), json.Compact(&compact, detail)); err != nil {
			t.Fatal(err)
		}
		if want := `{"success":true,"data":{"operation":` + compact.String() + `}}`; want != string(introspection.Operation(named.Name)) {
			t.Errorf("%s: %s\nis not what introspect answers:\n%s", named.Name, want, introspection.Operation(named.Name))
		}
	}

	files := make(fstest.MapFS)
	for _, f := range introspection.Files() {
		files[f.Name] = &fstest.MapFile{Data: f.Content}
	}
	read, err := ReadSnapshot(files)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(document), string(read)); diff != "" {
		t.Errorf("files make another one (-snapshot +files):\n%s", diff)
	}
}

func TestCollectSnapshotTellsWhatIsNoIntrospection(t *testing.T) {
	const list = `{"success":true,"data":{"operations":[{"name":"a"}]}}`
	for _, tt := range []struct{ name, list, detail, says string }{
		{"no answer", "", "", `asking introspect for operations: no answer`},
		{"no JSON", "{", "", `reading the answer of introspect for operations`},
		{"a failure", `{"success":false,"error":{"code":"INTROSPECTION_ERROR","message":"no"}}`, "", `introspect for operations failed: INTROSPECTION_ERROR no`},
		{"an entry without a name", `{"success":true,"data":{"operations":[{}]}}`, "", `lists an entry without a name`},
		{"no details", list, `{"success":true,"data":{"operation":null}}`, `lists "a" among the operations, and knows nothing of it by name`},
		{"details that fail", list, `{"success":false,"error":{"code":"X","message":"m"}}`, `introspect for operations, name "a" failed: X m`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := CollectSnapshot(func(_, name string) ([]byte, error) {
				answer := tt.list
				if name != "" {
					answer = tt.detail
				}
				if answer == "" {
					return nil, errors.New("no answer")
				}
				return []byte(answer), nil
			})
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want it to say %q", err, tt.says)
			}
		})
	}
}
