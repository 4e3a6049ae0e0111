package policyfile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aqltag/aqltag/runtime/policy"
)

// File is a policy in a file that may change while the adapter runs. It is safe for concurrent use.
//
// A program that changes the file should write a new one and rename it over the old: half of a policy may be a policy
// too.
type File struct {
	path    string
	current atomic.Pointer[policy.Policy]

	mu   sync.Mutex
	text []byte      // as last read, whether it was a policy or not
	err  error       // the mistakes in text
	info fs.FileInfo // of the file that was last read; nil: it was not there
	read time.Time   // when it was read
}

// Open reads a policy from a file. Where the file is no policy, the error is of type policy.Mistakes.
func Open(path string) (*File, error) {
	f := &File{path: path}
	if _, err := f.Reload(); err != nil {
		return nil, err
	}
	return f, nil
}

// Policy returns the policy that was read last without mistakes.
func (f *File) Policy() *policy.Policy { return f.current.Load() }

// Reload reads the file again and reports whether it holds another policy now. Where it cannot be read, or has
// mistakes, Policy keeps returning the policy before, and every Reload returns the error.
func (f *File) Reload() (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = time.Now()
	text, info, err := readPolicy(f.path)
	f.info = info
	if err != nil {
		f.text, f.err = nil, nil
		return false, fmt.Errorf("reading the policy: %w", err)
	}
	if f.text != nil && bytes.Equal(text, f.text) {
		return false, f.err
	}
	f.text = text
	var p *policy.Policy
	if p, f.err = Parse(f.path, text); f.err != nil {
		return false, f.err
	}
	f.current.Store(p)
	return true, nil
}

// readPolicy reads a file, and one byte more than Parse accepts at the most.
func readPolicy(path string) ([]byte, fs.FileInfo, error) {
	// Opening a named pipe would block.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = fmt.Errorf("%s is not a regular file", path)
		}
		return nil, info, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	// The status is taken before reading, so that Changed reports what is written during it.
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, longestFile+1))
	return text, info, err
}

// tick is how coarse a file system's clock may be.
const tick = 2 * time.Second

// Changed reports whether the file may have changed since it was read. It compares modification time, size and
// identity, and reads nothing. A file that was modified within 2 seconds before it was read counts as changed: file
// systems whose clock is that coarse cannot tell a second change.
func (f *File) Changed() bool {
	info, err := os.Stat(f.path)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil || f.info == nil:
		return err == nil || f.info != nil
	case !os.SameFile(info, f.info), info.Size() != f.info.Size(), !info.ModTime().Equal(f.info.ModTime()):
		return true
	}
	return f.read.Sub(info.ModTime()) < tick
}
