package aql

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// batch sends a batch of these items, which must answer as the official schema of batches says.
func (f *fixture) batch(tool string, items ...string) string {
	f.tb.Helper()
	return f.request(tool, `{"operations":[`+strings.Join(items, ",")+`]}`)
}

func (f *fixture) request(tool, request string) string {
	f.tb.Helper()
	reply := f.session.Call(context.Background(), tool, []byte(request))
	checkOfficialBatch(f.tb, reply.JSON)
	if !bytes.Contains(reply.JSON, []byte(`"halted_at"`)) { // T-46
		checkOfficial(f.tb, reply.JSON)
	}
	return string(reply.JSON)
}

const (
	createA  = `{"operation":"create_note","params":{"title":"a"}}`
	createB  = `{"operation":"create_note","params":{"title":"b"}}`
	deleteX  = `{"operation":"delete_note","params":{"note_id":"x"}}`
	doneA    = `{"success":true,"data":"a"}`
	doneB    = `{"success":true,"data":"b"}`
	halfDone = `{"index":0,"operation":"create_note","result":` + doneA + `}`
)

// REQ-BA-02, REQ-BA-03, REQ-BA-04, REQ-BA-05, REQ-BA-06, REQ-BA-07, REQ-BA-13: what a batch answers, byte for byte.
func TestBatch(t *testing.T) {
	for _, tt := range []struct {
		name, tool, request, want string
		ran                       string
	}{
		{
			name:    "operations run in order and results are numbered",
			request: `{"operations":[` + createA + `,` + createB + `]}`,
			want: `{"success":true,"data":null,"results":[` + halfDone + `,{"index":1,"operation":"create_note","result":` +
				doneB + `}],"summary":{"total":2,"succeeded":2,"failed":0}}`,
			ran: "a b",
		},
		{
			name:    "a failure does not stop what follows",
			request: `{"operations":[{"operation":"create_note"},` + createB + `]}`,
			want: `{"success":true,"data":null,"results":[{"index":0,"operation":"create_note","result":{"success":false,` +
				`"error":{"code":"VALIDATION_MISSING_PARAM",` +
				`"message":"Missing required parameter 'title'. Expected: string (Heading of the note)",` +
				`"details":{"param_name":"title","operation":"create_note"}}}},` +
				`{"index":1,"operation":"create_note","result":` + doneB + `}],"summary":{"total":2,"succeeded":1,"failed":1}}`,
			ran: "b",
		},
		{
			name: "an unknown operation fails alone", request: `{"operations":[{"operation":"create_nite"},` + createB + `]}`,
			want: `{"success":true,"data":null,"results":[{"index":0,"operation":"create_nite","result":{"success":false,` +
				`"error":{"code":"NOT_FOUND_OPERATION",` +
				`"message":"Unknown operation: 'create_nite'","details":{"operation":"create_nite",` +
				`"available":["create_note"],"hint":"introspect with query 'operations' lists all 10"}}}},` +
				`{"index":1,"operation":"create_note","result":` + doneB + `}],"summary":{"total":2,"succeeded":1,"failed":1}}`,
			ran: "b",
		},
		{
			name: "parameters beside params and behind the operation's name",
			request: `{"operations":[{"title":"a","operation":"create_note"},{"params":{"title":"b"},` +
				`"operation":"create_note"}]}`,
			want: `{"success":true,"data":null,"results":[` + halfDone + `,{"index":1,"operation":"create_note","result":` +
				doneB + `}],"summary":{"total":2,"succeeded":2,"failed":0}}`,
			ran: "a b",
		},
		{
			name: "an operation of another family fails alone", tool: "mcp_aql_create",
			request: `{"operations":[` + createA + `,{"operation":"get_note","params":{"note_id":"x"}}]}`,
			want: `{"success":true,"data":null,"results":[` + halfDone +
				`,{"index":1,"operation":"get_note","result":{"success":false,"error":{"code":"VALIDATION_ENDPOINT_MISMATCH",` +
				`"message":"Operation 'get_note' must use READ endpoint, not CREATE","details":{"operation":"get_note",` +
				`"expected_endpoint":"READ","actual_endpoint":"CREATE",` +
				`"expected_tool":"mcp_aql_read","actual_tool":"mcp_aql_create"}}}}],"summary":{"total":2,"succeeded":1,` +
				`"failed":1}}`,
			ran: "a",
		},
		{
			name:    "a batch inside a batch is an unknown parameter",
			request: `{"operations":[{"operation":"get_note","params":{"note_id":"x","operations":[]}}]}`,
			want: `{"success":true,"data":null,"results":[{"index":0,"operation":"get_note","result":{"success":false,` +
				`"error":{"code":"VALIDATION_UNKNOWN_PARAM",` +
				`"message":"Unknown parameter(s) for operation 'get_note': operations","details":{"operation":"get_note",` +
				`"unknown_params":["operations"],"valid_params":["note_id"]}}}}],` +
				`"summary":{"total":1,"succeeded":0,"failed":1}}`,
		},
		{
			name: "no operation", request: `{"operations":[]}`,
			want: `{"success":false,"error":{"code":"BATCH_VALIDATION_ERROR","message":"Batch request must contain one or ` +
				`more operations"}}`,
		},
		{
			name: "no list", request: `{"operations":{}}`,
			want: `{"success":false,"error":{"code":"BATCH_VALIDATION_ERROR","message":"Batch request must hold a list of ` +
				`operations"}}`,
		},
		{
			name: "an item that is no object keeps all from running", request: `{"operations":[` + createA + `,7]}`,
			want: `{"success":false,"error":{"code":"BATCH_VALIDATION_ERROR","message":"Batch request is malformed: item 1 ` +
				`is no object. Nothing was run."}}`,
		},
		{
			name: "and so does one without the name of its operation", request: `{"operations":[` + createA + `,{"params":{}}]}`,
			want: `{"success":false,"error":{"code":"BATCH_VALIDATION_ERROR","message":"Batch request is malformed: item 1 ` +
				`does not name its operation. Nothing was run."}}`,
		},
		{
			name: "one operation and many", request: `{"operation":"create_note","operations":[` + createA + `]}`,
			want: `{"success":false,"error":{"code":"BATCH_VALIDATION_ERROR","message":"Request must hold either 'operation' ` +
				`or 'operations', not both"}}`,
		},
		{
			name: "parameters of no operation", request: `{"operations":[` + createA + `],"params":{"title":"c"}}`,
			want: `{"success":false,"error":{"code":"BATCH_VALIDATION_ERROR","message":"Batch request must hold nothing but ` +
				`'operations': parameters belong into its items"}}`,
		},
		{
			name:    "a fault of the bytes keeps all from running",
			request: `{"operations":[` + createA + `,{"operation":"create_note","params":{"title":"b","title":"c"}}]}`,
			want: `{"success":false,"error":{"code":"VALIDATION_DUPLICATE_PARAM","message":"Duplicate parameter 'title' in ` +
				`request. Send each name once. In operations[1].params.title. Byte 115."}}`,
		},
		{
			name: "and so does one behind the batch", request: `{"operations":[` + createA + `]} x`,
			want: `{"success":false,"error":{"code":"VALIDATION_MALFORMED_JSON","message":"Malformed JSON in request: ` +
				`'something follows the JSON value' Byte 68."}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, Options{Mode: "all"})
			tool := tt.tool
			if tool == "" {
				tool = "mcp_aql"
			}
			if diff := cmp.Diff(tt.want, f.request(tool, tt.request)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got := strings.Join(f.ran, " "); got != tt.ran {
				t.Errorf("ran %q, want %q", got, tt.ran)
			}
		})
	}
}

var issued = regexp.MustCompile(`conf_[A-Za-z0-9_-]+`)

// hidden is an answer whose tokens are replaced by one word.
func hidden(answer string) string { return issued.ReplaceAllString(answer, "conf_X") }

const asksForX = `{"success":false,"error":{"code":"CONFIRMATION_REQUIRED","message":"This operation requires ` +
	`confirmation","details":{"operation":"delete_note",` +
	`"danger_level":"destructive","reasons":["Removes the note for good"],"confirmation_message":"Delete note 'x'? ` +
	`Secret , limit 25.","confirmation_token":"conf_X",` +
	`"expires_at":"2026-03-01T09:05:00.000Z",` +
	`"hint":"Ask the user. If they agree, send the same request again with this confirmation_token in its params."}}}`

// REQ-BA-08, REQ-BA-09, REQ-BA-10: a batch halts where a confirmation is asked for, and can be continued from there.
func TestBatchHaltsForConfirmation(t *testing.T) {
	f := newFixture(t, Options{Mode: "single"})
	secret := `{"operation":"create_note","limit":3,"title":"beside","params":{"title":"inside","secret":"0123456789"},` +
		`"_request_id":"r1"}`
	halted := f.batch("mcp_aql", createA, deleteX, secret, createB)
	want := `{"success":true,"data":null,"results":[` + halfDone +
		`],"halted_at":{"index":1,"operation":"delete_note","result":` +
		strings.Replace(asksForX, "Secret ,", "Secret ***,", 1) + `},` +
		`"pending_operations":[{"index":2,"operation":"create_note","params":{"title":"inside","limit":3}},{"index":3,` +
		`"operation":"create_note","params":{"title":"b"}}],` +
		`"summary":{"total":4,"succeeded":1,"failed":0,"halted":1,"pending":2}}`
	if diff := cmp.Diff(want, hidden(halted)); diff != "" {
		t.Fatalf("answer (-want +got):\n%s", diff)
	}
	if got := strings.Join(f.ran, " "); got != "a" {
		t.Fatalf("ran %q", got)
	}
	var response struct {
		Pending []json.RawMessage `json:"pending_operations"`
	}
	if err := json.Unmarshal([]byte(halted), &response); err != nil {
		t.Fatal(err)
	}
	items := []string{`{"operation":"delete_note","params":{"note_id":"x","confirmation_token":"` +
		issued.FindString(halted) + `"}}`}
	for _, pending := range response.Pending {
		items = append(items, string(pending))
	}
	done := f.batch("mcp_aql", items...)
	if !strings.Contains(done, `"summary":{"total":3,"succeeded":3,"failed":0}`) {
		t.Errorf("continued: %s", done)
	}
	if diff := cmp.Diff([]string{"a", "x", "inside", "b"}, f.ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}

// REQ-BA-11: an adapter may skip instead.
func TestBatchSkipsWhatIsNotConfirmed(t *testing.T) {
	f := newFixture(t, Options{Mode: "single", SkipUnconfirmed: true})
	got := hidden(f.batch("mcp_aql", createA, deleteX, createB))
	want := `{"success":true,"data":null,"results":[` + halfDone + `,{"index":1,"operation":"delete_note","result":` +
		strings.Replace(asksForX, "Secret ,", "Secret ***,", 1) +
		`,"status":"pending_confirmation"},{"index":2,"operation":"create_note","result":` + doneB +
		`}],"summary":{"total":3,"succeeded":2,"failed":0,"pending_confirmation":1}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// T-49: a token in two items is spent by the first; REQ-CT-05.
func TestBatchSpendsATokenOnce(t *testing.T) {
	f := newFixture(t, Options{Mode: "single"})
	token := issued.FindString(f.batch("mcp_aql", deleteX))
	confirmed := `{"operation":"delete_note","params":{"note_id":"x","confirmation_token":"` + token + `"}}`
	got := f.batch("mcp_aql", confirmed, confirmed)
	if !strings.Contains(got, `"index":1,"operation":"delete_note","result":{"success":false,`+
		`"error":{"code":"TOKEN_ALREADY_USED"`) || len(f.ran) != 1 {
		t.Errorf("answer %s, ran %v", got, f.ran)
	}
}

// A handler that panics, and one whose result is too large, fail alone; what came before them stands.
func TestBatchSurvivesItsHandlers(t *testing.T) {
	f := newFixture(t, Options{Mode: "single", Limits: Limits{ResponseSize: 1 << 20}})
	got := f.batch("mcp_aql", createA, `{"operation":"panic_note"}`, `{"operation":"big_note"}`, `{"operation":"nothing"}`,
		`{"operation":"introspect","params":{"query":"operations"}}`, createB)
	for _, part := range []string{
		`"results":[` + halfDone +
			`,{"index":1,"operation":"panic_note","result":{"success":false,"error":{"code":"INTERNAL_ERROR"`,
		`{"index":2,"operation":"big_note","result":{"success":false,"error":{"code":"VALIDATION_PAYLOAD_TOO_LARGE"`,
		`{"index":3,"operation":"nothing","result":{"success":true,"data":null}},{"index":4,"operation":"introspect",` +
			`"result":{"success":true,"data":{"_protocol"`,
		`{"index":5,"operation":"create_note","result":` + doneB + `}],"summary":{"total":6,"succeeded":4,"failed":2}}`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("answer lacks %s\n%.3000s", part, got)
		}
	}
}

// REQ-BA-14: results that are too large together fail one by one, so that it stays known what ran.
func TestBatchResponseIsBounded(t *testing.T) {
	third := noteOperation("third", gen.Read, gen.Safe,
		func(context.Context, *noteRequest) (string, error) { return strings.Repeat("x", 400<<10), nil })
	adapter, err := New(gen.NewRegistry([]gen.Handler{third}, noteTypes),
		Options{Mode: "single", Limits: Limits{ResponseSize: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	items := strings.TrimSuffix(strings.Repeat(`{"operation":"third"},`, 100), ",")
	reply := adapter.NewSession().Call(context.Background(), "mcp_aql", []byte(`{"operations":[`+items+`]}`))
	checkOfficialBatch(t, reply.JSON)
	if len(reply.JSON) > 1<<20 ||
		!bytes.HasSuffix(reply.JSON, []byte(`"summary":{"total":100,"succeeded":2,"failed":98}}`)) {
		t.Errorf("%d bytes, ending with %s", len(reply.JSON), reply.JSON[max(0, len(reply.JSON)-300):])
	}
}

// REQ-DE-10: the limit of array elements is that of operations too.
func TestBatchIsBounded(t *testing.T) {
	f := newFixture(t, Options{Mode: "single", Limits: Limits{ArrayElements: 100}})
	if got := f.batch("mcp_aql", strings.TrimSuffix(strings.Repeat(createA+",", 101), ",")); !strings.Contains(got,
		`"code":"VALIDATION_PAYLOAD_TOO_LARGE","message":"Payload exceeds array_elements limit of 100"`) || len(f.ran) > 0 {
		t.Errorf("answer %s, ran %d", got, len(f.ran))
	}
}

// What was not begun when the client gives up is not run.
func TestBatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ran := 0
	operation := noteOperation("step", gen.Execute, gen.Reversible, func(context.Context, *noteRequest) (string, error) {
		ran++
		cancel()
		return "", nil
	})
	adapter, err := New(gen.NewRegistry([]gen.Handler{operation}, noteTypes), Options{Mode: "single"})
	if err != nil {
		t.Fatal(err)
	}
	reply := adapter.NewSession().Call(ctx, "mcp_aql",
		[]byte(`{"operations":[{"operation":"step"},{"operation":"step"}]}`))
	if ran != 1 || !bytes.Contains(reply.JSON, []byte(`"summary":{"total":2,"succeeded":1,"failed":1}`)) {
		t.Errorf("ran %d, answer %s", ran, reply.JSON)
	}
}

// FuzzBatch sends any items. The answer is one of the protocol, its results are in order and the summary adds up.
func FuzzBatch(f *testing.F) {
	for _, items := range []string{createA, createA + "," + deleteX + "," + createB, `{}`, `7,` + createA,
		`{"operation":"introspect","params":{"query":"types"}}`, deleteX + `,{"operation":"x","a":{"b":1}}`} {
		f.Add(items)
	}
	fixture := newFixture(f, Options{Mode: "single"})
	f.Fuzz(func(t *testing.T, items string) {
		reply := fixture.session.Call(context.Background(), "mcp_aql", []byte(`{"operations":[`+items+`]}`))
		var response struct {
			Success bool
			Results []struct{ Index int }
			Halted  *struct{ Index int }  `json:"halted_at"`
			Pending []struct{ Index int } `json:"pending_operations"`
			Summary struct{ Total, Succeeded, Failed, Halted, Pending int }
			Error   *struct{ Code string }
		}
		if err := json.Unmarshal(reply.JSON, &response); err != nil {
			t.Fatalf("%v: %s", err, reply.JSON)
		}
		s := response.Summary
		next := 0
		for _, result := range response.Results {
			if result.Index != next {
				t.Fatalf("results are out of order: %s", reply.JSON)
			}
			next++
		}
		if response.Halted != nil {
			next++
		}
		next += len(response.Pending)
		if response.Success == (response.Error != nil) || s.Total != next ||
			s.Total != s.Succeeded+s.Failed+s.Halted+s.Pending {
			t.Fatalf("the answer does not add up: %s", reply.JSON)
		}
	})
}

// The memory of a batch is bounded by its bytes.
func TestBatchTakesLittleForEachItem(t *testing.T) {
	f := newFixture(t, Options{Mode: "single"})
	var items []string
	for i := range 9000 {
		items = append(items, `{"operation":"x`+strconv.Itoa(i)+`"}`)
	}
	request := []byte(`{"operations":[` + strings.Join(items, ",") + `]}`)
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.session.Call(context.Background(), "mcp_aql", request)
		}
	})
	if perItem := result.AllocedBytesPerOp() / 9000; perItem > 4096 {
		t.Errorf("%d bytes for each item", perItem)
	}
}

// What unknown operations may have meant is looked up for the first ones only: an attacker could ask for thousands.
func TestBatchSearchesAreBounded(t *testing.T) {
	f := newFixture(t, Options{Mode: "single"})
	got := f.batch("mcp_aql", strings.TrimSuffix(strings.Repeat(`{"operation":"create_nite"},`, maxSearches+1), ","))
	if near := strings.Count(got, `"available":["create_note"]`); near != maxSearches {
		t.Errorf("%d searches", near)
	}
}

// An answer is whole, or one failure, however long what stands in it gets: names of operations are told back.
func TestBatchAnswersAreNeverCut(t *testing.T) {
	for _, length := range []int{10, 500, 700, 1500, 3000} {
		f := newFixture(t, Options{Mode: "single", Limits: Limits{ResponseSize: 1 << 20}})
		var items []string
		for i := range 300 {
			items = append(items, `{"operation":"x`+strings.Repeat("y", length)+strconv.Itoa(i)+`"}`, createA)
		}
		reply := f.session.Call(context.Background(), "mcp_aql",
			[]byte(`{"operations":[`+strings.Join(append(items, deleteX, createB), ",")+`]}`))
		checkOfficialBatch(t, reply.JSON)
		if len(reply.JSON) > 1<<20 {
			t.Errorf("%d bytes", len(reply.JSON))
		}
		if whole := bytes.Contains(reply.JSON, []byte(`"summary":{"total":602,"succeeded":300,"failed":300,"halted":1,`+
			`"pending":1}`)); whole == bytes.Contains(reply.JSON, []byte(`"VALIDATION_PAYLOAD_TOO_LARGE"`)) {
			t.Errorf("names of %d bytes: %.300s", length, reply.JSON)
		}
	}
}
