package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/internal/runcache"
)

// flagSet reads the flags of a command, and describes them in its help. Each flag's usage names its value in
// backquotes.
type flagSet struct {
	*flag.FlagSet
	env  *environment
	help string // what the help says before the flags, and behind the line "Flags:" what it says after them
}

// newFlagSet makes the flag set of a command. In help, a line "Flags:" stands for the list of flags.
func newFlagSet(env *environment, name, help string) *flagSet {
	set := &flagSet{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), env: env, help: help}
	set.SetOutput(io.Discard)
	return set
}

// parse reads flags before, between and after the arguments, and returns the arguments. A code other than -1 ends the
// command; the help or the mistake has been printed.
func (s *flagSet) parse(args []string) (rest []string, code int) {
	for {
		if code := s.parseLeading(args); code >= 0 {
			return nil, code
		}
		if s.NArg() == 0 {
			return rest, -1
		}
		rest = append(rest, s.Arg(0))
		args = s.Args()[1:]
	}
}

// parseLeading reads the flags before the first argument; Args returns what follows.
func (s *flagSet) parseLeading(args []string) (code int) {
	err := s.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		s.printHelp()
		return exitOK
	}
	if err != nil {
		return s.refuse(err)
	}
	return -1
}

// refuse prints a mistake in the flags or arguments.
func (s *flagSet) refuse(err error) int {
	command, _, _ := strings.Cut(s.Name(), " ")
	fmt.Fprintf(s.env.stderr, "aql-tag %s: %v\nRun 'aql-tag %s -h' for usage.\n", s.Name(), err, command)
	return exitUsage
}

// printHelp prints the help with a line for each flag.
func (s *flagSet) printHelp() {
	before, after, listed := strings.Cut(s.help, "\nFlags:\n")
	fmt.Fprintln(s.env.stdout, strings.TrimSpace(before))
	if !listed {
		return
	}
	type line struct{ flag, usage string }
	var lines []line
	width := 0
	s.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		name := strings.TrimRight("-"+f.Name+" "+value, " ")
		lines = append(lines, line{name, usage})
		width = max(width, utf8.RuneCountInString(name))
	})
	fmt.Fprint(s.env.stdout, "\nFlags:\n\n")
	for _, l := range lines {
		fmt.Fprintf(s.env.stdout, "  %-*s  %s\n", width, l.flag, l.usage)
	}
	if after = strings.TrimSpace(after); after != "" {
		fmt.Fprintf(s.env.stdout, "\n%s\n", after)
	}
}

// flags are the flags of the commands that read packages.
type flags struct {
	tags           string
	json           bool
	verbose, quiet bool
	packages       []string
}

// declare declares the flags that all these commands have. Those whose output differs say so in json and verbose.
func (f *flags) declare(set *flagSet, json, verbose string) {
	set.StringVar(&f.tags, "tags", "", "build tags: a comma-separated `list`")
	set.BoolVar(&f.json, "json", false, json)
	set.BoolVar(&f.verbose, "v", false, verbose)
	set.BoolVar(&f.quiet, "q", false, "print errors only")
}

// parse reads flags and package patterns.
func (f *flags) parse(set *flagSet, args []string) (code int) {
	if f.packages, code = set.parse(args); code >= 0 {
		return code
	}
	if f.verbose && f.quiet {
		return set.refuse(errors.New("-v and -q contradict each other"))
	}
	if len(f.packages) == 0 {
		f.packages = []string{"."}
	}
	return -1
}

// command is what the flags ask for, as the run cache knows it.
func (f *flags) command(env *environment) runcache.Command {
	command := runcache.Command{Dir: env.dir, Patterns: f.packages, Cache: env.cache}
	if f.tags != "" {
		command.Tags = strings.Split(f.tags, ",")
	}
	return command
}

// The usage of -json and -v where they mean the same in several commands.
const (
	jsonDiagnostics = "print diagnostics as one JSON array on standard output"
	verboseFiles    = "say also which files are up to date, and why loading took long"
)
