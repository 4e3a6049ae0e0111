package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// What is wrong with a command about the records.
var (
	errNoRecords = errors.New("-audit names the file in which the adapter keeps its records; there is none")
	errBroken    = errors.New("the chain of the records is broken")
)

// standardLast is the default of -last.
const standardLast = 20

// recorded are the members of a record that people are shown in a line.
type recorded struct {
	Event                    audit.Event
	Outcome                  audit.Outcome
	Operation, Reason, Agent string
	FailureReason            string `json:"failure_reason"`
	Refused                  int    // requests that it counts
	Client                   struct {
		User   string `json:"user_id"`
		Issuer string
	} `json:"client_context"`
}

// selectsRecord reports whether the flags select a record: by its event, its caller and its operation.
func (f *Flags) selectsRecord(l audit.Line) bool {
	if f.Event == "" && f.Caller == "" && f.Operation == "" {
		return true
	}
	var r recorded
	return json.Unmarshal(l.JSON, &r) == nil && (f.Event == "" || strings.EqualFold(f.Event, string(r.Event))) &&
		(f.Caller == "" || f.Caller == r.Client.User) && (f.Operation == "" || f.Operation == r.Operation)
}

// tail prints the last records of the audit file, whether they verify, and with a flag those that are added.
func (d *Desk) tail(ctx context.Context, f Flags) (err error) {
	if d.AuditFile == "" {
		return errNoRecords
	}
	last := f.Last
	if last == 0 {
		last = standardLast
	}
	tail, err := audit.OpenTail(ctx, d.AuditFile, audit.TailOptions{
		VerifyOptions: audit.VerifyOptions{Key: d.AuditKey}, Last: last, Match: f.selectsRecord,
	})
	if err != nil {
		return fmt.Errorf("reading the records: %w", err)
	}
	defer func() { err = errors.Join(err, tail.Close()) }()
	for _, l := range tail.Last() {
		if err := d.printRecord(f, l); err != nil {
			return err
		}
	}
	if len(tail.Last()) == 0 && !f.JSON {
		fmt.Fprintln(d.Stdout, "There are no such records.")
	}
	broken := d.printVerdict(f, tail)
	if !f.Follow {
		return broken
	}
	err = tail.Follow(ctx, func(l audit.Line) error {
		if err := d.printRecord(f, l); err != nil {
			return err
		}
		if _, now := tail.Verdict(); broken == nil && now != nil {
			broken = d.printVerdict(f, tail)
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("following the records: %w", err)
	}
	return errors.Join(broken, err)
}

// recordDocument is a record as -json prints it.
type recordDocument struct {
	Seq      uint64          `json:"seq,omitempty"` // its number in the chain; absent: the text is none of a chain
	Verified bool            `json:"verified"`
	Record   json.RawMessage `json:"record,omitempty"`
	Text     string          `json:"text,omitempty"` // in place of the record: what is no JSON
}

// printRecord prints a record in a line.
func (d *Desk) printRecord(f Flags, l audit.Line) error {
	if f.JSON {
		document := recordDocument{Seq: l.Seq, Verified: l.Verified, Record: l.JSON}
		if !json.Valid(l.JSON) {
			document.Record, document.Text = nil, string(l.JSON)
		}
		return d.printDocument(document)
	}
	var r recorded
	columns := []string{d.clock(l.Time)}
	if !l.Verified {
		columns = append(columns, "NOT VERIFIED")
	}
	if l.Seq == 0 || json.Unmarshal(l.JSON, &r) != nil {
		columns = append(columns[1:], words.Excerpt(string(l.JSON), longestAsked))
	} else {
		columns = append(columns, fmt.Sprint(l.Seq), string(r.Event), r.Operation,
			desk.Recorded(r.Event, r.Outcome, r.Refused))
		if r.Client.User != "" {
			columns = append(columns, "by "+desk.Name(identity.Caller{Subject: r.Client.User, Issuer: r.Client.Issuer}))
		}
		if r.Agent != "" {
			columns = append(columns, "agent "+r.Agent)
		}
		columns = append(columns, words.Excerpt(r.Reason+r.FailureReason, longestAsked))
	}
	var line []string
	for _, column := range columns {
		if column != "" {
			line = append(line, words.Printable(column))
		}
	}
	_, err := fmt.Fprintln(d.Stdout, strings.Join(line, "  "))
	return err
}

// verdictDocument is what -json prints about the chain.
type verdictDocument struct {
	Verified bool       `json:"verified"`
	Files    int        `json:"files"`
	Records  uint64     `json:"records"` // that verify
	First    *time.Time `json:"first,omitempty"`
	Last     *time.Time `json:"last,omitempty"`
	Head     string     `json:"head,omitempty"`
	File     string     `json:"file,omitempty"` // that the fault is in, without its directory
	Line     int        `json:"line,omitempty"`
	Fault    string     `json:"fault,omitempty"`
	Error    string     `json:"error,omitempty"`
}

// printVerdict prints whether the records verify. Its error says that they do not.
func (d *Desk) printVerdict(f Flags, tail *audit.Tail) error {
	s, broken := tail.Verdict()
	document := verdictDocument{Verified: broken == nil, Files: s.Files, Records: s.Records, Head: s.Head}
	if s.Records > 0 {
		document.First, document.Last = &s.First, &s.Last
	}
	err := error(nil)
	if fault := (*audit.BrokenError)(nil); errors.As(broken, &fault) {
		document.File, document.Line = filepath.Base(fault.File), fault.Line
		document.Fault, document.Error = string(fault.Fault), fault.Detail
		err = fmt.Errorf("%w in %s, line %d: %s: %s. The records before that verify: %d", errBroken, document.File,
			fault.Line, fault.Fault, fault.Detail, s.Records)
		if fault.Fault == audit.WrongKey {
			err = fmt.Errorf("%w. The key is that of -audit-key", err)
		}
	}
	switch {
	case f.JSON:
		return errors.Join(d.printDocument(map[string]verdictDocument{"chain": document}), err)
	case err == nil && s.Records == 0:
		fmt.Fprintln(d.Stdout, "The file has no records.")
	case err == nil:
		in := ""
		if s.Files > 1 {
			in = fmt.Sprintf(" in %d files", s.Files)
		}
		fmt.Fprintf(d.Stdout, "The chain verifies: %d records%s, head %s\n", s.Records, in, s.Head)
	}
	return err
}
