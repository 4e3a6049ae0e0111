package runcache

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/load"
)

// describeTool writes what distinguishes this program from other versions of itself.
func describeTool(w io.Writer) bool {
	name, err := os.Executable()
	if err != nil || !describeFile(w, name) {
		return false
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprintln(w, info)
	}
	return true
}

// describeFile writes what distinguishes a program from others in its place.
func describeFile(w io.Writer, name string) bool {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	info, err := os.Stat(name)
	if err != nil {
		return false
	}
	fmt.Fprintf(w, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	return true
}

// settings are variables that the go command reads, or that locate its settings, besides those named GO… and CGO_….
var settings = []string{"AR", "CC", "CXX", "FC", "PKG_CONFIG", "HOME", "USERPROFILE", "AppData", "XDG_CONFIG_HOME"}

// directive are the variables in which go generate describes the place of its directive.
var directive = []string{"GOFILE", "GOLINE", "GOPACKAGE"}

// describeEnvironment writes what decides the go command's configuration in dir: its program, its variables, its
// settings file, and the module and workspace of dir. It does not run the go command.
func describeEnvironment(w io.Writer, dir string) bool {
	program, err := exec.LookPath("go")
	if err != nil || !describeFile(w, program) {
		return false
	}
	_, err = exec.LookPath("gopackagesdriver")
	fmt.Fprintln(w, err == nil)
	variables := slices.Sorted(slices.Values(os.Environ()))
	for _, variable := range variables {
		name, _, _ := strings.Cut(variable, "=")
		if slices.Contains(directive, name) {
			continue
		}
		if strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO_") || slices.Contains(settings, name) {
			fmt.Fprintf(w, "%q\n", variable)
		}
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		describeContent(w, filepath.Join(filepath.Dir(filepath.Dir(real)), "go.env"))
	}
	user := os.Getenv("GOENV")
	if config, err := os.UserConfigDir(); user == "" && err == nil {
		user = filepath.Join(config, "go", "env")
	}
	if user != "" && user != "off" {
		describeContent(w, user)
	}
	for {
		for _, name := range []string{"go.mod", "go.work"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				fmt.Fprintf(w, "%q\n", filepath.Join(dir, name))
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

func describeContent(w io.Writer, name string) {
	if file, err := load.ReadFile(name); err == nil {
		fmt.Fprintf(w, "%q %s\n", name, file.Hash)
	}
}
