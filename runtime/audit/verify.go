package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// VerifyOptions say how a chain was made and what it must hold.
type VerifyOptions struct {
	Key []byte // the key that the chain was written with; empty: none
	// Head is a hash that an earlier verification reported: a record with this hash must be there. It proves that nothing
	// up to that record was cut off or replaced, whatever the file's owner did.
	Head string
	// AtLeast is how many records there must be.
	AtLeast uint64
}

// head is the head as a chain writes it.
func (o VerifyOptions) head() string { return strings.ToLower(strings.TrimSpace(o.Head)) }

// Check says what is wrong with the options themselves: a key that is too short, or a head that is no hash.
func (o VerifyOptions) Check() error {
	if err := checkKey(o.Key); err != nil {
		return err
	}
	var d digest
	if head := o.head(); head != "" && (len(head) != hashDigits || !d.parse([]byte(head))) {
		return fmt.Errorf("the head %q is not a hash of %d hexadecimal digits", o.Head, hashDigits)
	}
	return nil
}

// Summary is what a chain holds; of one that is broken, what it holds before the break.
type Summary struct {
	Records     uint64
	First, Last time.Time // the times of the first and the last record; zero where there is none
	Head        string    // the hash of the last record, in hexadecimal; empty where there is none
}

// Fault is the way in which a chain is broken.
type Fault string

// The faults.
const (
	Changed   Fault = "changed"   // the line is not as it was written
	Removed   Fault = "removed"   // records are missing before the line
	Reordered Fault = "reordered" // the record that belongs here comes later
	Inserted  Fault = "inserted"  // the line does not belong here
	Torn      Fault = "torn"      // the last line has no end
	CutOff    Fault = "cut off"   // records are missing at the end, or all of them were replaced
)

// BrokenError says where a chain is broken, and how.
type BrokenError struct {
	Line   int // from 1; of CutOff, the number of lines
	Fault  Fault
	Detail string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Fault, e.Detail)
}

// Verify reads a chain and checks each line: that it is as it was written, and follows the one before. It fails with a
// *BrokenError at the first line that is wrong, and with another error where reading fails. It holds one line at a time.
func Verify(r io.Reader, opts VerifyOptions) (Summary, error) {
	if err := opts.Check(); err != nil {
		return Summary{}, err
	}
	v := verifier{chain: newChain(opts.Key), keyed: len(opts.Key) > 0, lines: bufio.NewReaderSize(r, 64<<10)}
	head := opts.head()
	if head != "" {
		v.head.parse([]byte(head))
	}
	err := v.all()
	if broken := (*BrokenError)(nil); err == nil {
		switch {
		case head != "" && !v.headSeen:
			broken = &BrokenError{Line: v.number, Fault: CutOff, Detail: fmt.Sprintf("no record has the hash %s: records were cut off at the end, or the file was replaced", head)}
		case v.end.seq < opts.AtLeast:
			broken = &BrokenError{Line: v.number, Fault: CutOff, Detail: fmt.Sprintf("there are %d records, not %d: records were cut off at the end, or the file was replaced", v.end.seq, opts.AtLeast)}
		}
		if broken != nil {
			err = broken
		}
	}
	if v.end.seq > 0 {
		v.summary.Records, v.summary.Head = v.end.seq, v.end.hash.String()
	}
	return v.summary, err
}

// VerifyFile verifies the chain in a file as it is now. Processes may go on appending to it: lines that they are just
// writing are waited for, those that come later are left out.
func VerifyFile(ctx context.Context, path string, opts VerifyOptions) (Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return Summary{}, fmt.Errorf("opening the audit file: %w", err)
	}
	defer f.Close()
	size, err := sizeBetweenWrites(ctx, f)
	if err != nil {
		return Summary{}, fmt.Errorf("reading the audit file %s: %w", path, err)
	}
	return Verify(io.LimitReader(f, size), opts)
}

// sizeBetweenWrites is the size of a file at a moment when nobody writes to it.
func sizeBetweenWrites(ctx context.Context, f *os.File) (int64, error) {
	if err := lock(ctx, f, shared); err != nil {
		return 0, err
	}
	defer unlock(f)
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("it is not a regular file")
	}
	return info.Size(), nil
}

