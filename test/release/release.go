// Package release serves the modules of this repository as a module proxy would after a release, so that tests and
// scripts meet them as users do: by version, without go.work and without replace directives.
package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const root = "github.com/aqltag/aqltag"

// folders are those of the modules that a release tags, relative to the repository.
var folders = []string{
	".", "aqlvet/golangci", "runtime", "runtime/aqltest", "runtime/store/postgres", "runtime/store/redis", "runtime/store/sqlite",
}

// Serve writes the released modules into dir in the layout of a module proxy, each as it is in the working tree of the
// repository, files that git does not track included and ignored ones left out. All have the given version and require
// each other in it. Serve returns the environment variables that lead the go command to them first, then to the module
// cache, then to where it looked before.
func Serve(ctx context.Context, dir, repository, version string) ([]string, error) {
	for _, folder := range folders {
		if err := write(ctx, dir, repository, folder, version); err != nil {
			return nil, fmt.Errorf("serving module %s: %w", folder, err)
		}
	}
	settings, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, fmt.Errorf("asking for the module cache: %w", err)
	}
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	sources := "file://" + filepath.ToSlash(dir) + ",file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download"))
	if proxy != "" {
		sources += "," + proxy
	}
	return []string{"GOPROXY=" + sources, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw"}, nil
}

// Forget removes a version of the released modules from the module cache of the go command.
func Forget(ctx context.Context, version string) error {
	output, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("asking for the module cache: %w", err)
	}
	cache := strings.TrimSpace(string(output))
	var failures []error
	for _, folder := range folders {
		name := filepath.FromSlash(path.Join(root, folder))
		failures = append(failures, os.RemoveAll(filepath.Join(cache, name+"@"+version)))
		files, err := filepath.Glob(filepath.Join(cache, "cache", "download", name, "@v", version+".*"))
		failures = append(failures, err)
		for _, file := range files {
			failures = append(failures, os.Remove(file))
		}
	}
	return errors.Join(failures...)
}

// write writes one module: its list of versions, and its info, go.mod and archive.
func write(ctx context.Context, dir, repository, folder, version string) error {
	mod, err := released(filepath.Join(repository, folder, "go.mod"), version)
	if err != nil {
		return err
	}
	files, err := files(ctx, repository, folder, mod)
	if err != nil {
		return err
	}
	name := path.Join(root, folder)
	var archive bytes.Buffer
	if err := zip.Create(&archive, module.Version{Path: name, Version: version}, files); err != nil {
		return err
	}
	versions := filepath.Join(dir, filepath.FromSlash(name), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339))
	for file, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": []byte(info), version + ".mod": mod, version + ".zip": archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(versions, file), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// released returns a go.mod file as a release has it: without replace directives, and with the released version of the
// other modules.
func released(file, version string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(file, content, nil)
	if err != nil {
		return nil, err
	}
	for _, replace := range mod.Replace {
		if err := mod.DropReplace(replace.Old.Path, replace.Old.Version); err != nil {
			return nil, err
		}
	}
	for _, required := range mod.Require {
		if required.Mod.Path == root || strings.HasPrefix(required.Mod.Path, root+"/") {
			if err := mod.AddRequire(required.Mod.Path, version); err != nil {
				return nil, err
			}
		}
	}
	mod.Cleanup()
	return mod.Format()
}

// files lists what a module's archive holds.
func files(ctx context.Context, repository, folder string, mod []byte) ([]zip.File, error) {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = filepath.Join(repository, folder)
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing files: %w", err)
	}
	var nested []string // folders of other modules
	names := strings.Split(strings.TrimSuffix(string(output), "\x00"), "\x00")
	for _, name := range names {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			nested = append(nested, path.Dir(name)+"/")
		}
	}
	var found []zip.File
next:
	for _, name := range names {
		for _, other := range nested {
			if strings.HasPrefix(name, other) {
				continue next
			}
		}
		full := filepath.Join(repository, folder, filepath.FromSlash(name))
		info, err := os.Lstat(full)
		if errors.Is(err, fs.ErrNotExist) { // removed, and git does not know it yet
			continue
		} else if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		entry := file{name: name, full: full, info: info}
		if name == "go.mod" {
			entry.content = mod
		}
		found = append(found, entry)
	}
	return found, nil
}

// file is one file of an archive. Content, if there is any, takes the place of what the disk has.
type file struct {
	name, full string
	info       fs.FileInfo
	content    []byte
}

func (f file) Path() string { return f.name }

func (f file) Lstat() (fs.FileInfo, error) {
	if f.content != nil {
		return resized{f.info, int64(len(f.content))}, nil
	}
	return f.info, nil
}

// resized is what is known of a file whose content has another length.
type resized struct {
	fs.FileInfo
	size int64
}

func (r resized) Size() int64 { return r.size }

func (f file) Open() (io.ReadCloser, error) {
	if f.content != nil {
		return io.NopCloser(bytes.NewReader(f.content)), nil
	}
	return os.Open(f.full)
}
