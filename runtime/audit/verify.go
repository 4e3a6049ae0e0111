package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
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
	// First is the number of the first file that must be there, if files before it were moved away. Zero: all files that
	// are kept must be there.
	First uint64
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
	Files       int // that were read
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
	WrongKey  Fault = "key"       // the chain has a key and none is given, or the other way round
)

// BrokenError is the error of a broken chain.
type BrokenError struct {
	File   string // that the line is in; empty if Verify was called
	Line   int    // from 1; with CutOff, the number of lines
	Fault  Fault
	Detail string
}

func (e *BrokenError) Error() string {
	place := fmt.Sprintf("line %d", e.Line)
	if e.File != "" {
		place = e.File + ", " + place
	}
	return fmt.Sprintf("%s: %s: %s", place, e.Fault, e.Detail)
}

// Verify reads a chain and checks that each line is as it was written and follows the line before. It fails with a
// *BrokenError at the first line that is wrong, and with another error if reading fails. It holds one line in memory,
// of no more than 16 MiB. The texts of rotated files, one after the other, are one chain.
func Verify(r io.Reader, opts VerifyOptions) (Summary, error) {
	v, err := newVerifier(opts)
	if err != nil {
		return Summary{}, err
	}
	return v.finish(v.read("", 0, r))
}

type verifier struct {
	chain    *chain
	path     string // of the file that is not closed; empty: there are no files
	lines    *bufio.Reader
	long     []byte // a line that is longer than the reader's buffer
	file     string // that is read
	named    uint64 // its number, by its name; 0: it has none
	number   int    // of the line in the file
	begin    link   // before the first record
	end      link
	last     Event  // of the line before, if it is about files
	place    place  // of the file
	first    uint64 // the number of the first file, and its name
	start    string
	required uint64 // the number of the first file that must be there
	wanted   VerifyOptions
	visit    func(line []byte) error // is called with each line that verifies; nil: nobody wants them
	head     digest                  // to look for
	headSeen bool
	summary  Summary
}

func newVerifier(opts VerifyOptions) (*verifier, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	v := &verifier{chain: newChain(opts.Key), wanted: opts, lines: bufio.NewReaderSize(nil, 64<<10), required: opts.First}
	if head := opts.head(); head != "" {
		v.head.parse([]byte(head))
	}
	return v, nil
}

// finish checks what can be known at the end of the chain only.
func (v *verifier) finish(err error) (Summary, error) {
	if err == nil {
		err = v.complete()
	}
	if broken := (*BrokenError)(nil); errors.As(err, &broken) && broken.File == "" {
		broken.File = v.file
	}
	if v.end.seq > v.begin.seq {
		v.summary.Records, v.summary.Head = v.end.seq-v.begin.seq, v.end.hash.String()
	}
	return v.summary, err
}

func (v *verifier) complete() error {
	const explanation = "records were cut off at the end, or the file was replaced"
	head := v.wanted.head()
	switch {
	case v.first > max(v.place.oldest, v.required, 1):
		name := fmt.Sprintf("file %d", v.first-1)
		if v.path != "" {
			name = filepath.Base(rotatedPath(v.path, v.first-1))
		}
		detail := fmt.Sprintf("%s is missing before it, with records up to %d", name, v.begin.seq)
		return &BrokenError{File: v.start, Line: 1, Fault: Removed, Detail: detail}
	case head != "" && !v.headSeen:
		return v.broken(CutOff, fmt.Sprintf("no record has the hash %s: %s", head, explanation))
	case v.end.seq < v.wanted.AtLeast:
		return v.broken(CutOff, fmt.Sprintf("there are %d records, not %d: %s", v.end.seq, v.wanted.AtLeast, explanation))
	}
	return nil
}

