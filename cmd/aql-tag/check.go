package main

import (
	"context"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
)

// runCheck compares the generated files with what would be generated now.
func runCheck(ctx context.Context, env *environment, args []string) int {
	f, code := parseFlags(env, "check", args)
	if code >= 0 {
		return code
	}
	g, code := generate(ctx, env, f, true)
	if code >= 0 {
		return code
	}
	code = exitOK
	for _, o := range g.outputs {
		path := shown(env.dir, o.path)
		if !o.stale() {
			if f.verbose {
				fmt.Fprintf(env.stderr, "%s is up to date\n", path)
			}
			continue
		}
		code = exitStale
		if !f.json {
			fmt.Fprint(env.stdout, udiff.Unified("a/"+path, "b/"+path, string(o.disk), string(o.content)))
		}
		if !f.quiet {
			state := "stale"
			if o.disk == nil {
				state = "missing"
			}
			fmt.Fprintf(env.stderr, "aql-tag: %s is %s; run 'go generate' or 'go tool aql-tag gen'\n", path, state)
		}
	}
	if code == exitOK {
		g.remember(env, f)
	}
	return code
}
