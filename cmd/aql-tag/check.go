package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
)

// runCheck compares the generated files with what would be generated now and, with -against, what agents see with what an
// old version showed them.
func runCheck(ctx context.Context, env *environment, args []string) int {
	against := ""
	f, code := parseFlags(env, "check", args, func(set *flag.FlagSet) { set.StringVar(&against, "against", "", "") })
	if code >= 0 {
		return code
	}
	if against != "" {
		return runAgainst(ctx, env, f, against)
	}
	g, code := generate(ctx, env, f, true)
	if code >= 0 {
		return code
	}
	if stale := g.sayStale(env, f); len(stale) > 0 {
		return exitStale
	}
	g.remember(env, f)
	return exitOK
}

// sayStale says which files are out of date, and returns them.
func (g *generation) sayStale(env *environment, f flags) []string {
	stale := []string{}
	for _, o := range g.outputs {
		path := shown(env.dir, o.path)
		if !o.stale() {
			if f.verbose {
				fmt.Fprintf(env.stderr, "%s is up to date\n", path)
			}
			continue
		}
		stale = append(stale, path)
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
	return stale
}
