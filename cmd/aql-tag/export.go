package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/aqltag/aqltag/internal/atomicfile"
	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/internal/export/adapterschema"
	"github.com/aqltag/aqltag/internal/export/introspection"
	"github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/internal/export/llms"
	"github.com/aqltag/aqltag/internal/export/markdown"
	"github.com/aqltag/aqltag/internal/export/openapi"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/manifest"
	"github.com/aqltag/aqltag/runtime/gen"
)

// exportFormat is a format in which definitions are written.
type exportFormat struct {
	name, short string
	// patterns are the files of a format of several files, in its directory; none: the format is one file.
	patterns []string
	render   func(a *gen.Adapter, s describe.Surface) (files []export.File, warnings []string, err error)
}

func exportFormats() []exportFormat {
	return []exportFormat{
		{"introspection", "every answer of introspect, a file each", []string{"operations.json", "types.json", "operations/*.json", "types/*.json"}, introspectionFiles},
		{"snapshot", "all of that as one document, for check -against", nil, oneFile(snapshotFile)},
		{"jsonschema", "JSON Schema 2020-12 of parameters and results, a file each", []string{"params/*.schema.json", "results/*.schema.json"}, schemaFiles},
		{"openapi", "OpenAPI 3.1, one path for each operation", nil, oneFile(openapi.Render)},
		{"markdown", "a reference page for people", nil, oneFile(markdown.Render)},
		{"llms", "llms.txt, a short text for agents", nil, oneFile(llms.Render)},
		{"manifest", "the declaration of capabilities that get_manifest answers with", nil, manifestFile},
		{"adapter-schema", "an adapter definition; warnings tell what it leaves out", nil, definitionFile},
	}
}

func oneFile(render func(a *gen.Adapter, s describe.Surface) ([]byte, error)) func(*gen.Adapter, describe.Surface) ([]export.File, []string, error) {
	return func(a *gen.Adapter, s describe.Surface) ([]export.File, []string, error) {
		content, err := render(a, s)
		return []export.File{{Content: content}}, nil, err
	}
}

func introspectionFiles(a *gen.Adapter, s describe.Surface) ([]export.File, []string, error) {
	files, err := introspection.Files(a, s, export.StandardProtocol(a))
	return files, nil, err
}

func snapshotFile(a *gen.Adapter, s describe.Surface) ([]byte, error) {
	return introspection.Snapshot(a, s, export.StandardProtocol(a))
}

func schemaFiles(a *gen.Adapter, _ describe.Surface) ([]export.File, []string, error) {
	files, err := jsonschema.Files(a)
	return files, nil, err
}

func manifestFile(a *gen.Adapter, _ describe.Surface) ([]export.File, []string, error) {
	content, err := manifest.Render(a)
	return []export.File{{Content: append(content, '\n')}}, nil, err
}

func definitionFile(a *gen.Adapter, _ describe.Surface) ([]export.File, []string, error) {
	content, left, err := adapterschema.Render(a, adapterschema.Options{})
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
	check                 bool
}

func printExportUsage(w io.Writer) {
	fmt.Fprint(w, `Usage:

  aql-tag export -format F [flags] [packages]

It writes what the operations of the packages, which are taken for one adapter,
look like from outside, as an adapter with standard options shows them.

Formats:

`)
	for _, f := range exportFormats() {
		fmt.Fprintf(w, "  %-14s %s\n", f.name, f.short)
	}
	fmt.Fprint(w, `
Flags:

  -o path        file to write, or directory where a format has several files;
                 without it one file goes to standard output
  -check         write nothing; show a diff and exit 6 if path is out of date
  -name name     of the adapter; default: that of the first package
  -version text  of the adapter
  -mode mode     of the tools: semantic (default), single, all
  -profile name  of the endpoints: crude (default), crude_authorize, semantic
  -prefix text   of tool names, such as github_
  -tags list     build tags, comma-separated
  -v, -q         say what is done; print errors only

In a directory, files of the format that are out of date are removed, and others
left alone. The same definitions are always the same bytes.
`)
}

