package chaos

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// verify has aql-tag verify audit files. A last line that a killed process has not finished is in order, if torn says
// so.
func (w *world) verify(torn bool, files ...string) {
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		command := exec.Command(w.aqlTag, "audit", "verify", "-json", "-key", w.keys["audit"], file)
		command.Dir = w.dir
		out, err := command.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			w.t.Fatal(err)
		}
		var results []struct {
			OK           bool
			Files        int
			Fault, Error string
		}
		if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
			w.t.Fatalf("verifying %s: %q, %v", file, out, err)
		}
		w.verified += max(results[0].Files, 1)
		if r := results[0]; !r.OK && (!torn || r.Fault != "torn") {
			w.fault("the audit file %s is broken: %s: %s", filepath.Base(file), r.Fault, r.Error)
		}
	}
}

// record is a line of an audit file.
type record struct {
	Event      string
	RecordID   string `json:"record_id"`
	TokenID    string `json:"token_id"`
	Operation  string
	Parameters struct{ ID string }
}

// records reads the audit files.
func (w *world) records() []record {
	var all []record
	files, err := filepath.Glob(filepath.Join(w.dir, "audit", "*"))
	if err != nil || len(files) == 0 {
		w.t.Fatalf("no audit files: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		for l := range bytes.Lines(text) {
			var r record
			if err := json.Unmarshal(l, &r); err != nil {
				w.t.Fatalf("%s: %q: %v", file, l, err)
			}
			all = append(all, r)
		}
	}
	return all
}

// onRecord returns what ran and is not on record, and the tokens that are on record as used twice.
func onRecord(records []record, journal []entry) (faults []string) {
	type run struct{ operation, id string }
	allowed, validated := make(map[run]int), make(map[string]string)
	for _, r := range records {
		switch r.Event {
		case "CONFIRMATION_GRANTED", "OPERATION_ALLOWED":
			allowed[run{r.Operation, r.Parameters.ID}]++
		case "TOKEN_VALIDATED":
			if before := validated[r.TokenID]; before != "" && before != r.RecordID {
				faults = append(faults, "the token "+r.TokenID+" is on record as used twice")
			}
			validated[r.TokenID] = r.RecordID
		}
	}
	for _, e := range journal {
		if strings.HasPrefix(e.Operation, "create_") { // neither destructive nor of the category EXECUTE
			continue
		}
		r := run{e.Operation, e.ID}
		if allowed[r]--; allowed[r] < 0 {
			faults = append(faults, e.Operation+" "+e.ID+" ran at "+e.Process+" and is not on record")
		}
	}
	return faults
}
