package aql

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/google/go-cmp/cmp"
)

// sweepRequest is a request to an operation that can be tried out, whose parameter Note tells null and absent apart.
type sweepRequest struct {
	Folder string
	DryRun bool
	Note   Optional[string]
}

// newSweeper makes an adapter with the one operation sweep_notes, and returns where its requests end up.
func newSweeper(t *testing.T, options Options) (*Session, *[]sweepRequest) {
	t.Helper()
	var ran []sweepRequest
	options.Name = "notes"
	adapter, err := New(gen.NewRegistry([]gen.Handler{{
		Name: "sweep_notes", Category: gen.Delete, Danger: gen.Dangerous, Returns: "Nothing",
		Params: []gen.Field{{Name: "folder", Go: "Folder", Type: "string", Rules: gen.Rules{gen.Default(`"inbox"`),
			gen.Aliases{"dir"}}}, {Name: "dry_run", Go: "DryRun", Type: "boolean",
			Rules: gen.Rules{gen.DryRun{}}}, {Name: "note", Go: "Note", Type: "string"}},
		Request: (*sweepRequest)(nil),
		Call: func(_ context.Context, _ []any, request any) (any, error) {
			ran = append(ran, *request.(*sweepRequest))
			return nil, nil
		},
	}}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}}), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession(), &ran
}

func sweep(t *testing.T, s *Session, request string) string {
	t.Helper()
	reply := s.Call(t.Context(), "mcp_aql_delete", []byte(request))
	return string(reply.JSON)
}

func tokenIn(t *testing.T, answer string) string {
	t.Helper()
	_, after, found := strings.Cut(answer, `"confirmation_token":"`)
	token, _, ok := strings.Cut(after, `"`)
	if !found || !ok {
		t.Fatalf("no token in %s", answer)
	}
	return token
}

// REQ-CT-03, REQ-RF-05, REQ-VO-13: the gate sees the parameters that the handler will see, wherever and however often a
// request names them. What stands in params wins, also where it is null.
func TestTheGateSeesWhatTheHandlerSees(t *testing.T) {
	for name, request := range map[string]string{
		"null in params, true beside":  `{"operation":"sweep_notes","params":{"dry_run":null},"dry_run":true}`,
		"true beside, before params":   `{"dry_run":true,"params":{"dry_run":null},"operation":"sweep_notes"}`,
		"false in params, true beside": `{"operation":"sweep_notes","params":{"dry_run":false},"dry_run":true}`,
		"null and null":                `{"operation":"sweep_notes","params":{"dry_run":null},"dry_run":null}`,
		"as an item of a batch": `{"operations":[{"operation":"sweep_notes","params":{"dry_run":null},` +
			`"dry_run":true}]}`,
		"an item, with the params behind": `{"operations":[{"dry_run":true,"operation":"sweep_notes",` +
			`"params":{"dry_run":null}}]}`,
	} {
		s, ran := newSweeper(t, Options{})
		if got := sweep(t, s, request); !strings.Contains(got, "CONFIRMATION_REQUIRED") || len(*ran) > 0 {
			t.Errorf("%s: ran %+v: %s", name, *ran, got)
		}
	}
	s, ran := newSweeper(t, Options{})
	if got := sweep(t, s, `{"operation":"sweep_notes","params":{"dry_run":true},"dry_run":false}`); len(*ran) != 1 ||
		!(*ran)[0].DryRun {
		t.Errorf("true in params, false beside: ran %+v: %s", *ran, got)
	}
}

