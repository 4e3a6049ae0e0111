package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Line is a record in a file, with what the chain of hashes says of it.
type Line struct {
	// Seq is the number of the record in the chain, and Time when it was written; zero: the text is none of a chain.
	Seq  uint64
	Time time.Time
	JSON []byte // the record as it stands there, without its line break
	// Verified says that the record is as it was written, and follows the one before, which is verified, too.
	Verified bool
}

// TailOptions say what a Tail reads.
type TailOptions struct {
	VerifyOptions
	Last  int             // how many of the last records; at least 1
	Match func(Line) bool // whether a record is one of those; nil: each is
}

// Tail reads the last records of a file, and those that are added. Its methods must not be called at the same time.
type Tail struct {
	options TailOptions
	v       *verifier
	last    []Line
	summary Summary
	broken  error // why what comes is not verified; nil: it may be

	seenFile string // that the last line is in that was verified when the Tail was opened
	seenLine int    // its number

	file   *os.File // that records are added to; nil: the name is that of a closed file
	number uint64   // of the file
	offset int64    // in the file, behind the last line that was read
	every  time.Duration
}

// followEvery is how often Tail.Follow looks for records.
const followEvery = 500 * time.Millisecond

// OpenTail verifies the chain in a file as VerifyFile does, and keeps the last records. A chain that is broken is no
// error of OpenTail, but Tail.Verdict's: behind the fault, records are not verified. Close ends the Tail.
func OpenTail(ctx context.Context, path string, options TailOptions) (*Tail, error) {
	t := &Tail{options: options, every: followEvery}
	path = followed(path)
	for listings := 1; ; listings++ {
		err := t.read(ctx, path)
		switch {
		case err == nil:
			return t, nil
		case !errors.Is(err, errRemoved), listings == mostListings:
			return nil, errors.Join(err, t.Close())
		case t.Close() != nil || ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// read reads the file, and before it those that were closed.
func (t *Tail) read(ctx context.Context, path string) (err error) {
	if t.v, err = newVerifier(t.options.VerifyOptions); err != nil {
		return err
	}
	t.last, t.broken, t.file, t.offset = nil, nil, nil, 0
	t.seenFile, t.seenLine = "", 0
	t.v.visit = func(text []byte) error {
		l := unverified(text)
		l.Verified = true
		t.keep(l)
		t.seenFile, t.seenLine = t.v.file, t.v.number
		return nil
	}
	var files []rotatedFile
	if base, number := closedFile(path); number > 0 {
		t.v.required, t.v.path, files = number, base, []rotatedFile{{path, number}}
	} else {
		t.v.path = path
		if t.file, t.offset, files, err = snapshot(ctx, path); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err = t.v.readFile(file); err != nil {
			break
		}
	}
	if err == nil && t.file != nil {
		err = t.v.read(path, 0, io.NewSectionReader(t.file, 0, t.offset))
	}
	if t.file != nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("an audit file %w", errRemoved)
	}
	if t.number = max(t.v.place.number, 1); len(files) > 0 {
		t.number = files[len(files)-1].number + 1
	}
	t.summary, err = t.v.finish(err)
	if broken := (*BrokenError)(nil); err != nil && !errors.As(err, &broken) {
		return err
	}
	if t.broken = err; err != nil {
		return t.readRest(files)
	}
	return nil
}

// readRest reads the lines behind the last one that was verified, in the files that were read.
func (t *Tail) readRest(files []rotatedFile) error {
	at := slices.IndexFunc(files, func(f rotatedFile) bool { return f.path == t.seenFile })
	if at < 0 && (t.seenFile == "" || t.file == nil) {
		at = 0
	}
	skip := t.seenLine
	if at >= 0 {
		for _, file := range files[at:] {
			f, err := os.Open(file.path)
			if err != nil {
				return fmt.Errorf("opening the audit file: %w", err)
			}
			err = t.readUnverified(f, skip)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			skip = 0
		}
	}
	if t.file == nil {
		return nil
	}
	return t.readUnverified(io.NewSectionReader(t.file, 0, t.offset), skip)
}

// readUnverified reads lines, but for the first ones. What has no line break was not acknowledged.
func (t *Tail) readUnverified(r io.Reader, skip int) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the audit file: %w", err)
		case number > skip:
			t.keep(unverified(text))
		}
	}
}

