package main

import (
	"fmt"
	"strings"
)

// slow are the packages of the slow tier, below the root: they run for minutes, and what they hold seldom breaks.
var slow = []string{"test/mutation", "test/state", "bench/gen"}

// programs are the packages whose tests build and start programs. The quick tier goes without them.
var programs = []string{
	"test/golden", "test/conform", "test/house", "test/adopted", "cmd/aql-tag", "examples/todo",
}

// root is the path of the root module.
const root = "github.com/aqltag/aqltag"

// tier is a choice of tests.
type tier struct {
	short    bool // with -short: tests do fewer rounds, or leave themselves to the slow tier
	packages []testPackage
}

// tierOf chooses from all packages:
//
//	quick  what takes less than a minute, with -short
//	test   all but the slow packages, with -short
//	slow   the slow packages and all that -short leaves out: the two together are every test in full
func tierOf(name string, all []testPackage) (tier, error) {
	isSlow, err := chosen(slow, all)
	if err != nil {
		return tier{}, err
	}
	startsPrograms, err := chosen(programs, all)
	if err != nil {
		return tier{}, err
	}
	t := tier{short: name != "slow"}
	for _, p := range all {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 && name == "slow" {
			continue
		}
		var in bool
		switch name {
		case "quick":
			in = !isSlow[p.ImportPath] && !startsPrograms[p.ImportPath]
		case "test":
			in = !isSlow[p.ImportPath]
		case "slow":
			if in, err = p.leavesOut(); err != nil {
				return tier{}, err
			}
			in = in || isSlow[p.ImportPath]
		default:
			return tier{}, fmt.Errorf("there is no tier %q, only quick, test and slow", name)
		}
		if in {
			t.packages = append(t.packages, p)
		}
	}
	return t, nil
}

// chosen returns the packages at the given folders. Each folder must have one.
func chosen(folders []string, all []testPackage) (map[string]bool, error) {
	in := make(map[string]bool)
	for _, folder := range folders {
		found := false
		for _, p := range all {
			path := strings.TrimPrefix(p.ImportPath, root+"/")
			if path == folder || strings.HasPrefix(path, folder+"/") {
				in[p.ImportPath] = true
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no package in %s, which test/run/tiers.go names", folder)
		}
	}
	return in, nil
}
