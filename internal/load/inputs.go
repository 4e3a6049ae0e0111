package load

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Inputs is what a load depends on, besides the environment and the modules that go.mod and go.sum name.
type Inputs struct {
	Files []File    // every file that was read, sorted by name
	Dirs  []Listing // every directory that was listed, sorted by name
}

// File is the state of a file.
type File struct {
	Name     string // absolute
	Size     int64
	Modified time.Time
	Hash     string // SHA-256 of the content, in hex; empty: the file does not exist
}

// Listing is the state of a directory.
type Listing struct {
	Name  string   // absolute
	Deep  bool     // the names of its subdirectories matter too, because they may hold packages
	Names []string // the names that matter, sorted; those of directories end in "/", those of links and the like in "@"
}

// newInputs returns what was read before any package was.
func newInputs(m *modules, walks []walk) *Inputs {
	in := &Inputs{Files: slices.Clone(m.files)}
	for _, w := range walks {
		in.Dirs = append(in.Dirs, w.listings...)
	}
	return in
}

// add adds the directories of packages, and those above them that m read.
func (in *Inputs) add(dirs map[string]*directory, m *modules) {
	for _, d := range dirs {
		for _, f := range d.files {
			in.Files = append(in.Files, f.input)
		}
		in.Dirs = append(in.Dirs, d.listing)
	}
	for _, listing := range m.listings {
		in.Dirs = append(in.Dirs, listing)
	}
	slices.SortFunc(in.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	in.Files = slices.CompactFunc(in.Files, func(a, b File) bool { return a == b })
	slices.SortFunc(in.Dirs, func(a, b Listing) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(depth(a), depth(b)), slices.Compare(a.Names, b.Names))
	})
	in.Dirs = slices.CompactFunc(in.Dirs, func(a, b Listing) bool {
		return a.Name == b.Name && a.Deep == b.Deep && slices.Equal(a.Names, b.Names)
	})
}

func depth(l Listing) int {
	if l.Deep {
		return 1
	}
	return 0
}

func (f *File) digest(content []byte) {
	sum := sha256.Sum256(content)
	f.Hash = hex.EncodeToString(sum[:])
}

// ReadFile returns the state of a file, which need not exist.
func ReadFile(name string) (File, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return File{Name: name}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("looking at an input: %w", err)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return File{}, fmt.Errorf("reading an input: %w", err)
	}
	file := File{Name: name, Size: info.Size(), Modified: info.ModTime()}
	file.digest(content)
	return file, nil
}

// Look returns the state of a directory.
func Look(dir string, deep bool) (Listing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Listing{}, fmt.Errorf("looking at a directory: %w", err)
	}
	return listing(dir, deep, entries), nil
}

func listing(dir string, deep bool, entries []os.DirEntry) Listing {
	state := Listing{Name: dir, Deep: deep}
	for _, entry := range entries {
		name, kind := entry.Name(), entry.Type()
		switch {
		case filepath.Ext(name) == ".go", name == "go.mod", name == "vendor", strings.HasPrefix(filepath.Ext(name), ".swig"),
			deep && !kind.IsRegular() && !hidden(name):
			switch {
			case kind.IsDir():
				name += "/"
			case !kind.IsRegular():
				name += "@"
			}
			state.Names = append(state.Names, name)
		}
	}
	slices.Sort(state.Names)
	return state
}
