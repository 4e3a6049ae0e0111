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
	return verifyFile(ctx, path, opts, func() {})
}

// mostListings is how many times the files of a chain are listed, because one was removed before it was read.
const mostListings = 10

// verifyFile is VerifyFile; listed is called each time that the files were listed. Where one of them is removed before
// it is read, as a rotation does with the oldest ones, the verification begins anew: it tells whether the file had to
// be there.
func verifyFile(ctx context.Context, path string, opts VerifyOptions, listed func()) (Summary, error) {
	return readChain(ctx, path, opts, listed, nil, (*verifier).readAll)
}

// readChain is verifyFile; begin, unless nil, is that of ReadFile, and readClosed reads the closed files.
func readChain(
	ctx context.Context, path string, opts VerifyOptions, listed func(), begin func() func(line []byte) error,
	readClosed func(*verifier, []rotatedFile) error,
) (Summary, error) {
	path = followed(path)
	for listings := 1; ; listings++ {
		v, err := newVerifier(opts)
		if err != nil {
			return Summary{}, err
		}
		if begin != nil {
			v.visit = begin()
		}
		if base, number := closedFile(path); number > 0 {
			v.required, v.path = number, base
			return v.finish(v.readFile(rotatedFile{path, number}))
		}
		v.path = path
		s, err := v.readFiles(ctx, listed, readClosed)
		switch {
		case !errors.Is(err, errRemoved):
			return s, err
		case ctx.Err() != nil:
			return s, ctx.Err()
		case listings == mostListings:
			return s, fmt.Errorf("%w; that happened %d times: keep more files, or verify a copy of them", err, listings)
		}
	}
}

// errRemoved is the error of a closed file that is not there any more.
var errRemoved = errors.New("was removed while the files before it were verified")

// readFiles reads the file, and before it those that were closed.
func (v *verifier) readFiles(
	ctx context.Context, listed func(), readClosed func(*verifier, []rotatedFile) error,
) (Summary, error) {
	current, size, closed, err := snapshot(ctx, v.path)
	if err != nil {
		return Summary{}, err
	}
	defer current.Close()
	listed()
	err = readClosed(v, closed)
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		return v.summary, fmt.Errorf("the audit file %s %w", missing.Path, errRemoved)
	}
	if err != nil {
		return v.finish(err)
	}
	return v.finish(v.read(v.path, 0, io.LimitReader(current, size)))
}

// readAll reads closed files.
func (v *verifier) readAll(all []rotatedFile) error {
	for _, file := range all {
		if err := v.readFile(file); err != nil {
			return err
		}
	}
	return nil
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
