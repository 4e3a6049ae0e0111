package policy

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Source is a policy in a file that may change while the adapter runs. It is safe for concurrent use.
//
// Whoever changes the file should rename a complete one over it: half of a policy may be a policy too.
type Source struct {
	path    string
	current atomic.Pointer[Policy]

	mu   sync.Mutex
	text []byte      // what was read last, whether it was a policy or not
	err  error       // what was wrong with that
	info fs.FileInfo // of the file that was read last; nil: there was none
	read time.Time   // when that was
}

// Open reads a policy from a file. It fails with Mistakes where that is no policy.
func Open(path string) (*Source, error) {
	s := &Source{path: path}
	if _, err := s.Reload(); err != nil {
		return nil, err
	}
	return s, nil
}

// Policy is the last policy that was read and in which nothing was wrong.
func (s *Source) Policy() *Policy { return s.current.Load() }

// Reload reads the file again and reports whether it holds another policy now. Where it cannot be read, or is no policy,
// the last good one stays, and the error is told each time.
func (s *Source) Reload() (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = time.Now()
	text, info, err := readPolicy(s.path)
	s.info = info
	if err != nil {
		s.text, s.err = nil, nil
		return false, fmt.Errorf("reading the policy: %w", err)
	}
	if s.text != nil && bytes.Equal(text, s.text) {
		return false, s.err
	}
	s.text = text
	var p *Policy
	if p, s.err = Parse(s.path, text); s.err != nil {
		return false, s.err
	}
	s.current.Store(p)
	return true, nil
}

// readPolicy reads a file, and no more of it than Parse takes.
func readPolicy(path string) ([]byte, fs.FileInfo, error) {
	// A pipe would keep who opens it waiting.
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
	// What is written from here on shows when the file is looked at the next time.
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, longestFile+1))
	return text, info, err
}

// tick is how coarse a file system's clock may be.
const tick = 2 * time.Second

// Changed reports whether the file may have changed since it was read: by its time, its size and which file it is, without
// reading it. Where it was written shortly before it was read, it may have been written again within one tick of the
// file system's clock, and counts as changed.
func (s *Source) Changed() bool {
	info, err := os.Stat(s.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil || s.info == nil:
		return err == nil || s.info != nil
	case !os.SameFile(info, s.info), info.Size() != s.info.Size(), !info.ModTime().Equal(s.info.ModTime()):
		return true
	}
	return s.read.Sub(info.ModTime()) < tick
}
