package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// runVersion prints the version of the module the command was built from.
func runVersion(_ context.Context, env *environment, _ []string) int {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range append(info.Deps, &info.Main) {
			if module.Path == "github.com/aqltag/aqltag" && module.Version != "" {
				version = module.Version
			}
		}
	}
	fmt.Fprintf(env.stdout, "aql-tag %s\n", version)
	return exitOK
}
