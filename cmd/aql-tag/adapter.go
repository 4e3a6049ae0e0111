package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// adapter scans the packages and puts their operations and types together, as an adapter of all of them would. It goes by the
// name of the first package. A code other than -1 ends the command; by then everything has been said.
func (f flags) adapter(ctx context.Context, env *environment) (*gen.Adapter, int) {
	result, err := scan.Load(ctx, scan.Options{Dir: env.dir, Patterns: f.packages, Tags: f.command(env).Tags, Cache: env.cache})
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return nil, exitUsage
	}
	if result.HasErrors() {
		if err := report(env, f, result.Diagnostics); err != nil {
			fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
			return nil, exitIO
		}
		return nil, exitSource
	}
	return adapterOf(env, f.packages, result.Packages)
}

// adapterOf puts the operations and types of packages together.
func adapterOf(env *environment, patterns []string, packages []model.Package) (*gen.Adapter, int) {
	adapter := new(gen.Adapter)
	sources := make(map[string]string)
	types := make(map[string]*gen.Type)
	for i := range packages {
		pkg := &packages[i]
		for _, h := range pkg.Handlers {
			name := h.Operation.Name
			if first, taken := sources[name]; taken {
				fmt.Fprintf(env.stderr, "aql-tag: %s and %s both have an operation %s; name the packages of one adapter\n", first, pkg.Path, name)
				return nil, exitUsage
			}
			sources[name] = pkg.Path
			adapter.Operations = append(adapter.Operations, h.Operation)
		}
		for k := range pkg.Types {
			t := &pkg.Types[k]
			if first, taken := types[t.Name]; taken {
				if !reflect.DeepEqual(first, t) {
					fmt.Fprintf(env.stderr, "aql-tag: %s has another type %s than the packages before; name the packages of one adapter\n", pkg.Path, t.Name)
					return nil, exitUsage
				}
				continue
			}
			types[t.Name] = t
			adapter.Types = append(adapter.Types, *t)
		}
	}
	if len(packages) > 0 {
		adapter.Name = packages[0].Name
	}
	if len(adapter.Operations) == 0 {
		fmt.Fprintf(env.stderr, "aql-tag: no operations in %s\n", strings.Join(patterns, " "))
		return nil, exitUsage
	}
	return adapter, -1
}
