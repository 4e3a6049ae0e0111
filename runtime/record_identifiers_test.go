package aql

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
)

// purges is an adapter with an operation that destroys what its parameters ids and note_id name, and takes anything
// else that an agent could hide them in. It writes an audit file.
func purges(t *testing.T, path string, ran *[]noteRequest) (*Adapter, *audit.Log) {
	t.Helper()
	ids := gen.Field{
		Name: "ids", Go: "Tags", Type: "array", Items: &gen.Field{Type: "string"}, Required: true, Description: "Which notes",
	}
	note := gen.Field{Name: "title", Go: "Title", Type: "string"}
	registry := gen.NewRegistry([]gen.Handler{noteOperation("purge_notes", gen.Delete, gen.Destructive,
		func(_ context.Context, request *noteRequest) (string, error) {
			*ran = append(*ran, *request)
			return "", nil
		}, anyOf, note, ids, noteID, secret)}, noteTypes)
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log := audit.New(audit.Options{Sinks: []audit.Sink{file}, Wait: true})
	adapter, err := New(registry, Options{
		Name: "notes", Audit: log, Confirmation: Confirmation{Off: true},
		Limits: Limits{RequestSize: 10 << 20, StringLength: 10 << 20, ArrayElements: 100_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	return adapter, log
}

// C11, REQ-AU-02: what was destroyed can be read from the record, whatever else an agent sends with it: of every
// request that ran, each identifier is in the record as it was sent. Sensitive values are not.
func TestWhatWasDestroyedIsOnRecord(t *testing.T) {
	synctest.Test(t, recordDestroyed) // where no time passes while a disk is slow
}

func recordDestroyed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	var ran []noteRequest
	adapter, log := purges(t, path, &ran)
	session := adapter.NewSession()
	random := rand.New(rand.NewPCG(11, 11))
	text := func() string { return strings.Repeat(fmt.Sprint("é", random.Uint64(), `"<`), 1+random.IntN(3)) }
	long := func() string { return strings.Repeat(text(), 1+random.IntN(6000)) }
	pads := []func() any{
		func() any { return nil },
		func() any { return long() },
		func() any { return slices.Repeat([]any{text()}, random.IntN(20_000)) },
		func() any { return map[string]any{"deep": []any{map[string]any{"text": long(), "id": text()}}} },
		func() any {
			many := map[string]any{}
			for range random.IntN(2000) {
				many[text()] = long()[:20]
			}
			return many
		},
		func() any { return json.RawMessage("0." + strings.Repeat("1", 100_000)) },
	}
	var want []noteRequest
	var calls []any
	for range 40 {
		identifiers := []string{text(), long()}
		for range random.IntN(3) * random.IntN(3000) {
			identifiers = append(identifiers, text())
		}
		request := noteRequest{NoteID: long(), Title: long(), Tags: identifiers, Secret: "hunter2 " + long()}
		want = append(want, request)
		calls = append(calls, map[string]any{"operation": "purge_notes", "params": map[string]any{
			"data": pads[random.IntN(len(pads))](), "title": request.Title, "ids": request.Tags, "note_id": request.NoteID,
			"secret": request.Secret,
		}})
	}
	call := func(request any) {
		t.Helper()
		message, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		reply := session.Call(t.Context(), "mcp_aql_delete", message)
		if !bytes.HasPrefix(reply.JSON, []byte(`{"success":true`)) {
			t.Fatalf("%.500s", reply.JSON)
		}
	}
	for _, request := range calls[:30] {
		call(request)
	}
	for batch := range slices.Chunk(calls[30:], 2) {
		call(map[string]any{"operations": batch}) // each of a batch has its own record
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for i, sent := range want {
		var record struct {
			Event      string
			Parameters struct {
				IDs    []string `json:"ids"`
				NoteID string   `json:"note_id"`
				Secret string
			}
		}
		for record.Event != string(audit.OperationAllowed) {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			if bytes.Contains(line, []byte("hunter2")) {
				t.Fatalf("request %d: the record has a sensitive value", i)
			}
			record.Event = ""
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatal(err)
			}
		}
		if p := record.Parameters; p.NoteID != sent.NoteID || !slices.Equal(p.IDs, sent.Tags) || p.Secret != "***" {
			t.Errorf("request %d: identifiers are not on record as they were sent", i)
		}
		if !slices.Equal(ran[i].Tags, sent.Tags) {
			t.Errorf("request %d ran with other identifiers", i)
		}
	}
}

// C11: a flood of requests that are refused does not fill the file, and what is allowed meanwhile is on record, after
// the count of what was refused before.
func TestRefusedAsksDoNotFillTheFile(t *testing.T) {
	synctest.Test(t, refuseAsks) // whose minute does not end
}

func refuseAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log := audit.New(audit.Options{Sinks: []audit.Sink{file}, Wait: true})
	f := newFixture(t, Options{Audit: log})
	for i := range 3000 {
		f.call("mcp_aql_delete", []string{
			deleteN1, `{"operation":"delete_note","params":{"note":"n1"}}`, strings.Replace(deleteN1, `"n1"`,
				`"n1","_confirmation":"`+strings.Repeat("x", 43)+`"`, 1),
		}[i%3])
		if i%100 == 0 { // so that confirmations are asked for again; the log has a clock of its own
			f.now = f.now.Add(time.Minute)
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(before, []byte("\n")); lines > 20 { // ten refusals, with the events of tokens
		t.Errorf("%d lines", lines)
	}
	f.call("mcp_aql_execute", `{"operation":"nothing"}`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	counted := bytes.Index(text, []byte(`"event":"REFUSALS_COUNTED"`))
	allowed := bytes.Index(text, []byte(`"event":"OPERATION_ALLOWED"`))
	if counted < 0 || allowed < counted || !bytes.Contains(text, []byte(`"TOKEN_ISSUED":`)) {
		t.Errorf("the count is at %d, what was allowed at %d", counted, allowed)
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
