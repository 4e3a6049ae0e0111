// Command sbom checks a software bill of materials in CycloneDX: its form, and that it lists the modules that a built
// program says it was linked from, with their checksums.
//
//	sbom FILE PROGRAM
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// bill is what is read of a bill of materials.
type bill struct {
	BOMFormat   string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Metadata    struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

type component struct {
	Name, Version, PURL string
	Hashes              []struct{ Alg, Content string }
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom FILE PROGRAM")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func run(file, program string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading %s: %w", program, err)
	}
	if err := check(text, info); err != nil {
		return err
	}
	fmt.Printf("%s lists the %d modules of %s\n", file, len(info.Deps), program)
	return nil
}

// check fails unless a bill of materials lists the modules and the Go version of a program, and nothing else.
func check(text []byte, info *debug.BuildInfo) error {
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	var faults []error
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if b.BOMFormat != "CycloneDX" || b.SpecVersion == "" {
		wrong("it is no bill of materials in CycloneDX")
	}
	if b.Metadata.Component.Name != info.Main.Path {
		wrong("it is about %q, not about %q", b.Metadata.Component.Name, info.Main.Path)
	}
	listed := make(map[string]component)
	for _, c := range b.Components {
		if _, twice := listed[c.Name]; twice {
			wrong("it lists %s twice", c.Name)
		}
		if !strings.HasPrefix(c.PURL, "pkg:golang/"+c.Name) {
			wrong("the package URL of %s is %q", c.Name, c.PURL)
		}
		listed[c.Name] = c
	}
	for _, d := range append(info.Deps, &debug.Module{Path: "std", Version: info.GoVersion}) {
		c, ok := listed[d.Path]
		delete(listed, d.Path)
		switch {
		case !ok:
			wrong("it lacks %s", d.Path)
		case d.Version == "(devel)" || d.Replace != nil: // one of ours, in the working tree
		case c.Version != d.Version:
			wrong("it has %s %s, which was linked from %s", d.Path, c.Version, d.Version)
		case d.Sum != "" && !c.has(d.Sum):
			wrong("it has another checksum of %s than %s", d.Path, d.Sum)
		}
	}
	for name := range listed {
		wrong("it lists %s, which is not linked", name)
	}
	return errors.Join(faults...)
}

// has reports whether a component has a checksum of go.sum.
func (c component) has(sum string) bool {
	digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:"))
	for _, h := range c.Hashes {
		if err == nil && h.Alg == "SHA-256" && h.Content == hex.EncodeToString(digest) {
			return true
		}
	}
	return false
}