// runExport writes definitions in another format, or checks that they are written.
func runExport(ctx context.Context, env *environment, args []string) int {
	if slices.ContainsFunc(args, func(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }) {
		printExportUsage(env.stdout)
		return exitOK
	}
	var f exportFlags
	var code int
	f.flags, code = parseFlags(env, "export", args, func(set *flag.FlagSet) {
		set.StringVar(&f.format, "format", "", "")
		set.StringVar(&f.output, "o", "", "")
		set.StringVar(&f.mode, "mode", "", "")
		set.StringVar(&f.profile, "profile", "", "")
		set.StringVar(&f.prefix, "prefix", "", "")
		set.StringVar(&f.name, "name", "", "")
		set.StringVar(&f.version, "version", "", "")
		set.BoolVar(&f.check, "check", false, "")
	})
	if code >= 0 {
		return code
	}
	format, surface, err := f.plan()
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag export: %v\nRun 'aql-tag export -h' for usage.\n", err)
		return exitUsage
	}
	adapter, code := f.adapter(ctx, env)
	if code >= 0 {
		return code
	}
	if adapter.Version = f.version; f.name != "" {
		adapter.Name = f.name
	}
	files, warnings, err := format.render(adapter, surface)
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: exporting %s: %v\n", f.format, err)
		return exitEmit
	}
	if !f.quiet {
		for _, w := range warnings {
			fmt.Fprintf(env.stderr, "warning: %s\n", w)
		}
	}
	if f.output == "" {
		if _, err := env.stdout.Write(files[0].Content); err != nil {
			fmt.Fprintf(env.stderr, "aql-tag: printing the export: %v\n", err)
			return exitIO
		}
		return exitOK
	}
	outputs, err := f.outputs(env, format, files)
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return exitIO
	}
	if f.check {
		return f.compare(env, outputs)
	}
	return f.write(env, outputs)
}

// plan finds out what the flags ask for.
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
		return exportFormat{}, surface, fmt.Errorf("-format %s has several files and needs -o, which names their directory", f.format)
	}
	if surface.Mode, err = describe.ParseMode(f.mode); err != nil {
		return exportFormat{}, surface, fmt.Errorf("-mode: %w", err)
	}
	if surface.Profile, err = describe.FindProfile(f.profile, nil); err != nil {
		return exportFormat{}, surface, fmt.Errorf("-profile: %w", err)
	}
	return formats[at], surface, surface.Validate()
}

// outputs sets the files of an export beside what is on disk, with files of the format that are to go.
func (f *exportFlags) outputs(env *environment, format exportFormat, files []export.File) ([]output, error) {
	root := env.path(f.output)
	if format.patterns == nil {
		disk, err := onDisk(root)
		return []output{{root, files[0].Content, disk}}, err
	}
	outputs := make([]output, len(files))
	expected := make(map[string]bool)
	for i, file := range files {
		name := filepath.Join(root, filepath.FromSlash(file.Name))
		disk, err := onDisk(name)
		if err != nil {
			return nil, err
		}
		outputs[i] = output{name, file.Content, disk}
		expected[file.Name] = true
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
			disk, err := onDisk(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			outputs = append(outputs, output{filepath.Join(root, filepath.FromSlash(name)), nil, disk})
		}
	}
	return outputs, nil
}

// onDisk is the content of a file; nil if there is none.
func onDisk(name string) ([]byte, error) {
	disk, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the export: %w", err)
	}
	if disk == nil {
		disk = []byte{}
	}
	return disk, nil
}

// compare shows what is out of date.
func (f *exportFlags) compare(env *environment, outputs []output) int {
	code := exitOK
	for _, o := range outputs {
		name := shown(env.dir, o.path)
		if !o.stale() {
			if f.verbose {
				fmt.Fprintf(env.stderr, "%s is up to date\n", name)
			}
			continue
		}
		code = exitStale
		fmt.Fprint(env.stdout, udiff.Unified("a/"+filepath.ToSlash(name), "b/"+filepath.ToSlash(name), string(o.disk), string(o.content)))
		if !f.quiet {
			fmt.Fprintf(env.stderr, "aql-tag: %s is %s; run the same command without -check\n", name, o.state())
		}
	}
	return code
}

// state says what is wrong with an output that is stale.
func (o output) state() string {
	switch {
	case o.disk == nil:
		return "missing"
	case o.content == nil:
		return "left over"
	default:
		return "stale"
	}
}

// write writes what is out of date, each file as a whole or not at all.
func (f *exportFlags) write(env *environment, outputs []output) int {
	for _, o := range outputs {
		name := shown(env.dir, o.path)
		verb := "wrote"
		var err error
		switch {
		case !o.stale():
			if f.verbose {
				fmt.Fprintf(env.stderr, "%s is up to date\n", name)
			}
			continue
		case o.content == nil:
			verb, err = "removed", os.Remove(o.path)
		default:
			if err = os.MkdirAll(filepath.Dir(o.path), 0o755); err == nil {
				err = atomicfile.Write(o.path, o.content, 0o644)
			}
		}
		if err != nil {
			fmt.Fprintf(env.stderr, "aql-tag: writing the export: %v\n", err)
			return exitIO
		}
		if !f.quiet {
			fmt.Fprintf(env.stdout, "%s %s\n", verb, name)
		}
	}
	return exitOK
}
