package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aqltag/aqltag/internal/propose"
)

const toolPath = "github.com/aqltag/aqltag/cmd/aql-tag"

// nextSteps is what the steps behind init depend on.
type nextSteps struct {
	env       *environment
	flags     flags
	only      string // the regular expression of -only
	proposals propose.Proposals
	written   bool
}

// printNext prints the next three commands, for the flags and packages that were used.
func printNext(b *strings.Builder, s nextSteps) {
	var free, locked, existing int
	for _, pkg := range s.proposals.Packages {
		existing += len(pkg.Existing)
		for _, c := range pkg.Candidates {
			if c.Locked == "" {
				free++
			} else {
				locked++
			}
		}
	}
	switch {
	case free == 0 && locked > 0:
		fmt.Fprintln(b, "Next: write functions of your own that call the candidates, and run aql-tag init on their package.")
		return
	case free == 0 && existing == 0:
		fmt.Fprintln(b, "No function could be an operation.")
		return
	}
	hasTool := requiresTool(s.env.dir)
	command := func(name string) string {
		tool := "go tool aql-tag"
		if name == "init" && !hasTool {
			tool = "aql-tag"
		}
		return strings.Join([]string{tool, name}, " ")
	}
	var commands []string
	home := s.arguments() // what is generated
	if s.proposals.Adopts {
		home = s.tags()
	}
	if free > 0 && !s.written {
		line := command("init") + " -w"
		if s.proposals.Adopts {
			line = command("init") + " -wrap -w"
		}
		if s.only != "" {
			line += " -only " + quoted(s.only)
		}
		commands = append(commands, line+s.arguments())
	}
	if !hasTool {
		commands = append(commands, "go get -tool "+toolPath+" && go get github.com/aqltag/aqltag/runtime/serve")
	}
	if len(commands) < 2 {
		commands = append(commands, command("lint")+home)
	}
	if s.generates() {
		commands = append(commands, "go generate"+home)
	} else {
		commands = append(commands, command("gen")+home)
	}
	if len(commands) < 3 {
		commands = append(commands, "go vet"+home)
	}
	fmt.Fprintln(b, "Next:")
	for _, line := range commands {
		fmt.Fprintf(b, "  %s\n", line)
	}
	fmt.Fprintln(b, "Read the directives before you generate. NewRegistry, in aql_gen.go, is what serve.Main takes.")
}

// generates reports whether go generate runs aql-tag for every package with operations.
func (s nextSteps) generates() bool {
	if s.proposals.Adopts {
		return true // the file says so
	}
	for _, pkg := range s.proposals.Packages {
		if len(pkg.Candidates)+len(pkg.Existing) > 0 && !pkg.Generates {
			return false
		}
	}
	return true
}

// arguments are the flags and packages that the next commands need too.
func (s nextSteps) arguments() string {
	text := s.tags()
	for _, pattern := range s.flags.packages {
		text += " " + quoted(pattern)
	}
	return text
}

// tags is the flag with the build tags.
func (s nextSteps) tags() string {
	if s.flags.tags == "" {
		return ""
	}
	return " -tags " + quoted(s.flags.tags)
}

var plainArgument = regexp.MustCompile(`^[\w./,:@=+-]+$`)

// quoted is an argument as a shell reads it.
func quoted(argument string) string {
	if plainArgument.MatchString(argument) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}

// requiresTool reports whether go tool finds aql-tag in a directory: the go.mod of its module names it.
func requiresTool(dir string) bool {
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			return strings.Contains(string(text), toolPath)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}
