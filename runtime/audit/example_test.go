package audit_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/aqltag/aqltag/runtime/audit"
)

// A log writes to an audit file; Verify checks the file later. The command aql-tag audit verify does so, too.
func Example() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "audit.jsonl")

	file, err := audit.OpenFile(ctx, path, audit.FileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	records := audit.New(audit.Options{Sinks: []audit.Sink{file}, Wait: true})
	for _, record := range []audit.Record{
		{Event: audit.OperationDenied, Operation: "delete_note", DangerLevel: 2, Outcome: audit.Denied},
		{Event: audit.ConfirmationGranted, Operation: "delete_note", DangerLevel: 2, Outcome: audit.Confirmed},
	} {
		if err := records.Write(ctx, record); err != nil {
			log.Fatal(err)
		}
	}
	if err := records.Close(ctx); err != nil {
		log.Fatal(err)
	}

	summary, err := audit.VerifyFile(ctx, path, audit.VerifyOptions{AtLeast: 2})
	fmt.Println(summary.Records, "records, error:", err)

	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	text[100] ^= 1 // someone changes the file
	if err := os.WriteFile(path, text, 0o600); err != nil {
		log.Fatal(err)
	}
	_, err = audit.VerifyFile(ctx, path, audit.VerifyOptions{})
	fmt.Println(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	// Output:
	// 2 records, error: <nil>
	// audit.jsonl, line 1: changed: its hash is not that of its text
}
