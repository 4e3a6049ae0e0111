package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/internal/atomicfile"
	"github.com/aqltag/aqltag/internal/connect"
	"github.com/aqltag/aqltag/internal/plainfile"
)

// merge adds the server to the file of the client.
func (f *connectFlags) merge(env *environment, server connect.Server) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(env.stderr, "aql-tag connect: %s\n", conform.Printable(err.Error()))
		return code
	}
	file, err := f.target(env, server.Name)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("%w; without -w its configuration is printed", err))
	}
	mode := os.FileMode(0o600) // what is new may hold secrets
	if err := plainfile.Readable(file); err != nil {
		return fail(exitIO, err)
	}
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if info, err := os.Lstat(file); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fail(exitIO, fmt.Errorf("%s is a link to a file that does not exist; make that file, or remove the link",
				file))
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fail(exitIO, err)
		}
	case err != nil:
		return fail(exitIO, err)
	default:
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return fail(exitIO, err)
		}
		info, err := os.Stat(file)
		if err != nil {
			return fail(exitIO, err)
		}
		mode = info.Mode().Perm()
	}
	text, err := f.client.Merge(string(old), server, f.replace)
	switch {
	case errors.Is(err, connect.ErrUnchanged):
		fmt.Fprintf(env.stdout, "%s has the server %s already.\n", file, server.Name)
		return exitOK
	case errors.Is(err, connect.ErrOther):
		return fail(exitConfiguration, fmt.Errorf("%s: %w, %s; -name gives another name, -replace replaces it", file, err,
			server.Name))
	case err != nil:
		return fail(exitConfiguration, fmt.Errorf("%s is not changed: %w", file, err))
	}
	kept := ""
	if f.replaces(string(old), server) {
		if kept, err = keep(file, old, mode); err != nil {
			return fail(exitIO, fmt.Errorf("%s is not changed: keeping it as it was: %w", file, err))
		}
	}
	if err := atomicfile.Write(file, []byte(text), mode); err != nil {
		return fail(exitIO, err)
	}
	if kept != "" {
		fmt.Fprintf(env.stdout, "Dropped the other entry %s; %s is the file as it was.\n", server.Name, kept)
	}
	fmt.Fprintln(env.stdout, strings.TrimSpace("Added the server "+server.Name+" to "+file+". "+f.client.Note))
	return exitOK
}

// replaces reports whether a configuration has another entry of the name of a server.
func (f *connectFlags) replaces(old string, server connect.Server) bool {
	_, err := f.client.Merge(old, server, false)
	return errors.Is(err, connect.ErrOther)
}

// keep writes what a file has to a new file beside it, and returns its name.
func keep(file string, content []byte, mode os.FileMode) (name string, err error) {
	for i := 1; ; i++ {
		if name = file + ".bak"; i > 1 {
			name = fmt.Sprintf("%s.bak%d", file, i)
		}
		kept, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if errors.Is(err, os.ErrExist) && i < 100 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = kept.Write(content)
		return name, errors.Join(err, kept.Close())
	}
}
