package load

import (
	"context"
	"encoding/json"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// environment is the go command's configuration for a directory.
type environment struct {
	dir     string // absolute, without symbolic links
	goroot  string
	mod     string // the go.mod of the module that dir is in
	work    string // the go.work file; empty: no workspace
	context build.Context
	raw     []byte // every variable that decides what is loaded, for the cache key
}

// variables are those that decide which files belong to a package, and which version of a module is used.
var variables = []string{
	"GOVERSION", "GOROOT", "GOOS", "GOARCH", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64",
	"GORISCV64",
	"GOWASM", "GOFLAGS", "GOWORK", "GOMOD", "GOMODCACHE", "GOEXPERIMENT", "CGO_ENABLED", "GO111MODULE", "GOFIPS140",
}

// readEnvironment runs go env, which also takes `go env -w` and the toolchain in go.mod into account.
func readEnvironment(ctx context.Context, opts Options) (*environment, error) {
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the directory: %w", err)
	}
	if err := plainDirectory(dir); err != nil {
		return nil, err
	}
	if driver := lookup(opts, "GOPACKAGESDRIVER"); driver != "off" {
		if _, err := exec.LookPath("gopackagesdriver"); driver != "" || err == nil {
			return nil, unusual("a packages driver is in use")
		}
	}
	out, err := goCommand(ctx, opts, dir, append([]string{"env", "-json"}, variables...)...)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string)
	if err := json.Unmarshal(out, &values); err != nil {
		return nil, fmt.Errorf("reading what go env says: %w", err)
	}
	e := &environment{dir: dir, goroot: values["GOROOT"], mod: values["GOMOD"]}
	minor, err := minorVersion(values["GOVERSION"])
	if err != nil {
		return nil, err
	}
	if own, err := minorVersion(runtime.Version()); err != nil || own < minor {
		return nil, unusual("the go command is newer than the Go that built aql-tag")
	}
	switch {
	case values["GO111MODULE"] != "" && values["GO111MODULE"] != "on":
		return nil, unusual("GO111MODULE=%s", values["GO111MODULE"])
	case !filepath.IsAbs(e.mod): // empty, or the null device
		return nil, unusual("no main module")
	case filepath.Base(e.mod) != "go.mod" || !filepath.IsAbs(e.goroot):
		return nil, unusual("the go command says GOMOD=%s GOROOT=%s", e.mod, e.goroot)
	}
	if work := values["GOWORK"]; work != "off" {
		e.work = work
	}
	tags, err := tagsOf(values["GOFLAGS"], e.work != "")
	if err != nil {
		return nil, err
	}
	if len(opts.Tags) > 0 {
		tags = opts.Tags
	}
	e.context = build.Context{
		GOARCH: values["GOARCH"], GOOS: values["GOOS"], GOROOT: e.goroot, Compiler: "gc",
		CgoEnabled: values["CGO_ENABLED"] == "1", BuildTags: tags,
	}
	for v := range minor {
		e.context.ReleaseTags = append(e.context.ReleaseTags, fmt.Sprintf("go1.%d", v+1))
	}
	if e.work != "" {
		delete(values, "GOMOD") // all modules of a workspace have the same dependencies
	}
	if e.raw, err = json.Marshal(values); err != nil { // in the order of the names
		return nil, fmt.Errorf("noting the environment: %w", err)
	}
	e.raw = fmt.Appendf(e.raw, "\ntags %q\n", tags)
	return e, nil
}

// plainDirectory returns an error if dir is reached through symbolic links, which the go command treats in ways of its
// own.
func plainDirectory(dir string) error {
	if plain, err := filepath.EvalSymlinks(dir); err != nil || plain != dir {
		return unusual("%s is a symbolic link or missing", dir)
	}
	return nil
}

// minorVersion is 26 for go1.26.8.
func minorVersion(version string) (int, error) {
	text, ok := strings.CutPrefix(version, "go1.")
	text, _, _ = strings.Cut(text, ".")
	text, _, _ = strings.Cut(text, "rc")
	minor, err := strconv.Atoi(text)
	if !ok || err != nil {
		return 0, unusual("Go version %q", version)
	}
	return minor, nil
}

// harmless lists the flags in GOFLAGS that do not change what is loaded.
var harmless = []string{
	"-mod=mod", "-mod=readonly", "-trimpath", "-trimpath=true", "-trimpath=false", "-modcacherw", "-v", "-x",
}

// tagsOf reads the build tags in GOFLAGS. In a workspace the go command refuses -mod=mod.
func tagsOf(flags string, workspace bool) ([]string, error) {
	var tags []string
	for flag := range strings.FieldsSeq(flags) {
		flag = "-" + strings.TrimLeft(flag, "-")
		switch {
		case strings.ContainsAny(flag, `'"`), workspace && flag == "-mod=mod":
			return nil, unusual("GOFLAGS=%s", flags)
		case strings.HasPrefix(flag, "-tags="):
			tags = strings.FieldsFunc(strings.TrimPrefix(flag, "-tags="), func(r rune) bool { return r == ',' })
		case slices.Contains(harmless, flag), strings.HasPrefix(flag, "-buildvcs="), strings.HasPrefix(flag, "-p="):
		default:
			return nil, unusual("GOFLAGS=%s", flags)
		}
	}
	return tags, nil
}

// lookup finds a variable as the go command will see it.
func lookup(opts Options, name string) string {
	for _, setting := range slices.Backward(opts.Env) {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return os.Getenv(name)
}

func goCommand(ctx context.Context, opts Options, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(environ(opts), "PWD="+dir)
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("running go %s: %w", args[0], err)
	}
	return out, nil
}

// unusualError is why the own loader leaves the work to go/packages.
type unusualError struct{ reason string }

// Error is the reason alone.
func (e *unusualError) Error() string { return e.reason }

func unusual(format string, args ...any) error { return &unusualError{fmt.Sprintf(format, args...)} }