type verifier struct {
	chain    *chain
	keyed    bool
	lines    *bufio.Reader
	long     []byte // a line that is longer than the reader's buffer
	number   int    // of the line
	end      link
	head     digest // to look for
	headSeen bool
	summary  Summary
}

func (v *verifier) all() error {
	for {
		text, err := v.next()
		if err != nil || text == nil {
			return err
		}
		if err := v.check(text); err != nil {
			return err
		}
	}
}

// next is the next line, without its line break, until the next call. It is nil where there is none.
func (v *verifier) next() ([]byte, error) {
	v.long = v.long[:0]
	for {
		part, err := v.lines.ReadSlice('\n')
		if err == io.EOF && len(part)+len(v.long) == 0 {
			return nil, nil
		}
		if len(v.long) == 0 {
			v.number++
		}
		if len(part)+len(v.long) > maxLine {
			return nil, v.broken(Changed, "it is longer than 1 MiB")
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			v.long = append(v.long, part...)
			continue
		case err == io.EOF:
			return nil, v.broken(Torn, fmt.Sprintf("%d bytes without a line break: a write that did not finish, and was not acknowledged, or the end of the file was cut off", len(part)+len(v.long)))
		case err != nil:
			return nil, fmt.Errorf("reading line %d: %w", v.number, err)
		}
		text := part
		if len(v.long) > 0 {
			v.long = append(v.long, part...)
			text = v.long
		}
		return text[:len(text)-1], nil
	}
}

// check checks that a line continues the chain.
func (v *verifier) check(text []byte) error {
	l, err := parseLine(text)
	if err != nil {
		return v.broken(Changed, err.Error())
	}
	if v.chain.digest(&l.prev, l.body) != l.hash {
		detail := "its hash is not that of its text"
		if v.number == 1 {
			detail += v.otherKey()
		}
		return v.broken(Changed, detail)
	}
	if !json.Valid(text) {
		return v.broken(Changed, "it is no JSON")
	}
	want := v.end.seq + 1
	switch {
	case l.prev == v.end.hash && l.seq == want:
	case l.prev == v.end.hash:
		return v.broken(Changed, fmt.Sprintf("it follows record %d and calls itself %d", v.end.seq, l.seq))
	case l.seq > want:
		return v.missing(want, l.seq)
	case l.seq < want:
		return v.broken(Inserted, fmt.Sprintf("record %d stands here, where record %d belongs", l.seq, want))
	default:
		return v.broken(Inserted, fmt.Sprintf("it calls itself record %d, but follows another record than the one before it: this line, or those before it, are not of this chain", l.seq))
	}
	v.end = link{seq: l.seq, hash: l.hash}
	v.headSeen = v.headSeen || l.hash == v.head
	if v.summary.Records == 0 {
		v.summary.First = l.time
	}
	v.summary.Last = l.time
	v.summary.Records = l.seq
	return nil
}

// missing tells records that are gone from those that come later: it looks for the one that is due in the rest.
func (v *verifier) missing(want, got uint64) error {
	at := v.number
	for {
		text, err := v.next()
		if broken := (*BrokenError)(nil); text == nil && err == nil || errors.As(err, &broken) {
			break
		}
		if err != nil {
			return err
		}
		if l, err := parseLine(text); err == nil && l.seq == want && l.prev == v.end.hash && v.chain.digest(&l.prev, l.body) == l.hash {
			return &BrokenError{Line: at, Fault: Reordered, Detail: fmt.Sprintf("record %d stands here, where record %d belongs, which is in line %d", got, want, v.number)}
		}
	}
	gone := fmt.Sprintf("records %d to %d are", want, got-1)
	if want == got-1 {
		gone = fmt.Sprintf("record %d is", want)
	}
	return &BrokenError{Line: at, Fault: Removed, Detail: gone + " missing before it"}
}

// otherKey is the other explanation of a first line that is wrong.
func (v *verifier) otherKey() string {
	if v.keyed {
		return ", or the chain was written with another key or none"
	}
	return ", or the chain was written with a key"
}

func (v *verifier) broken(fault Fault, detail string) error {
	return &BrokenError{Line: v.number, Fault: fault, Detail: detail}
}

// beginsLine reports whether text could be the beginning of a line.
func beginsLine(text []byte) bool {
	n := min(len(text), len(opening))
	return bytes.Equal(text[:n], []byte(opening[:n]))
}