// REQ-CT-03, T-60: a token is not good for what a handler can tell apart.
func TestTokensTellValuesApart(t *testing.T) {
	const asked = `{"operation":"sweep_notes","params":{"folder":"a"}}`
	for name, other := range map[string]string{
		"null where it means something": `{"operation":"sweep_notes","params":{"folder":"a","note":null,` +
			`"_confirmation":"TOKEN"}}`,
		"the default, behind the value": `{"operation":"sweep_notes","params":{"folder":null,` +
			`"_confirmation":"TOKEN"},"folder":"a"}`,
		"under another name, behind it": `{"operation":"sweep_notes","params":{"dir":null,"_confirmation":"TOKEN"},` +
			`"folder":"a"}`,
		"another value, which wins": `{"operation":"sweep_notes","params":{"folder":"b","_confirmation":"TOKEN"},` +
			`"dir":"a"}`,
		"an empty value": `{"operation":"sweep_notes","params":{"folder":"a","note":"",` +
			`"_confirmation":"TOKEN"}}`,
		"another letter that looks the same": `{"operation":"sweep_notes","params":{"folder":"а","_confirmation":"TOKEN"}}`,
	} {
		s, ran := newSweeper(t, Options{})
		token := tokenIn(t, sweep(t, s, asked))
		if got := sweep(t, s, strings.Replace(other, "TOKEN", token, 1)); !strings.Contains(got, "TOKEN_SCOPE_MISMATCH") ||
			len(*ran) > 0 {
			t.Errorf("%s: ran %+v: %s", name, *ran, got)
		}
	}
	for name, same := range map[string]string{
		"under its other name":  `{"operation":"sweep_notes","params":{"dir":"a","_confirmation":"TOKEN"}}`,
		"what does not count":   `{"operation":"sweep_notes","params":{"folder":"a","_confirmation":"TOKEN"},"dir":"b"}`,
		"null for a plain type": `{"operation":"sweep_notes","params":{"folder":"a","dry_run":null,"_confirmation":"TOKEN"}}`,
	} {
		s, ran := newSweeper(t, Options{})
		token := tokenIn(t, sweep(t, s, asked))
		if got := sweep(t, s, strings.Replace(same, "TOKEN", token, 1)); len(*ran) != 1 || (*ran)[0].Folder != "a" {
			t.Errorf("%s: ran %+v: %s", name, *ran, got)
		}
	}
}

// REQ-DL-01: a danger level that nobody knows is refused, and not taken for harmless.
func TestUnknownDangerLevels(t *testing.T) {
	for _, level := range []gen.Danger{"", "harmless", "Destructive"} {
		registry := gen.NewRegistry([]gen.Handler{noteOperation("wipe_notes", gen.Delete, level,
			func(context.Context, *noteRequest) (string, error) { return "", nil })}, noteTypes)
		if _, err := New(registry, Options{Name: "notes"}); err == nil || !strings.Contains(err.Error(), "wipe_notes") {
			t.Errorf("level %q: %v", level, err)
		}
	}
}

// REQ-CT-15, T-61: what is revoked cannot be used.
func TestRevokeToken(t *testing.T) {
	s, ran := newSweeper(t, Options{})
	token := tokenIn(t, sweep(t, s, `{"operation":"sweep_notes"}`))
	for i, want := range []bool{true, false} {
		if was, err := s.adapter.RevokeToken(t.Context(), token, "logout"); was != want || err != nil {
			t.Errorf("time %d: %v, %v", i, was, err)
		}
	}
	if got := sweep(t, s, `{"operation":"sweep_notes","_confirmation":"`+token+`"}`); !strings.Contains(got,
		"TOKEN_INVALID") || len(*ran) > 0 {
		t.Error(got)
	}
}