// read reads the lines of a file, whose name has a number if it was closed.
func (v *verifier) read(name string, number uint64, r io.Reader) error {
	v.file, v.named, v.number = name, number, 0
	v.lines.Reset(r)
	v.summary.Files++
	for {
		text, err := v.next()
		if err != nil {
			return err
		}
		if text == nil {
			break
		}
		if err := v.check(text); err != nil {
			return err
		}
		if v.visit == nil {
			continue
		}
		if err := v.visit(text); err != nil {
			return err
		}
	}
	if v.number == 0 && v.end.seq > 0 && v.last == FileClosed {
		return v.broken(CutOff, fmt.Sprintf("it is empty, and belongs behind record %d", v.end.seq))
	}
	return nil
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
			return nil, v.broken(Changed, fmt.Sprintf("it is longer than %d MiB", maxLine>>20))
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
	if l.keyed != v.chain.keyed {
		return v.broken(WrongKey, v.otherKey(l.keyed))
	}
	if v.chain.digest(&l.prev, l.body) != l.hash {
		detail := "its hash is not that of its text"
		if v.end.seq == v.begin.seq && v.chain.keyed {
			detail += ", or the chain was written with another key"
		}
		return v.broken(Changed, detail)
	}
	if !json.Valid(text) {
		return v.broken(Changed, "it is no JSON")
	}
	if v.number == 1 {
		if err := v.beginFile(&l); err != nil {
			return err
		}
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
	if err := v.followFiles(&l); err != nil {
		return err
	}
	v.end = link{seq: l.seq, hash: l.hash}
	v.headSeen = v.headSeen || l.hash == v.head
	if v.summary.First.IsZero() {
		v.summary.First = l.time
	}
	v.summary.Last = l.time
	return nil
}

// beginFile looks at the first line of a file: whether it is the file that its name and its place among the others say.
// A chain whose older files are not there begins with FileOpened.
func (v *verifier) beginFile(l *line) error {
	p, err := placeOf(l)
	if err != nil {
		return v.broken(Changed, err.Error())
	}
	due := v.place.number + 1
	switch {
	case v.named > 0 && p.number != v.named:
		return v.broken(Reordered, fmt.Sprintf("it is file %d: files were renamed or have changed places", p.number))
	case v.place.number == 0:
		v.place, v.first, v.start = p, p.number, v.file
		if p.opened > 0 {
			v.begin = link{seq: p.opened - 1, hash: p.prev}
			v.end, v.last = v.begin, FileClosed
			v.place.number--
		}
	case p.opened > 0 && p.number > due:
		return v.broken(Removed, filepath.Base(rotatedPath(v.path, due))+" is missing before it")
	case p.number < due:
		return v.broken(Reordered, fmt.Sprintf("it is file %d, and stands where file %d belongs", p.number, due))
	}
	return nil
}

// followFiles checks that FileClosed is the last line of a file, and FileOpened the first of the next.
func (v *verifier) followFiles(l *line) error {
	event := l.event()
	switch {
	case v.last == FileClosed && event != FileOpened:
		return v.broken(Inserted, "it stands behind the record that closes a file")
	case event == "":
	case event == FileOpened && v.last != FileClosed || event == FileOpened && v.number > 1 && v.path != "":
		return v.broken(Inserted, "it opens a file, and the one before is not closed")
	case event == FileClosed:
		if number, _, err := l.file(); err != nil || number != v.place.number {
			return v.broken(Changed, fmt.Sprintf("it does not close file %d", v.place.number))
		}
	default:
		p, err := placeOf(l)
		if err != nil || p.number != v.place.number+1 {
			return v.broken(Changed, fmt.Sprintf("it does not open file %d", v.place.number+1))
		}
		v.place = p
	}
	v.last = event
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

// otherKey says that a line has a key and none was given, or the other way round.
func (v *verifier) otherKey(keyed bool) string {
	began := v.end.seq > v.begin.seq
	switch {
	case keyed && began:
		return "it was written with a key, and the lines before it without one"
	case keyed:
		return "it was written with a key: give the key"
	case began:
		return "it was written without a key, and the lines before it with one: anybody can have written it"
	default:
		return "it was written without a key, and a key is given: anybody can have written it"
	}
}

func (v *verifier) broken(fault Fault, detail string) error {
	return &BrokenError{Line: v.number, Fault: fault, Detail: detail}
}

// beginsLine reports whether text could be the beginning of a line.
func beginsLine(text []byte) bool {
	n := min(len(text), len(opening))
	return bytes.Equal(text[:n], []byte(opening[:n]))
}
