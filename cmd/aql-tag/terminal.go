package main

import (
	"os"

	"golang.org/x/term"
)

// wantsColor reports whether diagnostics on f may be coloured: on a terminal, unless NO_COLOR is set.
func wantsColor(f *os.File) bool {
	_, off := os.LookupEnv("NO_COLOR")
	return !off && term.IsTerminal(int(f.Fd()))
}
