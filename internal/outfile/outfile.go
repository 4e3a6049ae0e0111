// Package outfile compares the files that a command makes with those on disk, and writes the difference.
package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"

	"github.com/aqltag/aqltag/internal/atomicfile"
	"github.com/aqltag/aqltag/internal/plainfile"
)

// File is a file that a command makes, and what is on disk in its place.
type File struct {
	Name    string // absolute
	Content []byte // nil: the file should not exist
	Disk    []byte // nil: it does not exist
}

// New returns the file of a name, with its content on disk. A nil content is a file that should not exist. What is no
// file, and no link to one, is an error.
func New(name string, content []byte) (File, error) {
	if err := plainfile.Readable(name); err != nil {
		return File{}, err
	}
	disk, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		disk = nil
	case err != nil:
		return File{}, err
	case disk == nil:
		disk = []byte{}
	}
	return File{Name: name, Content: content, Disk: disk}, nil
}

// Stale reports whether the file on disk is not what it should be.
func (f File) Stale() bool {
	return (f.Content == nil) != (f.Disk == nil) || !bytes.Equal(f.Content, f.Disk)
}

// Diff returns the unified diff from what is on disk to what should be there, under the given name.
func (f File) Diff(name string) string {
	return udiff.Unified("a/"+name, "b/"+name, string(f.Disk), string(f.Content))
}

// Write makes the file on disk what it should be, as a whole or not at all, with its folders. It returns the verb for
// what it did: "wrote", "removed", or nothing for a file that was not stale. It replaces nothing but files: a link, for
// example, is an error.
func (f File) Write() (verb string, err error) {
	if !f.Stale() {
		return "", nil
	}
	if err := plainfile.Replaceable(f.Name); err != nil {
		return "", err
	}
	if f.Content == nil {
		return "removed", os.Remove(f.Name)
	}
	if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
		return "", fmt.Errorf("writing %s: %w", f.Name, err)
	}
	return "wrote", atomicfile.Write(f.Name, f.Content, 0o644)
}
