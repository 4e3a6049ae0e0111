package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// place says where a file is in a chain of rotated files.
type place struct {
	number uint64 // from 1
	opened uint64 // the record FileOpened; 0: the file does not begin with one
	prev   digest // the hash before that record
	oldest uint64 // the number of the oldest file that was kept then
}

// placeOf returns the place of the file that begins with a line.
func placeOf(l *line) (place, error) {
	if l.event() != FileOpened {
		return place{number: 1, oldest: 1}, nil
	}
	number, oldest, err := l.file()
	return place{number: number, opened: l.seq, prev: l.prev, oldest: max(oldest, 1)}, err
}

// event returns the event of a line if it is about files, and nothing otherwise.
func (l *line) event() Event {
	rest := l.body[min(len(opening)+len(timeLayout), len(l.body)):]
	for _, event := range []Event{FileClosed, FileOpened} {
		if bytes.HasPrefix(rest, []byte(`","event":"`+string(event)+`",`)) {
			return event
		}
	}
	return ""
}

// file returns what a line says about files.
func (l *line) file() (number, oldest uint64, err error) {
	var members struct {
		File   uint64 `json:"file"`
		Oldest uint64 `json:"oldest_file"`
	}
	err = json.Unmarshal(append(slices.Clone(l.body), '}'), &members)
	if err != nil || members.File == 0 {
		return 0, 0, errNoLine
	}
	return members.File, members.Oldest, nil
}

// readPlace reads the first line of the file. It must continue what f has written or read before.
func (f *File) readPlace() (place, error) {
	first, err := bufio.NewReader(io.NewSectionReader(f.out, 0, 4<<10)).ReadSlice('\n')
	if err != nil { // longer than any record about files
		return place{number: 1, oldest: 1}, nil //nolint:nilerr // it is read again if it is needed
	}
	l, err := parseLine(first[:len(first)-1])
	if err == nil {
		err = f.check(&l)
	}
	if err != nil {
		return place{}, fmt.Errorf("its first record: %w", err)
	}
	p, err := placeOf(&l)
	if err == nil && f.end.seq > 0 && p.opened == f.end.seq+1 && p.prev != f.end.hash {
		err = errors.New("it does not continue the file before; verify it")
	}
	return p, err
}

// digits is how many digits the number of a rotated file has at least.
const digits = 6

// rotatedPath returns the name of a file that was closed.
func rotatedPath(path string, number uint64) string {
	return fmt.Sprintf("%s.%0*d", path, digits, number)
}

// rotatedNumber returns the number of a file that was closed; 0: its name is not of that form.
func rotatedNumber(path, name string) uint64 {
	suffix, ok := strings.CutPrefix(name, path+".")
	if !ok || len(suffix) < digits {
		return 0
	}
	number, err := strconv.ParseUint(suffix, 10, 64)
	if err != nil || rotatedPath(path, number) != name {
		return 0
	}
	return number
}

// rotatedFile is a file that was closed.
type rotatedFile struct {
	path   string
	number uint64
}

// rotated returns the closed files of a path, oldest first.
func rotated(path string) ([]rotatedFile, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var files []rotatedFile
	for _, entry := range entries {
		if number := rotatedNumber(filepath.Base(path), entry.Name()); number > 0 {
			files = append(files, rotatedFile{filepath.Join(filepath.Dir(path), entry.Name()), number})
		}
	}
	slices.SortFunc(files, func(a, b rotatedFile) int { return cmp.Compare(a.number, b.number) })
	return files, nil
}

// makeRoom rotates the file if it is full, and finishes the rotation of a process that was killed. at is the time of
// the next record. The lock is held.
func (f *File) makeRoom(at time.Time) error {
	full := f.maxSize > 0 && rotates && f.size >= f.maxSize && f.end.seq > f.place.opened
	if !f.closed && !full {
		return nil
	}
	err := f.rotate(at)
	if err == nil {
		f.growing = false
		return nil
	}
	err = fmt.Errorf("rotating it: %w", err)
	if f.closed || f.refused != nil {
		return err
	}
	if !f.growing {
		f.growing = true
		f.logger.Error("the audit file could not be rotated and grows on", "file", f.path, "error", err)
	}
	return nil
}

// rotate closes the file and begins the next one. Each step leaves files that verify and from which the next writer
// goes on:
//
//  1. The file gets a second name, with its number.
//  2. The next file is written under a name of its own, with its first record.
//  3. The file gets its last record.
//  4. The next file takes its first name.
func (f *File) rotate(at time.Time) error {
	number := max(f.place.number, 1)
	if err := f.link(rotatedPath(f.path, number)); err != nil {
		return err
	}
	f.reached("linked")
	var last []byte
	end := f.end
	if !f.closed {
		r := Record{Time: at, Event: FileClosed, Outcome: Success, File: number}
		last = f.chain.append(nil, &r, &end)
	}
	opened := place{number: number + 1, opened: end.seq + 1, prev: end.hash, oldest: max(f.place.oldest, 1)}
	if f.keep > 0 && opened.number > f.keep {
		opened.oldest = max(opened.oldest, opened.number-f.keep)
	}
	r := Record{Time: at, Event: FileOpened, Outcome: Success, File: opened.number, Oldest: opened.oldest}
	began := end
	first := f.chain.append(nil, &r, &began)
	name := f.path + ".next"
	next, err := f.create(name, first)
	if err != nil {
		return err
	}
	f.reached("written")
	if !f.closed {
		if err := f.append(last, end); err != nil {
			next.Close()
			os.Remove(name)
			return err
		}
		f.closed = true
		f.reached("closed")
	}
	if err := os.Rename(name, f.path); err != nil {
		next.Close()
		return err
	}
	f.reached("renamed")
	f.file.Close() // which unlocks it
	f.use(next)
	f.end, f.size, f.place = began, int64(len(first)), opened
	if err := syncFolder(filepath.Dir(f.path)); err != nil {
		return err
	}
	f.removeOld()
	return nil
}

// link gives the file a second name, unless it has that already.
func (f *File) link(name string) error {
	err := os.Link(f.path, name)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(info, there) {
		return fmt.Errorf("another file has the name %s", name)
	}
	return nil
}

// create writes a locked file with one line and the mode of the file, and syncs it and its folder.
func (f *File) create(name string, text []byte) (_ *os.File, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|appending, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = file.Write(text); err == nil {
		err = errors.Join(file.Chmod(info.Mode().Perm()), file.Sync(), syncFolder(filepath.Dir(name)))
	}
	if err == nil {
		err = lock(context.Background(), file, exclusive) // nobody else has it
	}
	if err != nil {
		file.Close()
		os.Remove(name)
		return nil, err
	}
	return file, nil
}

// removeOld removes the files that are not kept.
func (f *File) removeOld() {
	files, err := rotated(f.path)
	for _, old := range files {
		if old.number < f.place.oldest {
			err = errors.Join(err, os.Remove(old.path))
		}
	}
	if err != nil {
		f.logger.Warn("old audit files could not be removed", "error", err)
	}
}

// reached tells a test that a step of the rotation is done.
func (f *File) reached(step string) {
	if f.step != nil {
		f.step(step)
	}
}
