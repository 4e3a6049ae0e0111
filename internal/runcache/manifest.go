// Package runcache remembers what a successful run read and wrote. The next run of the same command can then tell in a
// few milliseconds, without starting a process, that nothing changed. A manifest that is missing, damaged or of another
// version of the command only means that the run takes its usual time.
package runcache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/internal/load"
)

// format is part of every manifest's name. It must change with the format of manifests.
const format = "aql-tag manifest 1"

// age is how long a manifest is kept without being renewed.
const age = 30 * 24 * time.Hour

// settling is how long after its last change a file may change again without a new modification time.
const settling = 2 * time.Second

// Command is what is run.
type Command struct {
	Dir      string // absolute
	Patterns []string
	Tags     []string
	Cache    string // as in load.Options
}

// Output is a file that a run makes.
type Output struct {
	Name    string // absolute
	Content []byte // nil: the file must not exist
}

// record is what a manifest holds.
type record struct {
	Saved   time.Time
	Inputs  load.Inputs // with the outputs among them, as they were written
	Outputs []string
	Note    json.RawMessage
}

// Save remembers a run: what it read, its outputs, and a note. It comes after the outputs are written. A nil inputs
// remembers nothing. The error means that the next run takes as long.
func Save(command Command, inputs *load.Inputs, outputs []Output, note any) error {
	name := command.file()
	if inputs == nil || name == "" {
		return nil
	}
	text, err := json.Marshal(note)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	r := record{Inputs: load.Inputs{Files: slices.Clone(inputs.Files), Dirs: slices.Clone(inputs.Dirs)}, Note: text}
	for _, output := range outputs {
		if err := r.add(output); err != nil {
			return err
		}
	}
	r.Saved = time.Now()
	sweep(filepath.Dir(name))
	return r.write(name)
}

// add adds an output as it was written.
func (r *record) add(output Output) error {
	state := load.File{Name: output.Name}
	if output.Content != nil {
		info, err := os.Stat(output.Name)
		if err != nil {
			return fmt.Errorf("looking at an output: %w", err)
		}
		sum := sha256.Sum256(output.Content)
		state.Size, state.Modified, state.Hash = info.Size(), info.ModTime(), hex.EncodeToString(sum[:])
	}
	r.Outputs = append(r.Outputs, output.Name)
	r.Inputs.Files = slices.DeleteFunc(r.Inputs.Files, func(f load.File) bool { return f.Name == output.Name })
	r.Inputs.Files = append(r.Inputs.Files, state)
	dir, base := filepath.Dir(output.Name), filepath.Base(output.Name)
	for i := range r.Inputs.Dirs {
		if listing := &r.Inputs.Dirs[i]; listing.Name == dir {
			names := slices.DeleteFunc(slices.Clone(listing.Names), func(name string) bool { return name == base })
			if output.Content != nil {
				names = append(names, base)
				slices.Sort(names)
			}
			listing.Names = names
		}
	}
	return nil
}

// Unchanged reports whether the command would read and write the same as when it was last saved. It returns the names
// of the outputs of that run, and fills in its note. Unless hash is set, files with an unchanged size and modification
// time are not read.
func Unchanged(command Command, hash bool, note any) (outputs []string, ok bool) {
	name := command.file()
	if name == "" {
		return nil, false
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, false
	}
	sum, text, _ := strings.Cut(string(content), "\n")
	if actual := sha256.Sum256([]byte(text)); sum != hex.EncodeToString(actual[:]) {
		return nil, false
	}
	var r record
	if json.Unmarshal([]byte(text), &r) != nil {
		return nil, false
	}
	began, read := time.Now(), false
	for _, listing := range r.Inputs.Dirs {
		now, err := load.Look(listing.Name, listing.Deep)
		if err != nil || !slices.Equal(now.Names, listing.Names) {
			return nil, false
		}
	}
	for i, file := range r.Inputs.Files {
		if !hash && r.trusts(file) {
			continue
		}
		now, err := load.ReadFile(file.Name)
		if err != nil || now.Hash != file.Hash {
			return nil, false
		}
		r.Inputs.Files[i], read = now, read || file.Hash != ""
	}
	if json.Unmarshal(r.Note, note) != nil {
		return nil, false
	}
	if read && !hash { // most of them need not be read again
		r.Saved = began
		_ = r.write(name) // if this fails, they are read again
	}
	return r.Outputs, true
}

// trusts reports whether a file is unchanged by its size and modification time.
func (r *record) trusts(file load.File) bool {
	if file.Hash == "" || !file.Modified.Before(r.Saved.Add(-settling)) {
		return false
	}
	info, err := os.Stat(file.Name)
	return err == nil && info.Size() == file.Size && info.ModTime().Equal(file.Modified)
}

func (r *record) write(name string) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	sum := sha256.Sum256(content)
	return load.WriteCache(name, append([]byte(hex.EncodeToString(sum[:])+"\n"), content...))
}

// file is the path of the manifest of a command. Its name is a hash of everything that matters besides the inputs.
func (c Command) file() string {
	root := load.CacheDir(c.Cache)
	if root == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q %q %q\n", format, c.Dir, c.Patterns, c.Tags)
	if !describeTool(h) || !describeEnvironment(h, c.Dir) {
		return ""
	}
	return filepath.Join(root, "manifest", hex.EncodeToString(h.Sum(nil)[:16]))
}

// sweep removes old manifests.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > age {
			os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
