package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
			if err := replace(o.path, o.content); err != nil {
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

// replace writes a file by renaming a complete one over it, so that no reader and no crash ever sees half of it.
func replace(path string, content []byte) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".aql_gen-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(temporary.Name())
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if _, err = temporary.Write(content); err != nil {
		temporary.Close()
		return err
	}
	if err = temporary.Chmod(0o644); err != nil {
		temporary.Close()
		return err
	}
	if err = temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
