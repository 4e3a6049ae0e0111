package aql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-VO-01, REQ-VO-02, REQ-RF-05: the answer does not depend on the order in which a request names its parameters, nor
// on whether the operation is named before or behind them, nor on where they stand.
func TestOrderOfNamesDoesNotMatter(t *testing.T) {
	for _, tt := range []struct {
		name   string
		params []string
		want   string
	}{
		{"sound", []string{`"title":"Milk"`, `"limit":3`, `"tags":["a","b"]`, `"labels":{"color":"red"}`,
			`"data":[1,{"x":null}]`}, `"data":"Milk"`},
		{"missing before all else", []string{`"limit":"x"`, `"titel":"Milk"`, `"secret":"short"`},
			`"VALIDATION_MISSING_PARAM"`},
		{"type before unknown and constraints", []string{`"title":""`, `"limit":"x"`, `"tags":7`, `"nope":1`},
			`"param_name":"limit"`},
		{"unknown before constraints", []string{`"title":""`, `"limit":101`, `"nope":1`, `"nix":{"deep":[1]}`},
			`"VALIDATION_UNKNOWN_PARAM"`},
		{"an unknown field before constraints", []string{`"title":""`, `"labels":{"colour":"red"}`, `"limit":0`},
			`"VALIDATION_UNKNOWN_FIELD"`},
		{"the first broken constraint by definition",
			[]string{`"secret":"short"`, `"limit":101`, `"title":"a title that is far too long"`}, `"param_name":"title"`},
		{"null is absence", []string{`"title":null`, `"limit":null`}, `"VALIDATION_MISSING_PARAM"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, Options{Mode: "single"})
			random := rand.New(rand.NewPCG(1, 2))
			answers := map[string]string{}
			for range 60 {
				random.Shuffle(len(tt.params), func(i, j int) { tt.params[i], tt.params[j] = tt.params[j], tt.params[i] })
				params := `"params":{` + strings.Join(tt.params, ",") + `}`
				members := []string{`"operation":"create_note"`, params}
				switch random.IntN(3) {
				case 1: // all beside params
					members = append([]string{`"operation":"create_note"`}, tt.params...)
				case 2: // some here, some there
					cut := random.IntN(len(tt.params))
					members = append([]string{`"operation":"create_note"`, `"params":{` + strings.Join(tt.params[:cut], ",") + `}`},
						tt.params[cut:]...)
				}
				random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
				request := "{" + strings.Join(members, ",") + "}"
				answer := sortedUnknown(f.call("mcp_aql", request))
				if !strings.Contains(answer, tt.want) {
					t.Fatalf("request %s\nanswer  %s\nwant    %s", request, answer, tt.want)
				}
				answers[answer] = request
			}
			if len(answers) > 1 {
				t.Errorf("%d different answers:\n%v", len(answers), answers)
			}
		})
	}
}

// REQ-VO-03, REQ-VO-11: a default stands in for an absent parameter only where nothing unknown was sent. A misspelt
// name is refused, and not passed over in favour of the default.
func TestDefaultsComeAfterUnknownNames(t *testing.T) {
	var got []int
	operation := noteOperation("count_notes", gen.Read, gen.Safe,
		func(_ context.Context, request *noteRequest) (string, error) {
			got = append(got, request.Limit)
			return "", nil
		}, limit)
	adapter, err := New(gen.NewRegistry([]gen.Handler{operation}, noteTypes), Options{Mode: "single"})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	for _, tt := range []struct{ params, want string }{
		{`{"limti":10}`, `"unknown_params":["limti"],"valid_params":["limit"]`},
		{`{"limit":10}`, `{"success":true`},
		{`{}`, `{"success":true`},
	} {
		reply := session.Call(t.Context(), "mcp_aql", []byte(`{"operation":"count_notes","params":`+tt.params+`}`))
		if !strings.Contains(string(reply.JSON), tt.want) {
			t.Errorf("%s: %s, want %s", tt.params, reply.JSON, tt.want)
		}
	}
	if !slices.Equal(got, []int{10, 25}) {
		t.Errorf("the handler received %v", got)
	}
}

// sortedUnknown spells the names that an answer lists as unknown in one order: they come in that of the request.
func sortedUnknown(answer string) string {
	return strings.NewReplacer("nix, nope", "nope, nix", `"nix","nope"`, `"nope","nix"`).Replace(answer)
}

// REQ-DE-01: a fault of the bytes comes before everything else that is wrong, wherever it is, and nothing runs.
func TestFaultsComeFirst(t *testing.T) {
	for _, broken := range []string{`"title":"Milk","limit":"x"`, `"title":"Milk"`, `"nope":1`, ``} {
		for _, fault := range []struct{ member, want string }{
			{`"data":{"a":1,"a":2}`, `"VALIDATION_DUPLICATE_PARAM"`},
			{`"data":"\ud800"`, `"VALIDATION_INVALID_ENCODING"`},
			{`"data":[01]`, `"VALIDATION_MALFORMED_JSON"`},
			{`"data":` + strings.Repeat("[", 40) + strings.Repeat("]", 40), `"VALIDATION_PAYLOAD_TOO_LARGE"`},
		} {
			for _, operation := range []string{"create_note", "get_note", "no_such_operation"} {
				for _, request := range []string{
					`{"operation":"%[1]s","params":{%[2]s,%[3]s}}`, `{"params":{%[3]s,%[2]s},"operation":"%[1]s"}`,
					`{"operation":"%[1]s","params":{%[2]s},%[3]s}`, `{%[3]s,"operation":"%[1]s",%[2]s}`,
				} {
					f := newFixture(t, Options{Mode: "single"})
					members := broken
					if members == "" {
						members = `"tags":[]`
					}
					request = fmt.Sprintf(request, operation, members, fault.member)
					if answer := f.call("mcp_aql", request); !strings.Contains(answer, fault.want) || len(f.ran) > 0 {
						t.Errorf("request %s\nanswer  %s\nwant    %s", request, answer, fault.want)
					}
				}
			}
		}
	}
}
