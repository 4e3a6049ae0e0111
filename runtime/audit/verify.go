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

// VerifyOptions describe a chain to verify.
type VerifyOptions struct {
	Key []byte // that the chain was written with; empty: none
	// Head is a hash that an earlier verification reported (Summary.Head): the chain must have a record with this hash. It
	// proves that nothing up to that record was cut off or replaced, whatever the file's owner did.
	Head string
	// AtLeast is how many records the chain must have.
	AtLeast uint64
}

// head returns Head as a chain writes it.
func (o VerifyOptions) head() string { return strings.ToLower(strings.TrimSpace(o.Head)) }

// Check returns what is wrong with the options: a key that is too short, or a head that is no hash.
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

// Summary describes a chain; if it is broken, the part before the break.
type Summary struct {
	Records     uint64
	First, Last time.Time // the times of the first and the last record; zero if there is none
	Head        string    // the hash of the last record in hexadecimal; empty if there is none
}

// Fault is a way in which a chain is broken.
type Fault string

// The faults.
const (
	Changed   Fault = "changed"   // the line is not as it was written
	Removed   Fault = "removed"   // records are missing before the line
	Reordered Fault = "reordered" // the record that belongs here comes later
	Inserted  Fault = "inserted"  // the line does not belong here
	Torn      Fault = "torn"      // the last line has no line break
	CutOff    Fault = "cut off"   // records are missing at the end, or all of them were replaced
)

// BrokenError is the error of a broken chain.
type BrokenError struct {
	Line   int // from 1; with CutOff, the number of lines
	Fault  Fault
	Detail string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Fault, e.Detail)
}

// Verify reads a chain and checks that each line is as it was written and follows the line before. It fails with a
// *BrokenError at the first line that is wrong, and with another error if reading fails. It holds one line in memory.
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
		const explanation = "records were cut off at the end, or the file was replaced"
		switch {
		case head != "" && !v.headSeen:
			detail := fmt.Sprintf("no record has the hash %s: %s", head, explanation)
			broken = &BrokenError{Line: v.number, Fault: CutOff, Detail: detail}
		case v.end.seq < opts.AtLeast:
			detail := fmt.Sprintf("there are %d records, not %d: %s", v.end.seq, opts.AtLeast, explanation)
			broken = &BrokenError{Line: v.number, Fault: CutOff, Detail: detail}
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

// VerifyFile verifies the chain in a file as it is when VerifyFile is called. Processes may append to the file
// meanwhile: VerifyFile waits for the write in progress and ignores later lines.
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

// sizeBetweenWrites returns the size of a file while no process writes to it.
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

// next returns the next line without its line break; nil: there is none. The line is valid until the next call.
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
			return nil, v.broken(Torn, fmt.Sprintf("%d bytes without a line break: a write that did not finish, "+
				"and was not acknowledged, or the end of the file was cut off", len(part)+len(v.long)))
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
		return v.broken(Inserted, fmt.Sprintf("it calls itself record %d, but follows another record than the one before "+
			"it: this line, or those before it, are not of this chain", l.seq))
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

// missing returns the error of a line that comes too early: it searches the other lines for the record that is due
// here.
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
		l, err := parseLine(text)
		if err == nil && l.seq == want && l.prev == v.end.hash && v.chain.digest(&l.prev, l.body) == l.hash {
			detail := fmt.Sprintf("record %d stands here, where record %d belongs, which is in line %d", got, want, v.number)
			return &BrokenError{Line: at, Fault: Reordered, Detail: detail}
		}
	}
	gone := fmt.Sprintf("records %d to %d are", want, got-1)
	if want == got-1 {
		gone = fmt.Sprintf("record %d is", want)
	}
	return &BrokenError{Line: at, Fault: Removed, Detail: gone + " missing before it"}
}

// otherKey returns another explanation of a wrong first line.
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
