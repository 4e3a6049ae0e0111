package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/internal/export/introspection"
	"github.com/aqltag/aqltag/internal/plainfile"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// against is a check of packages against a snapshot of an old version of their adapter.
type against struct {
	flags
	file   string // the snapshot, as it was named
	old    *compat.Snapshot
	places map[string]model.Position // by "operation", "operation.parameter", "Type" and "Type.field"
}

// placedChange is a change with the place of what changed, if the new version has it.
type placedChange struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	compat.Change
}

// runAgainst checks the generated files, and compares what agents see with an old version.
func runAgainst(ctx context.Context, env *environment, f flags, file string) int {
	a := against{flags: f, file: file}
	document, err := readSnapshot(ctx, env.path(file))
	if err != nil {
		return failIn(env, "check", exitIO, fmt.Errorf("reading the old version: %w", err))
	}
	if a.old, err = compat.Parse(document); err != nil {
		return failIn(env, "check", exitUsage, fmt.Errorf("%s: %w", file, err))
	}
	run, code := f.scan(ctx, env, true)
	if code >= 0 {
		return code
	}
	switch {
	case f.json && run.HasErrors():
		if err := a.print(env, run.Diagnostics, []string{}, nil); err != nil {
			return fail(env, exitIO, err)
		}
		return exitSource
	case !f.json:
		if code := f.reportRun(env, run); code >= 0 {
			return code
		}
	}
	if code := f.emit(env, run); code >= 0 {
		return code
	}
	adapter, code := f.adapterOf(env, run)
	if code >= 0 {
		return code
	}
	changes, code := a.compare(env, adapter)
	if code >= 0 {
		return code
	}
	stale := f.reportStale(env, run)
	a.locate(run.Packages)
	if err := a.print(env, run.Diagnostics, stale, changes); err != nil {
		return fail(env, exitIO, err)
	}
	if len(stale) > 0 || compat.Count(changes, compat.Breaking) > 0 {
		return exitStale
	}
	f.remember(env, run)
	return reportGuesses(env, run)
}

// readSnapshot reads a file, or the files in a directory, that export wrote.
func readSnapshot(ctx context.Context, path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return introspection.Read(os.DirFS(path))
	}
	return plainfile.Read(ctx, path, longestSnapshot)
}

// longestSnapshot bounds a snapshot, in bytes: one of 10,000 operations has 40 MB.
const longestSnapshot = 1 << 30

// compare lists what changes for agents if the new version is run as the old one was.
func (a *against) compare(env *environment, adapter *gen.Definitions) ([]compat.Change, int) {
	surface, protocol, known := a.old.Deployment(adapter, describe.Surface{}, export.StandardProtocol(adapter))
	document, err := introspection.Snapshot(adapter, surface, protocol)
	if err != nil {
		return nil, failIn(env, "check", exitSource, err)
	}
	current, err := compat.Parse(document)
	if err != nil {
		return nil, fail(env, exitInternal, fmt.Errorf("reading the new version: %w", err))
	}
	all := compat.Compare(a.old, current)
	if known {
		return all, -1
	}
	if !a.quiet {
		fmt.Fprintf(env.stderr, "aql-tag check: the endpoint profile of %s is not one that aql-tag knows; "+
			"whether operations moved to other families is not checked\n", a.file)
	}
	var changes []compat.Change
	for _, c := range all {
		if c.Kind != "family-changed" && c.Kind != "tool-changed" {
			changes = append(changes, c)
		}
	}
	return changes, -1
}

// locate sets where handlers, parameters, types and fields are declared.
func (a *against) locate(packages []model.Package) {
	a.places = make(map[string]model.Position)
	for i := range packages {
		maps.Copy(a.places, packages[i].Places)
		for _, h := range packages[i].Handlers {
			a.places[h.Operation.Name] = h.Position
		}
	}
}

// place returns where the new version declares what changed: the parameter or field, else the type, else the handler of
// the operation or of the first one that uses the type.
func (a *against) place(c compat.Change) (model.Position, bool) {
	name := strings.TrimPrefix(c.Path, "params.")
	if i := strings.IndexAny(name, "[{"); i >= 0 {
		name = name[:i]
	}
	for _, what := range append([]string{c.Operation + c.Type + "." + name, c.Type, c.Operation}, c.Operations...) {
		if position, known := a.places[what]; known {
			return position, true
		}
	}
	return model.Position{}, false
}

// print prints what changed: always what breaks agents, everything else with -v, and all of it with -json.
func (a *against) print(
	env *environment, diagnostics []diag.Diagnostic, stale []string, changes []compat.Change,
) error {
	placed := make([]placedChange, 0, len(changes))
	for _, c := range changes {
		p := placedChange{Change: c}
		if position, known := a.place(c); known {
			p.File, p.Line, p.Column = filepath.ToSlash(shown(env.dir, position.File)), position.Line, position.Column
		}
		placed = append(placed, p)
	}
	if a.json {
		return writeJSON(env, struct {
			Diagnostics []diag.Diagnostic `json:"diagnostics"`
			Stale       []string          `json:"stale"`
			Changes     []placedChange    `json:"changes"`
		}{append([]diag.Diagnostic{}, diagnostics...), stale, placed})
	}
	for _, c := range placed {
		if c.Class != compat.Breaking && !a.verbose {
			continue
		}
		where := a.file
		if c.File != "" {
			where = fmt.Sprintf("%s:%d:%d", filepath.FromSlash(c.File), c.Line, c.Column)
		}
		fmt.Fprintf(env.stdout, "%s: %s: %s [%s]\n", where, c.Class, c.Message, c.Kind)
	}
	if a.verbose {
		fmt.Fprintf(env.stderr, "since %s: %d breaking, %d notable and %d compatible changes\n", a.file,
			compat.Count(changes, compat.Breaking), compat.Count(changes, compat.Notable),
			compat.Count(changes, compat.Compatible))
	}
	return nil
}