// unverified returns a line, with its line break or without, of which nothing is known yet.
func unverified(text []byte) Line {
	text = bytes.TrimSuffix(text, []byte("\n"))
	l, _ := parseLine(text) // else it is none of a chain
	return Line{Seq: l.seq, Time: l.time, JSON: text}
}

// keep keeps a line among the last ones.
func (t *Tail) keep(l Line) {
	if t.options.Match != nil && !t.options.Match(l) {
		return
	}
	l.JSON = bytes.Clone(l.JSON)
	if t.last = append(t.last, l); len(t.last) >= 2*t.options.Last {
		t.last = append([]Line(nil), t.last[len(t.last)-t.options.Last:]...)
	}
}

// Last returns the last records when the Tail was opened, the oldest first.
func (t *Tail) Last() []Line { return t.last[max(0, len(t.last)-t.options.Last):] }

// Verdict returns what VerifyFile does about the records until now: its error is a *BrokenError where the chain is
// broken.
func (t *Tail) Verdict() (Summary, error) { return t.summary, t.broken }

// Close closes the file.
func (t *Tail) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}

// Follow calls visit with each record that is added, until ctx ends or visit fails. A record that does not follow the
// one before is not verified, nor is one behind it: Verdict then says why.
func (t *Tail) Follow(ctx context.Context, visit func(Line) error) error {
	if t.file == nil {
		return errors.New("nothing is added to an audit file that is closed; name the one without a number")
	}
	ticker := time.NewTicker(t.every)
	defer ticker.Stop()
	for {
		if err := t.catchUp(ctx, visit); err != nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// catchUp reads what was added, also to the files that have followed.
func (t *Tail) catchUp(ctx context.Context, visit func(Line) error) error {
	for {
		moved, err := t.moved()
		if err == nil {
			err = t.readAdded(ctx, visit) // after that look: nothing is added to a file that was moved
		}
		if err != nil || !moved {
			return err
		}
		if err := t.openNext(); err != nil {
			return err
		}
	}
}

// moved reports whether the file has another name by now, or was replaced.
func (t *Tail) moved() (bool, error) {
	mine, err := t.file.Stat()
	if err != nil {
		return false, fmt.Errorf("looking at the audit file: %w", err)
	}
	there, err := os.Stat(t.v.path)
	if errors.Is(err, fs.ErrNotExist) { // the next one comes
		return false, nil
	}
	return err == nil && !os.SameFile(mine, there), err
}

// openNext opens the file that follows: the closed one of the next number, or the one that records are added to.
func (t *Tail) openNext() error {
	t.number++
	next := rotatedPath(t.v.path, t.number)
	f, err := os.Open(next)
	t.v.named = t.number
	if errors.Is(err, fs.ErrNotExist) {
		next, t.v.named = t.v.path, 0
		f, err = os.Open(next)
	}
	if err != nil {
		return fmt.Errorf("opening the audit file: %w", err)
	}
	_ = t.file.Close() // it was only read
	t.file, t.offset, t.v.file, t.v.number = f, 0, next, 0
	return nil
}

// readAdded reads the lines behind the last one that was read.
func (t *Tail) readAdded(ctx context.Context, visit func(Line) error) error {
	size, err := sizeBetweenWrites(ctx, t.file, func(os.FileInfo) error { return nil })
	if err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was to end
		}
		return fmt.Errorf("reading the audit file: %w", err)
	}
	if size < t.offset {
		return &BrokenError{File: t.v.file, Line: t.v.number, Fault: CutOff, Detail: "the file has become shorter"}
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(t.file, t.offset, size-t.offset), 64<<10)
	for ctx.Err() == nil {
		text, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF): // what has no line break was not acknowledged, and may be cut off again
			return nil
		case err != nil:
			return fmt.Errorf("reading the audit file: %w", err)
		}
		t.offset += int64(len(text))
		l := unverified(text)
		t.v.number++
		if t.broken == nil {
			if t.broken = t.v.follow(l.JSON); t.broken == nil {
				l.Verified = true
			}
			t.summary, _ = t.v.finish(t.broken) // whose error is about the end, which is not there yet
		}
		if t.options.Match != nil && !t.options.Match(l) {
			continue
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	return nil
}

// follow checks the next line of the file.
func (v *verifier) follow(text []byte) error {
	v.lines.Reset(strings.NewReader("")) // in which it looks for a record that is missing
	err := v.check(text)
	if broken := (*BrokenError)(nil); errors.As(err, &broken) && broken.File == "" {
		broken.File = v.file
	}
	return err
}
