package aql

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// pgx.ErrNoRows has this text, and wraps sql.ErrNoRows or not, depending on the version.
var errPgxNoRows = errors.New("no rows in result set")

// The errors with which databases and file systems report that there is nothing are recognised, wherever they are.
func TestNothingIsNotFound(t *testing.T) {
	for _, err := range []error{
		sql.ErrNoRows, errPgxNoRows, fs.ErrNotExist,
		fmt.Errorf("reading the note: %w", sql.ErrNoRows),
		fmt.Errorf("note: %w", fmt.Errorf("row: %w", errPgxNoRows)),
		errors.Join(errors.New("first"), fmt.Errorf("second: %w", sql.ErrNoRows)),
		fmt.Errorf("%w and %w", errors.New("first"), sql.ErrNoRows),
	} {
		f, known := asFailure(err)
		if !known || f.Code != CodeResourceNotFound || f.Message != "Resource not found" {
			t.Errorf("%q: %v, %t", err, f, known)
		}
	}
	for _, err := range []error{
		errors.New("sql: no rows in result set, or so"), sql.ErrTxDone,
		fmt.Errorf("%s", "reading: sql: no rows in result set"),
		errors.Join(errors.New("first"), errors.New("second")), fmt.Errorf("wrapping nothing: %w", error(nil)),
	} {
		if f, known := asFailure(err); known {
			t.Errorf("%q: %v", err, f)
		}
	}
}

// brokenError panics when it is asked for its text, as a nil pointer to a struct with a text does.
type brokenError struct{ text string }

func (e *brokenError) Error() string { return e.text }

func TestErrorThatPanicsIsUnknown(t *testing.T) {
	if f, known := asFailure((*brokenError)(nil)); known || f.Code != "INTERNAL_ERROR" {
		t.Errorf("%v, %t", f.Code, known)
	}
}

// Which codes agents may see.
func TestCodeValid(t *testing.T) {
	for code, want := range map[Code]bool{
		CodeResourceNotFound: true, CodeInvalidState: true, "VALIDATION_UNKNOWN_CURRENCY": true, "CONFLICT_409": true,
		"": false, "VALIDATION_": false, "VALIDATION_x": false, "NOTFOUND_RESOURCE": false, "MY_CODE": false,
		"CONFLICT_A B": false,
	} {
		if got := code.Valid(); got != want {
			t.Errorf("%q: %t", code, got)
		}
	}
}

// WithDetail leaves the original as it is, replaces a detail of the same name, and takes the value of the moment.
func TestWithDetail(t *testing.T) {
	original := Denied("no")
	tags := []string{"a"}
	changed := original.WithDetail("tags", tags).WithDetail("n", 1).WithDetail("n", 2.5).WithDetail("reason", "yes")
	tags[0] = "late"
	checkText(t, "original", `{"code":"PERMISSION_DENIED","message":"Permission denied: 'no'","details":{"reason":"no"}}`,
		asJSON(original))
	checkText(t, "changed", `{"code":"PERMISSION_DENIED","message":"Permission denied: 'no'","details":{"reason":"yes",`+
		`"tags":["a"],"n":2.5}}`, asJSON(changed))
}
