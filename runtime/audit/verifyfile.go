package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// VerifyFile verifies the chain in a file, and in the files that were closed before it, as they are when VerifyFile is
// called. Processes may append to the file meanwhile: VerifyFile waits for the write in progress and ignores later
// lines. The name of a closed file, such as audit.log.000003, verifies that file alone.
func VerifyFile(ctx context.Context, path string, opts VerifyOptions) (Summary, error) {
	v, err := newVerifier(opts)
	if err != nil {
		return Summary{}, err
	}
	path = followed(path)
	if base, number := closedFile(path); number > 0 {
		v.required, v.path = number, base
		return v.finish(v.readFile(rotatedFile{path, number}))
	}
	v.path = path
	current, size, closed, err := snapshot(ctx, path)
	if err != nil {
		return Summary{}, err
	}
	defer current.Close()
	for _, file := range closed {
		if err := v.readFile(file); err != nil {
			return v.finish(err)
		}
	}
	return v.finish(v.read(path, 0, io.LimitReader(current, size)))
}

// closedFile returns the path and the number of a file that was closed; 0: the name is not of that form.
func closedFile(path string) (base string, number uint64) {
	base, suffix := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	if suffix == "" {
		return path, 0
	}
	return base, rotatedNumber(base, path)
}

// snapshot opens a file, and returns its size and the files that were closed before it while no process writes to them.
func snapshot(ctx context.Context, path string) (f *os.File, size int64, closed []rotatedFile, err error) {
	for {
		// Opening a named pipe would block.
		if info, fault := os.Stat(path); fault == nil && !info.Mode().IsRegular() {
			return nil, 0, nil, fmt.Errorf("reading the audit file %s: it is not a regular file", path)
		}
		f, err = os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			if others, listed := rotated(path); listed == nil && len(others) > 0 {
				last := others[len(others)-1].path
				return nil, 0, nil, &BrokenError{
					File: path, Fault: CutOff, Detail: "it is missing, and " + filepath.Base(last) + " is there",
				}
			}
		}
		if err != nil {
			return nil, 0, nil, fmt.Errorf("opening the audit file: %w", err)
		}
		again := false
		size, err = sizeBetweenWrites(ctx, f, func(info os.FileInfo) error {
			there, err := os.Stat(path)
			if err != nil {
				return err
			}
			if again = !os.SameFile(info, there); again {
				return nil
			}
			closed, err = rotated(path)
			closed = slices.DeleteFunc(closed, func(c rotatedFile) bool { // a rotation that has just begun
				there, err := os.Stat(c.path)
				return err == nil && os.SameFile(info, there)
			})
			return err
		})
		if err == nil && !again {
			return f, size, closed, nil
		}
		f.Close()
		if err != nil {
			return nil, 0, nil, fmt.Errorf("reading the audit file %s: %w", path, err)
		}
	}
}

// sizeBetweenWrites returns the size of a file while no process writes to it.
func sizeBetweenWrites(ctx context.Context, f *os.File, do func(os.FileInfo) error) (int64, error) {
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
	return info.Size(), do(info)
}

// readFile reads a closed file.
func (v *verifier) readFile(file rotatedFile) error {
	f, err := os.Open(file.path)
	if err != nil {
		return fmt.Errorf("opening the audit file: %w", err)
	}
	defer f.Close()
	if before := v.place.number; before > 0 && file.number != before+1 {
		v.file, v.number = file.path, 1
		return v.broken(Removed, filepath.Base(rotatedPath(v.path, before+1))+" is missing before it")
	}
	if err := v.read(file.path, file.number, f); err != nil {
		return err
	}
	if v.last != FileClosed {
		return v.broken(CutOff, "it does not end with the record that closes a file: records are missing at its end")
	}
	return nil
}
