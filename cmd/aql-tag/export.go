package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/internal/export/adapterschema"
	"github.com/aqltag/aqltag/internal/export/introspection"
	"github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/internal/export/llms"
	"github.com/aqltag/aqltag/internal/export/markdown"
	"github.com/aqltag/aqltag/internal/export/openapi"
	"github.com/aqltag/aqltag/internal/outfile"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/manifest"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// exportFormat is a format in which definitions are written.
type exportFormat struct {
	name, short string
	// mark is at the beginning of every file of the format that an export wrote: another one is not replaced.
	mark *regexp.Regexp
	// patterns are the files of a format of several files, in its directory; none: the format is one file.
	patterns []string
	render   func(a *gen.Definitions, s describe.Surface) (files []export.File, warnings []string, err error)
}

// Parts of marks.
const (
	newLines = `\n(?:\r?\n)*`
	jsonText = `"(?:[^"\\]|\\.)*` // without its end
)

func exportFormats() []exportFormat {
	return []exportFormat{
		{
			"introspection", "every answer of introspect, a file each",
			regexp.MustCompile(`^\{\s*"success": true,\s*"data": \{`),
			[]string{"operations.json", "types.json", "operations/*.json", "types/*.json"}, introspectionFiles,
		},
		{"snapshot", "all of that as one document, for check -against",
			regexp.MustCompile(`^\{\s*"_protocol": \{`), nil, oneFile(snapshotFile)},
		{
			"jsonschema", "JSON Schema 2020-12 of parameters and results, a file each",
			regexp.MustCompile(`^\{\s*"\$schema": "https://json-schema\.org/draft/2020-12/schema",\s*"title": `),
			[]string{"params/*.schema.json", "results/*.schema.json"}, schemaFiles,
		},
		{
			"openapi", "OpenAPI 3.1, one path for each operation",
			regexp.MustCompile(`^\{\s*"openapi": "3\.1\.[0-9]+",\s*"info": \{\s*(?:"(?:title|version)": ` + jsonText +
				`",\s*)*"description": ` + jsonText + `The operations of an MCP-AQL adapter, each as the `),
			nil, oneFile(openapi.Render),
		},
		{
			"markdown", "a reference page for people",
			regexp.MustCompile("^# .* adapter.*" + newLines + "(?:[^#>`~\\s].*" + newLines + ")*?" +
				"[0-9]+ operations?, reached through .* of an MCP server\\. .*" + newLines +
				"(?:```json\r?\n(?:.*\n)*?```\r?" + newLines + ")?" +
				"The answer is `\\{\"success\": true, "),
			nil, oneFile(markdown.Render),
		},
		{
			"llms", "llms.txt, a short text for agents",
			regexp.MustCompile(`^# .*` + newLines + `> .*operations? and introspection, through .* of an MCP server that ` +
				`speaks MCP-AQL .*` + newLines + `## How to use it`),
			nil, oneFile(llms.Render),
		},
		{"manifest", "the declaration of capabilities that get_manifest answers with",
			regexp.MustCompile(`^\{"service":\{"name":`), nil, manifestFile},
		{"adapter-schema", "an adapter definition; warnings tell what it leaves out",
			regexp.MustCompile(`^\{\s*"name": ".*",\s*"type": "adapter",`), nil, definitionFile},
	}
}

func oneFile(
	render func(a *gen.Definitions, s describe.Surface) ([]byte, error),
) func(*gen.Definitions, describe.Surface) ([]export.File, []string, error) {
	return func(a *gen.Definitions, s describe.Surface) ([]export.File, []string, error) {
		content, err := render(a, s)
		return []export.File{{Content: content}}, nil, err
	}
}

func introspectionFiles(a *gen.Definitions, s describe.Surface) ([]export.File, []string, error) {
	files, err := introspection.Files(a, s, export.StandardProtocol(a))
	return files, nil, err
}

func snapshotFile(a *gen.Definitions, s describe.Surface) ([]byte, error) {
	return introspection.Snapshot(a, s, export.StandardProtocol(a))
}

func schemaFiles(a *gen.Definitions, _ describe.Surface) ([]export.File, []string, error) {
	files, err := jsonschema.Files(a)
	return files, nil, err
}

