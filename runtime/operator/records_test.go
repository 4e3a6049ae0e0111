package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// written writes the records of three calls to a file, and returns its path and a function that writes more.
func written(t *testing.T, key []byte) (path string, write func(...audit.Record)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	write = func(records ...audit.Record) {
		t.Helper()
		if err := file.Write(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	record := func(
		i int, event audit.Event, operation, subject string, outcome audit.Outcome, reason string,
	) audit.Record {
		return audit.Record{
			Time: start.Add(time.Duration(i) * time.Second), ID: uint64(i + 1), Event: event, Operation: operation,
			Outcome: outcome, Reason: reason, Caller: identity.Caller{Subject: subject, Issuer: "stdio"},
		}
	}
	write(
		record(0, audit.OperationAllowed, "delete_note", "ann", audit.Allowed, ""),
		record(1, audit.OperationDenied, "drop_all", "eve", audit.Denied, "not on Sundays\x1b[2J\nfake"),
		record(2, audit.OperationFinished, "delete_note", "ann", audit.Success, ""),
	)
	return path, write
}

// F61: who operates the adapter sees the last records, and whether their chain verifies.
func TestAuditTail(t *testing.T) {
	path, _ := written(t, nil)
	summary, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk("")
	d.AuditFile = path
	at := func(i int) string { return start.Add(time.Duration(i) * time.Second).Local().Format(time.TimeOnly) }
	lines := []string{
		at(0) + "  1  OPERATION_ALLOWED  delete_note  allowed  by ann (stdio)\n",
		at(1) + "  2  OPERATION_DENIED  drop_all  denied  by eve (stdio)  not on Sundays\\u001b[2J\\u000afake\n",
		at(2) + "  3  OPERATION_FINISHED  delete_note  success  by ann (stdio)\n",
	}
	verdict := "The chain verifies: 3 records, head " + summary.Head + "\n"
	for name, tt := range map[string]struct {
		flags operator.Flags
		want  string
	}{
		"all":          {operator.Flags{}, strings.Join(lines, "")},
		"the last one": {operator.Flags{Last: 1}, lines[2]},
		"of an event":  {operator.Flags{Event: "operation_denied"}, lines[1]},
		"of a caller":  {operator.Flags{Caller: "ann", Last: 1}, lines[2]},
		"of an operation": {
			operator.Flags{Operation: "delete_note"}, lines[0] + lines[2],
		},
		"of none": {operator.Flags{Caller: "bob"}, "There are no such records.\n"},
	} {
		d.stdout.Reset()
		code := d.run(t, tt.flags, "audit", "tail")
		if diff := cmp.Diff(tt.want+verdict, d.stdout.String()); diff != "" || code != 0 {
			t.Errorf("%s: code %d, %s%s", name, code, diff, &d.stderr)
		}
	}
}

// What waits for somebody is not called denied, and a record that counts says how many.
func TestAuditTailOfWhatWaits(t *testing.T) {
	path, write := written(t, nil)
	write(
		audit.Record{
			Time: start.Add(3 * time.Second), ID: 4, Event: audit.ConfirmationRequired, Operation: "delete_note",
			Outcome: audit.Denied, Caller: identity.Caller{Subject: "ann"},
		},
		audit.Record{
			Time: start.Add(4 * time.Second), ID: 5, Event: audit.RefusalsCounted, Operation: "drop_all",
			Outcome: audit.Denied, Caller: identity.Caller{Subject: "eve"},
			Refused: &audit.Refused{Count: 4, From: start, To: start},
		},
	)
	d := newDesk("")
	d.AuditFile = path
	code := d.run(t, operator.Flags{Last: 2}, "audit", "tail")
	at := func(i int) string { return start.Add(time.Duration(i) * time.Second).Local().Format(time.TimeOnly) }
	want := at(3) + "  4  CONFIRMATION_REQUIRED  delete_note  held  by ann\n" +
		at(4) + "  5  REFUSALS_COUNTED  drop_all  4 refusals  by eve\n"
	if got := d.stdout.String(); !strings.HasPrefix(got, want) || code != 0 {
		t.Errorf("code %d, %s%s", code, cmp.Diff(want, got), &d.stderr)
	}
}

// Behind a fault records are shown as not verified, and the verdict says where it is and what to do. With a key the
// chain verifies with that alone.
func TestAuditTailOfABrokenChain(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	path, _ := written(t, key)
	d := newDesk("")
	d.AuditFile, d.AuditKey = path, key
	if code := d.run(t, operator.Flags{}, "audit", "tail"); code != 0 || !strings.Contains(d.stdout.String(), "verifies") {
		t.Errorf("with the key: code %d, %s%s", code, &d.stdout, &d.stderr)
	}
	d.AuditKey = nil
	d.run(t, operator.Flags{}, "audit", "tail")
	if got := d.stderr.String(); !strings.Contains(got, "give the key") || !strings.Contains(got, "-audit-key") {
		t.Errorf("without the key: %s", got)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		text = append(bytes.Replace(text, []byte("drop_all"), []byte("get_note"), 1), "nothing\x1b\n"...)
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.AuditKey = key
	d.stdout.Reset()
	d.stderr.Reset()
	code := d.run(t, operator.Flags{}, "audit", "tail")
	for _, want := range []string{
		"  1  OPERATION_ALLOWED  ", "  NOT VERIFIED  2  OPERATION_DENIED  get_note  ", "  NOT VERIFIED  3  ",
		"\nNOT VERIFIED  nothing\\u001b\n",
	} {
		if !strings.Contains(d.stdout.String(), want) {
			t.Errorf("%q is not in\n%s", want, &d.stdout)
		}
	}
	const fault = "notes operator: the chain of the records is broken in audit.log, line 2: changed: its hash is not " +
		"that of its text. The records before that verify: 1\n"
	if d.stderr.String() != fault || code != 1 {
		t.Errorf("code %d, %s", code, &d.stderr)
	}
}

// The names and the form of what -json prints are stable: a line for each record, and one for the chain.
func TestAuditTailAsJSON(t *testing.T) {
	path, _ := written(t, nil)
	d := newDesk("")
	d.AuditFile = path
	d.run(t, operator.Flags{JSON: true, Last: 1}, "audit", "tail")
	summary, err := audit.VerifyFile(t.Context(), path, audit.VerifyOptions{})
	text, readErr := os.ReadFile(path)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want := `{"seq":3,"verified":true,"record":` + lines[2] + "}\n" +
		`{"chain":{"verified":true,"files":1,"records":3,"first":"2026-03-01T09:00:00Z","last":"2026-03-01T09:00:02Z",` +
		`"head":"` + summary.Head + `"}}` + "\n"
	if diff := cmp.Diff(want, d.stdout.String()); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte(lines[0]+"\nnothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.stdout.Reset()
	code := d.run(t, operator.Flags{JSON: true, Last: 1}, "audit", "tail")
	var first struct{ Hash string }
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	want = `{"verified":false,"text":"nothing"}` + "\n" +
		`{"chain":{"verified":false,"files":1,"records":1,"first":"2026-03-01T09:00:00Z","last":"2026-03-01T09:00:00Z",` +
		`"head":"` + first.Hash + `","file":"audit.log","line":2,"fault":"changed",` +
		`"error":"it is not a line that this program writes"}}` + "\n"
	if diff := cmp.Diff(want, d.stdout.String()); diff != "" || code != 1 {
		t.Errorf("code %d: %s", code, diff)
	}
}

// With -follow, records are printed as they come, and no others, until the person interrupts it.
func TestAuditTailFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, write := written(t, nil)
		d := newDesk("")
		d.AuditFile = path
		ctx, interrupt := context.WithCancel(t.Context())
		code := make(chan int)
		go func() {
			flags := operator.Flags{Follow: true, Operation: "add"}
			code <- operator.Command{}.Run(ctx, d.Desk, flags, []string{"audit", "tail"})
		}()
		for _, operation := range []string{"add", "get", "add"} {
			time.Sleep(time.Minute)
			write(audit.Record{Time: start, Event: audit.OperationFinished, Operation: operation, Outcome: audit.Success})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := d.stdout.String(); strings.Count(got, "OPERATION_FINISHED  add") != 2 ||
			strings.Count(got, "OPERATION_FINISHED") != 2 || strings.Contains(got, "NOT VERIFIED") {
			t.Errorf("it prints %s", got)
		}
		interrupt()
		if got := <-code; got != 0 {
			t.Errorf("code %d, %s", got, &d.stderr)
		}
	})
}

// What decides and looks prints JSON, too, with the item as it is then.
func TestAnswersAsJSON(t *testing.T) {
	d := newDesk("approve\n")
	id := d.ask(t, nil)
	d.run(t, operator.Flags{JSON: true}, "approve", id)
	var item approve.Item
	if err := json.Unmarshal(d.stdout.Bytes(), &item); err != nil || item.ID != id || item.State != approve.Approved ||
		len(item.Votes) != 1 {
		t.Errorf("%s, %v", &d.stdout, err)
	}
	d.stdout.Reset()
	d.run(t, operator.Flags{JSON: true, Reason: "no"}, "deny", id)
	if err := json.Unmarshal(d.stdout.Bytes(), &item); err != nil || item.State != approve.Denied {
		t.Errorf("%s, %v", &d.stdout, err)
	}
	d.stdout.Reset()
	d.State = new(store.Memory)
	d.run(t, operator.Flags{JSON: true}, "health")
	var health map[string]any
	if err := json.Unmarshal(d.stdout.Bytes(), &health); err != nil {
		t.Fatal(err)
	}
	for _, check := range health["checks"].([]any) {
		delete(check.(map[string]any), "milliseconds")
	}
	want := map[string]any{"ok": true, "checks": []any{
		map[string]any{"name": "store", "ok": true}, map[string]any{"name": "inbox", "ok": true, "note": "0 open"},
	}}
	if diff := cmp.Diff(want, health); diff != "" {
		t.Error(diff)
	}
}
