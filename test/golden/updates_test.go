package golden_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// merging are the updates of the golden package updates/merge_through_get, whose handlers replace what they are given.
// under is the field of the resource that an update is about; empty: the resource.
var merging = []struct {
	operation, identifier, under string
	fields                       []string
}{
	{"update_note", "id", "", []string{"title", "text", "tags", "meta", "labels"}},
	{"edit_note", "id", "", []string{"title", "text", "labels"}},
	{"label_note", "note_id", "meta", []string{"color", "size"}},
}

// A6, REQ-UP-11: nobody loses a field that he did not name. Updates with random fields, at random depths, of handlers
// that replace what they are given leave everything else as it was, and set what they name.
func holdUpdates(t *testing.T, driver string) {
	const scenario = "updates/merge_through_get"
	p := startAdapters(t, driver)
	random := rand.New(rand.NewPCG(*fidelitySeed, 1))
	read := func() map[string]any {
		t.Helper()
		return dataOf(t, p.call(scenario, "mcp_aql_read", `{"operation":"get_note","params":{"id":"n1"}}`))
	}
	before := read()
	named := make(map[string]int)
	for range *fidelityRounds {
		u := merging[random.IntN(len(merging))]
		input := map[string]any{}
		for _, field := range u.fields {
			if random.IntN(2) == 0 {
				input[field] = randomField(random, field)
				named[field]++
			}
		}
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		request := fmt.Sprintf(`{"operation":%q,"params":{%q:"n1","input":%s}}`, u.operation, u.identifier, text)
		dataOf(t, p.call(scenario, "mcp_aql_update", request))

		change := any(input)
		if u.under != "" {
			change = map[string]any{u.under: input}
		}
		var sent any
		json.Unmarshal([]byte(toJSON(t, change)), &sent)
		want := mergedPatch(before, sent)
		after := read()
		if diff := cmp.Diff(want, any(after)); diff != "" {
			t.Fatalf("seed %d: %s of %s (-want +got):\n%s", *fidelitySeed, request, toJSON(t, before), diff)
		}
		before = after
	}
	for _, field := range []string{"title", "text", "tags", "meta", "labels", "color", "size"} {
		if named[field] == 0 {
			t.Errorf("no update has named %s: the test shows nothing of it", field)
		}
	}
}

// randomField makes a value of a field of a note.
func randomField(random *rand.Rand, field string) any {
	word := func() string { return string(rune('a' + random.IntN(26))) }
	switch field {
	case "tags":
		return []string{word(), word()}[:random.IntN(3)]
	case "size":
		return 1 + random.IntN(9)
	case "meta":
		meta := map[string]any{}
		for _, part := range []string{"color", "size"} {
			if random.IntN(2) == 0 {
				meta[part] = randomField(random, part)
			}
		}
		return meta
	case "labels":
		labels := map[string]any{}
		for range random.IntN(4) {
			if labels[word()] = word(); random.IntN(3) == 0 {
				labels[word()] = nil
			}
		}
		return labels
	default:
		return word()
	}
}

// mergedPatch is RFC 7396 as its §2 has it, which leaves target as it is.
func mergedPatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	old, _ := target.(map[string]any)
	merged := maps.Clone(old)
	if merged == nil {
		merged = map[string]any{}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if changes[name] == nil {
			delete(merged, name)
		} else {
			merged[name] = mergedPatch(merged[name], changes[name])
		}
	}
	return merged
}

// dataOf returns the data of a success.
func dataOf(t *testing.T, reply []byte) map[string]any {
	t.Helper()
	var answer struct {
		Success bool
		Data    map[string]any
	}
	if err := json.Unmarshal(reply, &answer); err != nil || !answer.Success {
		t.Fatalf("%v: %s", err, reply)
	}
	return answer.Data
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