func manifestFile(a *gen.Definitions, _ describe.Surface) ([]export.File, []string, error) {
	content, err := manifest.Render(a)
	return []export.File{{Content: append(content, '\n')}}, nil, err
}

func definitionFile(a *gen.Definitions, _ describe.Surface) ([]export.File, []string, error) {
	content, left, err := adapterschema.Render(a)
	var warnings []string
	for _, w := range left {
		warnings = append(warnings, w.String())
	}
	return []export.File{{Content: content}}, warnings, err
}

// exportFlags are the flags of export.
type exportFlags struct {
	flags
	format                string
	output                string
	mode, profile, prefix string
	name, version         string
	check, replace        bool
	loop                  bool
}

// exportHelp is the help of export, with the list of its formats.
func exportHelp() string {
	var b strings.Builder
	b.WriteString(`
Usage: aql-tag export -format F [flags] [packages]

export writes what the operations of the packages, which are taken for one adapter, look like from outside, as an
adapter with standard options shows them. The same definitions are always the same bytes.

Formats:

`)
	for _, f := range exportFormats() {
		fmt.Fprintf(&b, "  %-14s %s\n", f.name, f.short)
	}
	b.WriteString(`
Flags:

In a directory, files of the format that are out of date are removed, and others left alone. A file that is no earlier
export of the format is neither replaced nor removed.
`)
	return b.String()
}

// runExport writes definitions in another format, or checks that they are written.
func runExport(ctx context.Context, env *environment, args []string) int {
	var f exportFlags
	set := newFlagSet(env, "export", exportHelp())
	f.declare(set, jsonDiagnostics, verboseFiles)
	set.StringVar(&f.format, "format", "", "the format to write: one of the `names` above")
	set.StringVar(&f.output, "o", "",
		"the `path` to write: a file, or the directory of a format of several files (default standard output)")
	set.StringVar(&f.mode, "mode", "", "the `mode` of the tools: semantic, single or all (default semantic)")
	set.StringVar(&f.profile, "profile", "",
		"the `name` of the endpoint profile: crude, crude_authorize or semantic (default crude)")
	set.StringVar(&f.prefix, "prefix", "", "a `prefix` for tool names, such as github_")
	set.StringVar(&f.name, "name", "", "the `name` of the adapter (default that of the first package)")
	set.StringVar(&f.version, "version", "", "the version of the adapter: any `text`")
	set.Func("with", "add what the adapter has by its `options`: loop, the execution safety loop",
		func(options string) error {
			if options != "loop" {
				return fmt.Errorf("it is loop, and not %q", options)
			}
			f.loop = true
			return nil
		})
	set.BoolVar(&f.check, "check", false, "write nothing; show a diff and exit 6 if what is at -o is out of date")
	set.BoolVar(&f.replace, "replace", false, "replace a file at -o that is no earlier export of the format")
	if code := f.parse(set, args); code >= 0 {
		return code
	}
	format, surface, err := f.plan()
	if err != nil {
		return set.refuse(err)
	}
	adapter, code := f.adapter(ctx, env)
	if code >= 0 {
		return code
	}
	if adapter.Version = f.version; f.name != "" {
		adapter.Name = f.name
	}
	if f.loop {
		gen.AddLoop(adapter)
	}
	files, warnings, err := format.render(adapter, surface)
	if err != nil {
		return fail(env, exitEmit, fmt.Errorf("exporting %s: %w", f.format, err))
	}
	for i := range files {
		files[i].Content = []byte(words.Visible(string(files[i].Content)))
	}
	if !f.quiet {
		for _, w := range warnings {
			fmt.Fprintf(env.stderr, "warning: %s\n", w)
		}
	}
	if f.output == "" {
		if _, err := env.stdout.Write(files[0].Content); err != nil {
			return fail(env, exitIO, fmt.Errorf("printing the export: %w", err))
		}
		return exitOK
	}
	outputs, err := f.outputs(env, format, files)
	if err != nil {
		return fail(env, exitIO, err)
	}
	if f.check {
		return f.compare(env, outputs)
	}
	return f.write(env, outputs)
}

