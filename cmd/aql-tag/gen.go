package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aqltag/aqltag/internal/atomicfile"
)

// runGen writes the generated file of every package with operations, and removes the one of a package that has none left.
// Nothing is written when any package has errors.
func runGen(ctx context.Context, env *environment, args []string) int {
	f, code := parseFlags(env, "gen", args)
	if code >= 0 {
		return code
	}
	g, code := generate(ctx, env, f, false)
	if code >= 0 {
		return code
	}
	for _, o := range g.outputs {
		path := shown(env.dir, o.path)
		verb := "wrote"
		switch {
		case !o.stale():
			if f.verbose {
				fmt.Fprintf(env.stderr, "%s is up to date\n", path)
			}
			continue
		case o.content == nil:
			verb = "removed"
			if err := os.Remove(o.path); err != nil {
				fmt.Fprintf(env.stderr, "aql-tag: removing the file of a package without operations: %v\n", err)
				return exitIO
			}
		default:
			if err := atomicfile.Write(o.path, o.content, 0o644); err != nil {
				fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
				return exitIO
			}
		}
		if !f.quiet && !f.json {
			fmt.Fprintf(env.stdout, "%s %s\n", verb, path)
		}
	}
	g.remember(env, f)
	return exitOK
}
