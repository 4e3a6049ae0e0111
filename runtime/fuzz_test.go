package aql

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
)

// FuzzCall sends bytes to every tool: no panic, always a valid discriminated response, and no handler runs unless the
// request was a JSON object that validates.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		`{"operation":"create_note","params":{"title":"x","limit":3,"tags":["a"],"labels":{"color":"red"},"data":{"k":[1,` +
			`2.5,null]}}}`,
		`{"operation":"introspect","params":{"query":"operations","name":"create_note"}}`,
		`{"operation":"delete_note","note_id":"n1","_confirmation":"conf_x"}`,
		`{"operation":"create_note","params":{"title":"\ud83d\ude00"}}`,
		"{\"operation\":\"get_note\",\"params\":{\"note_id\":\"\xff\"}}",
		`{"operation":"get_note","params":null,"note_id":"a","_request_id":"r"}`,
		`[]`, `{`, ``, `{"operation":"create_note","params":{"title":"x","title":"y"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		fixture := newFixture(t, Options{Mode: "all"})
		for _, tool := range fixture.adapter.Tools() {
			if bytes.Contains(request, []byte("wait_note")) {
				continue // waits for cancellation
			}
			fixture.ran = nil
			reply := fixture.session.Call(context.Background(), tool.Name, request)
			var response struct {
				Success *bool            `json:"success"`
				Data    *json.RawMessage `json:"data"`
				Error   *struct {
					Code    string         `json:"code"`
					Message string         `json:"message"`
					Details map[string]any `json:"details"`
				} `json:"error"`
				Meta struct {
					RequestID string `json:"request_id"`
				} `json:"_meta"`
			}
			decoder := json.NewDecoder(bytes.NewReader(reply.JSON))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&response); err != nil || response.Success == nil {
				t.Fatalf("not a response (%v): %s", err, reply.JSON)
			}
			switch {
			case *response.Success && response.Error != nil, !*response.Success &&
				(response.Error == nil || response.Data != nil):
				t.Fatalf("success and error are not told apart: %s", reply.JSON)
			case len(fixture.ran) > 0 && !*response.Success:
				t.Fatalf("a handler ran for a request that was refused: %s", reply.JSON)
			case len(fixture.ran) > 0 && !json.Valid(request):
				t.Fatalf("a handler ran for bytes that are no JSON: %q", request)
			case reply.IsError && *response.Success:
				t.Fatalf("a success is marked as an error: %s", reply.JSON)
			}
		}
	})
}