// REQ-AU-02, REQ-IN-16: no name of a map's entry makes its sensitive fields show, in records, questions or reports.
func TestRedactionOfMaps(t *testing.T) {
	type login struct{ Password, User string }
	type request struct {
		Logins map[string]login
	}
	adapter, err := New(gen.NewRegistry([]gen.Handler{{
		Name: "drop_logins", Category: gen.Delete, Danger: gen.Destructive, Returns: "Nothing",
		Params:  []gen.Field{{Name: "logins", Go: "Logins", Type: "object", Items: &gen.Field{Type: "Login"}}},
		Request: (*request)(nil), Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, []gen.WireType{
		{Name: "Nothing", Kind: gen.KindScalar},
		{Name: "Login", Kind: gen.KindObject, Fields: []gen.Field{{Name: "password", Go: "Password", Type: "string",
			Sensitive: true}, {Name: "user", Go: "User", Type: "string"}}},
	}), Options{Name: "notes"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "with.dot", "with.dot.password", "with[0]", "", ".", "[", "user", "a.user"} {
		text := `{"operation":"drop_logins","params":{"logins":{"` + name + `":{"password":"hunter2","user":"ann"}}}}`
		reply := adapter.NewSession().Call(t.Context(), "mcp_aql_delete", []byte(text))
		if reply.Question == nil {
			t.Fatalf("%s", reply.JSON)
		}
		if p := reply.Question.Params; strings.Contains(p, "hunter2") || !strings.Contains(p, "ann") {
			t.Errorf("%q: %s", name, p)
		}
	}
}

// REQ-CT-04, T-55: a value in a confirmation message does not write lines of its own, nor turn the text around, nor
// flood it.
func TestConfirmationMessagesCannotBeForged(t *testing.T) {
	f := newFixture(t, Options{})
	for value, want := range map[string]string{
		`n1'?\n\nNothing is deleted. Go on`: "Delete note '“n1'?\\u000a\\u000aNothing is deleted. Go on”'? " +
			"Secret ***, limit 25.",
		"\u202en1\u2028\u200b":    "Delete note '\\u202en1\\u2028\\u200b'? Secret ***, limit 25.",
		"größer als 5\u00a0€":     "Delete note 'größer als 5\\u00a0€'? Secret ***, limit 25.",
		strings.Repeat("ä", 5000): "Delete note '" + strings.Repeat("ä", 200) + "…'? Secret ***, limit 25.",
	} {
		got := f.confirm(t, `{"operation":"delete_note","params":{"note_id":"`+value+`"}}`)
		if message := got.Error.Details["confirmation_message"]; message != want {
			t.Errorf("got  %q\nwant %q", message, want)
		}
	}
}

// REQ-CT-04, T-55: nor does a list or an object in the author's sentence hold what looks like the end of a string.
func TestListsInConfirmationMessagesCannotBeForged(t *testing.T) {
	drop := noteOperation("drop_notes", gen.Delete, gen.Destructive,
		func(context.Context, *noteRequest) (string, error) { return "", nil }, tags, anyOf)
	drop.Confirm = "Drop {tags} of {data}?"
	adapter, err := New(gen.NewRegistry([]gen.Handler{drop}, noteTypes), Options{Name: "notes"})
	if err != nil {
		t.Fatal(err)
	}
	for params, want := range map[string]string{
		`"tags":["a","b"],"data":7`: `Drop ["a","b"] of 7?`,
		`"tags":["a”]? Only drafts. [“b"],"data":{"a":"b″,‟c"}`: `Drop ["a\u201d]? Only drafts. [\u201cb"] of ` +
			`{"a":"b\u2033,\u201fc"}?`,
		`"tags":["\u202ea","` + strings.Repeat("ä", 500) + `"],"data":true`: `Drop ["\u202ea","` +
			strings.Repeat("ä", 193) + "… of true?",
	} {
		reply := adapter.NewSession().Call(t.Context(), "mcp_aql_delete",
			[]byte(`{"operation":"drop_notes","params":{`+params+`}}`))
		if reply.Question == nil {
			t.Fatalf("%s", reply.JSON)
		}
		if diff := cmp.Diff(want, reply.Question.Message); diff != "" {
			t.Errorf("%s (-want +got):\n%s", params, diff)
		}
	}
}

// REQ-DL-05: attempts at what is destructive are on record also where they come through another tool, or are malformed.
func TestMisdirectedAttemptsAreOnRecord(t *testing.T) {
	for name, request := range map[string]string{
		"another tool":           deleteN1,
		"another tool, in vain":  `{"operation":"delete_note","params":{"note_id":7}}`,
		"another tool, an item":  `{"operations":[` + getN1 + `,` + deleteN1 + `]}`,
		"params first, no token": `{"params":{"note_id":"n1"},"operation":"delete_note"}`,
	} {
		f := newFixture(t, Options{})
		f.session.Call(t.Context(), "mcp_aql_read", []byte(request))
		if log := f.log.String(); strings.Count(log, "OPERATION_DENIED") != 1 || !strings.Contains(log, "delete_note") ||
			!strings.Contains(log, "VALIDATION_ENDPOINT_MISMATCH") {
			t.Errorf("%s: %s", name, log)
		}
	}
	f := newFixture(t, Options{})
	f.session.Call(t.Context(), "mcp_aql_delete", []byte(getN1))
	if log := f.log.String(); strings.Contains(log, "DENIED") {
		t.Errorf("what is safe: %s", log)
	}
}

// T-01: two different continuations are as good as none that is valid, wherever they stand.
func TestConflictingContinuations(t *testing.T) {
	f := newFixture(t, Options{Quota: quota.Options{Quotas: []quota.Quota{{Metric: quota.RequestsPerHour, Pause: 1}}}})
	get := func(inside, beside string) (string, string) {
		code, details := f.as(t, ann, "mcp_aql_read",
			`{"operation":"get_note","params":{"note_id":"n1","_quota_continue":"`+inside+`"},"_quota_continue":"`+beside+`"}`)
		token, _ := details["confirmation_token"].(string)
		return code, token
	}
	get("", "")
	_, token := get("", "")
	for _, other := range []string{"quota_continue_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x"} {
		for _, pair := range [][2]string{{token, other}, {other, token}} {
			if code, _ := get(pair[0], pair[1]); code != "TOKEN_INVALID" {
				t.Errorf("%v: %s", pair, code)
			}
		}
	}
	if code, _ := get(token, token); code != "ok" {
		t.Errorf("twice the same: %s", code)
	}
}

// randomSweep spells a request to sweep_notes: parameters in params and beside it, under both names, null, in any
// order.
func randomSweep(random *rand.Rand, token string) string {
	members := func(names ...string) []string {
		var out []string
		for _, name := range names {
			if random.IntN(2) == 0 {
				continue
			}
			values := []string{`null`, `"a"`, `"\u0061"`, `"inbox"`}
			if name == "dry_run" {
				values = []string{`null`, `true`, `false`}
			}
			out = append(out, `"`+name+`" : `+values[random.IntN(len(values))])
		}
		random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	folder := func() string { return []string{"folder", "dir"}[random.IntN(2)] }
	beside := []string{`"operation":"sweep_notes"`}
	if token != "" {
		beside = append(beside, `"_confirmation":"`+token+`"`)
	}
	if random.IntN(4) > 0 {
		beside = append(beside, `"params":{`+strings.Join(members(folder(), "dry_run", "note"), ",")+`}`)
	}
	if random.IntN(2) == 0 {
		beside = append(beside, members(folder(), "dry_run", "note")...)
	}
	random.Shuffle(len(beside), func(i, j int) { beside[i], beside[j] = beside[j], beside[i] })
	request := `{` + strings.Join(beside, ",") + `}`
	if random.IntN(4) == 0 {
		request = `{"operations":[` + request + `]}`
	}
	return request
}

// REQ-CT-03: however requests are spelled, nothing runs unconfirmed but what the handler sees as a dry run, and a token
// is good only for requests in which the handler sees the same.
func TestConfirmationsOfRandomRequests(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	unlimited := Confirmation{IssuesPerMinute: -1}
	gated, ran := newSweeper(t, Options{Confirmation: unlimited})
	open, seen := newSweeper(t, Options{Confirmation: Confirmation{Off: true}})
	sees := func(request string) sweepRequest {
		*seen = nil
		if got := sweep(t, open, request); len(*seen) != 1 {
			t.Fatalf("%s: %s", request, got)
		}
		return (*seen)[0]
	}
	same := 0
	for range 5000 {
		first := randomSweep(random, "")
		asked := sees(first)
		*ran = nil
		answer := sweep(t, gated, first)
		if asked.DryRun != (len(*ran) == 1) {
			t.Fatalf("%s: the handler sees %+v, and %d calls ran", first, asked, len(*ran))
		}
		if asked.DryRun {
			continue
		}
		second := randomSweep(random, tokenIn(t, answer))
		wanted := sees(second)
		*ran = nil
		answer = sweep(t, gated, second)
		if !wanted.DryRun && wanted != asked && len(*ran) > 0 {
			t.Fatalf("%s\n%s: asked about %+v, wanted %+v, and %d calls ran: %s", first, second, asked, wanted, len(*ran),
				answer)
		}
		same += len(*ran)
	}
	if same < 100 {
		t.Errorf("only %d tokens were good for another spelling", same)
	}
}

// What a human has answered is about one request, not about those that its handler makes.
func TestAnswersEndWithTheirRequest(t *testing.T) {
	var adapter *Adapter
	var inner Reply
	outer := noteOperation("wipe_notes", gen.Delete, gen.Forbidden,
		func(ctx context.Context, _ *noteRequest) (string, error) {
			inner = adapter.NewSession().Call(ctx, "mcp_aql_delete", []byte(deleteN1))
			return "", nil
		})
	deletes := noteOperation("delete_note", gen.Delete, gen.Destructive,
		func(context.Context, *noteRequest) (string, error) { return "", nil }, noteID)
	var err error
	adapter, err = New(gen.NewRegistry([]gen.Handler{outer, deletes}, noteTypes), Options{Name: "notes"})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	asked := session.Call(t.Context(), "mcp_aql_delete", []byte(wipe))
	state, err := session.Seal(t.Context(), asked.Question)
	if err != nil {
		t.Fatal(err)
	}
	reply := session.Call(WithAnswer(t.Context(), Answer{State: state, Approved: true}), "mcp_aql_delete", []byte(wipe))
	if !strings.HasPrefix(string(reply.JSON), `{"success":true`) ||
		!strings.Contains(string(inner.JSON), "CONFIRMATION_REQUIRED") {
		t.Errorf("outer %s, inner %s", reply.JSON, inner.JSON)
	}
}
