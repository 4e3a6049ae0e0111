package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
)

// recorded are the members of a record that are about parameters.
type recorded struct {
	Parameters any    `json:"parameters"`
	Bytes      int    `json:"parameters_bytes"`
	SHA256     string `json:"parameters_sha256"`
	Cut        []struct {
		Path   string `json:"path"`
		Bytes  int    `json:"bytes"`
		SHA256 string `json:"sha256"`
	} `json:"parameters_cut"`
}

func recordedOf(t *testing.T, r audit.Record) recorded {
	t.Helper()
	var got recorded
	if err := json.Unmarshal(r.AppendJSON(nil), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// C11: what an operation is about can be read from its record, however much an agent adds to it: only texts of more
// than 4 KiB are cut, with their length and hash, and those that identify something are not.
func TestLongParameters(t *testing.T) {
	long := strings.Repeat("é", 50_000)
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(long)))
	short := strings.TrimSuffix(strings.Repeat(`"k",`, 100_000), ",")
	for _, tt := range []struct {
		name, parameters string
		cut              []string // paths
		kept             string   // that the record has
	}{
		{"a long text", `{"id":"n1","text":"` + long + `"}`, []string{"/text"}, `"id":"n1"`},
		{"a long text before it", `{"text":"` + long + `","id":"n1"}`, []string{"/text"}, `"id":"n1"`},
		{"escapes", `{"text":"` + strings.Repeat(`\u00e9`, 50_000) + `","id":"n1"}`, []string{"/text"}, `"id":"n1"`},
		{"in an object", `{"in":{"a/b":{"~":"` + long + `"}},"id":"n1"}`, []string{"/in/a~1b/~0"}, `"id":"n1"`},
		{"in a list", `{"in":[1,["` + long + `"]],"id":"n1"}`, []string{"/in/1/0"}, `"id":"n1"`},
		{"many short values", `{"in":[` + short + `],"id":"n1"}`, nil, `"id":"n1"`},
		{"an object with the identifier inside", `{"in":{"pad":[` + short + `],"id":"n1"}}`, nil, `"id":"n1"}`},
		{"a long identifier", `{"id":"` + long + `","text":"` + long + `"}`, []string{"/text"}, `{"id":"` + long + `"`},
		{"long identifiers", `{"ids":["` + long + `"],"text":"` + long + `"}`, []string{"/text"}, `{"ids":["` + long + `"]`},
		{"a long number", `{"id":"n1","n":1` + strings.Repeat("0", 70_000) + `}`, []string{"/n"}, `"id":"n1"`},
		{"a text of its own", `"` + long + `"`, []string{""}, `"éé`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := audit.Record{Outcome: audit.Confirmed, Parameters: json.RawMessage(tt.parameters),
				Identifiers: []string{"id", "ids"}}
			got := recordedOf(t, r)
			var paths []string
			for _, c := range got.Cut {
				paths = append(paths, c.Path)
				if c.SHA256 != hash && !strings.Contains(tt.name, "number") || c.Bytes < 70_000 {
					t.Errorf("cut: %+v", c)
				}
			}
			if !reflect.DeepEqual(paths, tt.cut) || got.Bytes != 0 {
				t.Errorf("cut %v, want %v", paths, tt.cut)
			}
			if text := string(r.AppendJSON(nil)); !strings.Contains(text, tt.kept) {
				t.Errorf("%.200s … is lost", tt.kept)
			}
		})
	}
	t.Run("nested too deeply to be read", func(t *testing.T) {
		deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
		got := recordedOf(t, audit.Record{Outcome: audit.Confirmed, Parameters: json.RawMessage(deep)})
		if sum := sha256.Sum256([]byte(deep)); got.SHA256 != hex.EncodeToString(sum[:]) || got.Bytes != len(deep) {
			t.Errorf("%+v", got)
		}
	})
}

// C11: for random parameters, every value that is short or identifies something is in the record as it was sent; of
// every other one the record has the length and the hash.
func TestEveryShortValueIsOnRecord(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		text := func() string {
			n := random.IntN(40)
			if random.IntN(6) == 0 {
				n = 3000 + random.IntN(40_000)
			}
			return strings.Repeat(string(rune('a'+random.IntN(26)))+`"é`, n/3)
		}
		var value func(depth int) any
		value = func(depth int) any {
			switch k := random.IntN(6); {
			case k == 0 && depth < 4:
				object := map[string]any{}
				for range random.IntN(6) {
					object[fmt.Sprint("k~/", random.IntN(50))] = value(depth + 1)
				}
				return object
			case k == 1 && depth < 4:
				var list []any
				for range random.IntN(6) {
					list = append(list, value(depth+1))
				}
				return list
			case k == 2:
				return float64(random.IntN(1000))
			default:
				return text()
			}
		}
		sent := map[string]any{"ids": []any{text(), text()}, "in": value(0), "pad": strings.Repeat("p", 70_000)}
		for range random.IntN(20) {
			sent[fmt.Sprint("p", random.IntN(100))] = value(0)
		}
		parameters, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		got := recordedOf(t, audit.Record{Outcome: audit.Allowed, Parameters: parameters, Identifiers: []string{"ids"}})
		cut := map[string]string{}
		for _, c := range got.Cut {
			cut[c.Path] = fmt.Sprint(c.Bytes, " ", c.SHA256)
		}
		var compare func(path string, sent, got any, whole bool)
		compare = func(path string, sent, got any, whole bool) {
			switch sent := sent.(type) {
			case map[string]any:
				members, _ := got.(map[string]any)
				for name, value := range sent {
					escaped := strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
					compare(path+"/"+escaped, value, members[name], whole || path == "" && name == "ids")
				}
			case []any:
				list, _ := got.([]any)
				if len(list) != len(sent) {
					t.Fatalf("seed %d: %s has %d elements, not %d", seed, path, len(list), len(sent))
				}
				for i, value := range sent {
					compare(fmt.Sprint(path, "/", i), value, list[i], whole)
				}
			case string:
				if whole || len(sent) <= 4<<10 {
					if got != any(sent) {
						t.Errorf("seed %d: %s is not as it was sent", seed, path)
					}
				} else if want := fmt.Sprintf("%d %x", len(sent), sha256.Sum256([]byte(sent))); cut[path] != want {
					t.Errorf("seed %d: %s has %d bytes and is cut: %q", seed, path, len(sent), cut[path])
				}
			default:
				if got != sent {
					t.Errorf("seed %d: %s is %v, not %v", seed, path, got, sent)
				}
			}
		}
		compare("", sent, got.Parameters, false)
	}
}
