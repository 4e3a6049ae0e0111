// Package proxy serves the working tree as a Go module proxy in a directory: every module that a release would tag,
// under one version. Tests use it to see the modules as their users do, without replace directives and workspaces.
package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
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

// prefix begins the paths of all modules of this repository.
const prefix = "github.com/aqltag/aqltag"

// series begins every version that a proxy serves.
const series = "v0.0.1-tree.x"

// Released lists the folders of the modules that a release tags, in the order of their tags: a module comes after those
// that it requires.
var Released = []string{
	"runtime", ".", "runtime/store/sqlite", "runtime/store/redis", "runtime/store/postgres",
	"runtime/console/oidc", "runtime/console/webauthn", "runtime/execution/river", "runtime/notify/desktop",
	"runtime/observe/otel", "runtime/sqlquery/pgxquery",
	"runtime/aqltest", "aqlvet/golangci", "cmd/aql-dongle",
}

func modulePath(folder string) string { return path.Join(prefix, folder) }

// Proxy is a module proxy in a directory.
type Proxy struct {
	Version string // of every module in it
	dir     string
	cache   string // GOMODCACHE
	next    string // GOPROXY
}

// New writes the released modules of the repository at root below dir. The version is made of their content, so that
// equal trees share what the go command caches.
func New(ctx context.Context, root, dir string) (*Proxy, error) {
	files, err := tracked(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", root, err)
	}
	settings, err := output(ctx, root, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, fmt.Errorf("finding the module cache: %w", err)
	}
	cache, next, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	digest := sha256.New()
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(digest, "%s %d\n%s", file, len(data), data)
	}
	p := &Proxy{Version: fmt.Sprintf("%s%x", series, digest.Sum(nil)[:6]), dir: dir, cache: cache, next: next}
	for _, folder := range Released {
		if err := p.add(root, folder, files); err != nil {
			return nil, fmt.Errorf("adding module %s to the proxy: %w", folder, err)
		}
	}
	return p, nil
}

// Env returns the environment in which the go command finds the modules: here first, then in the module cache, then
// where it looked before.
func (p *Proxy) Env() []string {
	cached := filepath.ToSlash(filepath.Join(p.cache, "cache", "download"))
	sources := "file://" + filepath.ToSlash(p.dir) + ",file://" + cached
	if p.next != "" {
		sources += "," + p.next
	}
	return []string{
		"GOPROXY=" + sources, "GOSUMDB=off", "GOPRIVATE=", "GONOPROXY=none", "GOWORK=off", "GOFLAGS=-modcacherw",
	}
}

// forget removes the versions of other trees from the module cache, once they are a day old. A younger one may be in
// use. Other tests may remove the same at the same time.
func (p *Proxy) forget(modulePath string) error {
	zips, err := filepath.Glob(filepath.Join(p.cache, "cache", "download", modulePath, "@v", series+"*.zip"))
	if err != nil {
		return err
	}
	for _, file := range zips {
		info, err := os.Stat(file)
		version := strings.TrimSuffix(filepath.Base(file), ".zip")
		if err != nil || version == p.Version || time.Since(info.ModTime()) < 24*time.Hour {
			continue
		}
		if err := os.RemoveAll(filepath.Join(p.cache, modulePath+"@"+version)); err != nil {
			return err
		}
		parts, err := filepath.Glob(strings.TrimSuffix(file, "zip") + "*")
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// add writes the files of one module: its list of versions, its go.mod and its content.
func (p *Proxy) add(root, folder string, files []string) error {
	version := module.Version{Path: modulePath(folder), Version: p.Version}
	if err := p.forget(version.Path); err != nil {
		return fmt.Errorf("removing former versions from the module cache: %w", err)
	}
	home := filepath.Join(p.dir, version.Path, "@v")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	mod, err := p.released(filepath.Join(root, folder, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]string{"Version": p.Version})
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := zip.Create(&content, version, contents(root, folder, files, mod)); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(p.Version + "\n"), p.Version + ".info": info, p.Version + ".mod": mod,
		p.Version + ".zip": content.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(home, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// released returns a go.mod as its release has it: our modules have the version of the proxy, and are not replaced.
func (p *Proxy) released(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(file, data, nil)
	if err != nil {
		return nil, err
	}
	for _, replaced := range mod.Replace {
		if err := mod.DropReplace(replaced.Old.Path, replaced.Old.Version); err != nil {
			return nil, err
		}
	}
	for _, required := range mod.Require {
		if required.Mod.Path == prefix || strings.HasPrefix(required.Mod.Path, prefix+"/") {
			if err := mod.AddRequire(required.Mod.Path, p.Version); err != nil {
				return nil, err
			}
		}
	}
	mod.Cleanup()
	return mod.Format()
}

// contents returns the files of the module in a folder. Files of modules below it are not part of it.
func contents(root, folder string, files []string, mod []byte) []zip.File {
	homes := make(map[string]bool) // the folders of all modules
	for _, file := range files {
		if path.Base(file) == "go.mod" {
			homes[path.Dir(file)] = true
		}
	}
	var found []zip.File
	for _, file := range files {
		home := path.Dir(file)
		for home != "." && !homes[home] {
			home = path.Dir(home)
		}
		if home != folder {
			continue
		}
		name := file
		if folder != "." {
			name = strings.TrimPrefix(file, folder+"/")
		}
		source := entry{name: name, file: filepath.Join(root, file)}
		if name == "go.mod" {
			source.data = mod
		}
		found = append(found, source)
	}
	return found
}

// entry is a file of a module: one on disk, or data.
type entry struct {
	name, file string
	data       []byte
}

func (e entry) Path() string { return e.name }

func (e entry) Lstat() (fs.FileInfo, error) {
	info, err := os.Lstat(e.file)
	if err == nil && e.data != nil {
		info = sized{info, int64(len(e.data))}
	}
	return info, err
}

// sized describes a file whose content is replaced.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

func (e entry) Open() (io.ReadCloser, error) {
	if e.data != nil {
		return io.NopCloser(bytes.NewReader(e.data)), nil
	}
	return os.Open(e.file)
}

// tracked lists the files of a work tree that git tracks or would track, in order.
func tracked(ctx context.Context, root string) ([]string, error) {
	out, err := output(ctx, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	var files []string
	for file := range strings.SplitSeq(string(out), "\x00") {
		if info, err := os.Stat(filepath.Join(root, file)); file != "" && err == nil && info.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	return files, nil
}

func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	var failed bytes.Buffer
	command.Stderr = &failed
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, &failed)
	}
	return out, nil
}