// plan returns the format and the surface that the flags select.
func (f *exportFlags) plan() (exportFormat, describe.Surface, error) {
	formats := exportFormats()
	at := slices.IndexFunc(formats, func(format exportFormat) bool { return format.name == f.format })
	var names []string
	for _, format := range formats {
		names = append(names, format.name)
	}
	surface := describe.Surface{Prefix: f.prefix}
	var err error
	switch list := strings.Join(names, ", "); {
	case f.format == "":
		return exportFormat{}, surface, errors.New("-format is missing; it is one of " + list)
	case at < 0:
		return exportFormat{}, surface, fmt.Errorf("-format %q is none of %s", f.format, list)
	case f.output == "" && f.check:
		return exportFormat{}, surface, errors.New("-check needs -o, which names what to check")
	case f.output == "" && formats[at].patterns != nil:
		return exportFormat{}, surface, fmt.Errorf("-format %s has several files and needs -o, which names their directory",
			f.format)
	}
	if surface.Mode, err = describe.ParseMode(f.mode); err != nil {
		return exportFormat{}, surface, fmt.Errorf("-mode: %w", err)
	}
	if surface.Mode == describe.Discrete {
		return exportFormat{}, surface, errors.New("-mode discrete has no exports: they describe requests with an " +
			"operation and its params; the tools of an adapter in that mode carry their schemas")
	}
	if surface.Profile, err = describe.FindProfile(f.profile, nil); err != nil {
		return exportFormat{}, surface, fmt.Errorf("-profile: %w", err)
	}
	return formats[at], surface, surface.Validate()
}

// outputs compares the files of an export with those on disk, and adds files of the format that have to go.
func (f *exportFlags) outputs(env *environment, format exportFormat, files []export.File) ([]outfile.File, error) {
	root := env.path(f.output)
	var outputs []outfile.File
	add := func(name string, content []byte) error {
		file, err := outfile.New(name, content)
		if err != nil {
			return fmt.Errorf("reading the export: %w", err)
		}
		switch foreign := len(bytes.TrimSpace(file.Disk)) > 0 && !format.mark.Match(file.Disk); {
		case foreign && content == nil:
			return nil // it is not ours to remove
		case foreign && !f.replace:
			return fmt.Errorf("%s is no earlier export of the format %s; -replace replaces it", shown(env.dir, name), f.format)
		}
		outputs = append(outputs, file)
		return nil
	}
	if format.patterns == nil {
		return outputs, add(root, files[0].Content)
	}
	expected := make(map[string]bool)
	for _, file := range files {
		expected[file.Name] = true
		if err := add(filepath.Join(root, filepath.FromSlash(file.Name)), file.Content); err != nil {
			return nil, err
		}
	}
	entries := os.DirFS(root)
	for _, pattern := range format.patterns {
		names, err := fs.Glob(entries, pattern)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", f.output, err)
		}
		for _, name := range names {
			if expected[path.Clean(name)] {
				continue
			}
			if err := add(filepath.Join(root, filepath.FromSlash(name)), nil); err != nil {
				return nil, err
			}
		}
	}
	return outputs, nil
}

// compare shows what is out of date.
func (f *exportFlags) compare(env *environment, outputs []outfile.File) int {
	code := exitOK
	for _, file := range outputs {
		name := shown(env.dir, file.Name)
		if !file.Stale() {
			if f.verbose {
				fmt.Fprintf(env.stderr, "%s is up to date\n", name)
			}
			continue
		}
		code = exitStale
		fmt.Fprint(env.stdout, file.Diff(filepath.ToSlash(name)))
		if f.quiet {
			continue
		}
		state := "stale"
		switch {
		case file.Disk == nil:
			state = "missing"
		case file.Content == nil:
			state = "left over"
		}
		fmt.Fprintf(env.stderr, "aql-tag: %s is %s; run the same command without -check\n", name, state)
	}
	return code
}

// write writes what is out of date, each file as a whole or not at all.
func (f *exportFlags) write(env *environment, outputs []outfile.File) int {
	for _, file := range outputs {
		name := shown(env.dir, file.Name)
		verb, err := file.Write()
		switch {
		case err != nil:
			return fail(env, exitIO, fmt.Errorf("writing the export: %w", err))
		case verb == "" && f.verbose:
			fmt.Fprintf(env.stderr, "%s is up to date\n", name)
		case verb != "" && !f.quiet:
			fmt.Fprintf(env.stdout, "%s %s\n", verb, name)
		}
	}
	return exitOK
}
