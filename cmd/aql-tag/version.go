package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// modulePath is the module of this command.
const modulePath = "github.com/aqltag/aqltag"

// runVersion prints the version of the module that the command was built from.
func runVersion(_ context.Context, env *environment, _ []string) int {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		// A test binary, in which the command runs for its own tests, has it among its dependencies.
		for _, module := range append(info.Deps, &info.Main) {
			if module.Path == modulePath && module.Version != "" {
				version = module.Version
			}
		}
	}
	fmt.Fprintf(env.stdout, "aql-tag %s\n", version)
	return exitOK
}
