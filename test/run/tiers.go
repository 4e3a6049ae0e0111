package main

import (
	"fmt"
	"strings"
)

// slow are the folders of the slow tier: their tests run for minutes.
var slow = []string{
	"test/browser", "test/deploy", "test/mutation", "test/pages", "test/state", "test/verbs", "test/walk", "bench/gen",
}

// long are folders whose tests build and start programs or servers, or compare with peers. The quick tier goes without
// them.
var long = []string{
	"bench/wire", "cmd/aql-dongle", "cmd/aql-tag", "examples/server", "examples/todo", "internal/load",
	"runtime/execution/river", "runtime/notify/desktop", "runtime/store/postgres", "runtime/store/redis", "test/adopted",
	"test/collections/databases", "test/conform",
	"test/connection", "test/doors", "test/golden", "test/proxy", "test/release",
}

// unraced are folders with tests of files and of programs of their own, whom the race detector would tell nothing, and
// those of databases, whose drivers it makes slow: the code that they test has tests of its own.
var unraced = []string{"test/collections/databases", "test/golden", "test/house", "test/release"}

// tier is a choice of tests.
type tier struct {
	short    bool // with -short: tests do fewer rounds, or leave themselves to the slow tier
	packages []testPackage
}

// tierOf chooses from all packages:
//
//	quick  what takes less than a minute, with -short
//	test   all but the slow packages, with -short
//	slow   the slow packages, those that race leaves to it, and all packages in which -short or the race detector leaves
//	       something out: test and slow are every test in full
//	race   all but the slow packages, those that are not for the race detector, those whose random requests take it
//	       minutes: the example, the zoo and the connection, and test/doors, which bounds the memory of a process; with
//	       -short
func tierOf(name string, all []testPackage) (tier, error) {
	isSlow, err := chosen(slow, all)
	if err != nil {
		return tier{}, err
	}
	isLong, err := chosen(long, all)
	if err != nil {
		return tier{}, err
	}
	isHeavy, err := chosen([]string{"examples/todo", "test/connection", "test/doors", "test/zoo"}, all)
	if err != nil {
		return tier{}, err
	}
	isUnraced, err := chosen(unraced, all)
	if err != nil {
		return tier{}, err
	}
	t := tier{short: name != "slow"}
	for _, p := range all {
		var in bool
		switch name {
		case "quick":
			in = !isSlow[p.ImportPath] && !isLong[p.ImportPath]
		case "test":
			in = !isSlow[p.ImportPath]
		case "slow":
			if in, err = p.leavesOut(); err != nil {
				return tier{}, err
			}
			in = in || isSlow[p.ImportPath] || isUnraced[p.ImportPath]
		case "race":
			in = !isSlow[p.ImportPath] && !isHeavy[p.ImportPath] && !isUnraced[p.ImportPath]
		default:
			return tier{}, fmt.Errorf("there is no tier %q, only quick, test, slow and race", name)
		}
		if in {
			t.packages = append(t.packages, p)
		}
	}
	return t, nil
}

// chosen returns the packages in the given folders and below. Each folder must have one.
func chosen(folders []string, all []testPackage) (map[string]bool, error) {
	in := make(map[string]bool)
	for _, folder := range folders {
		found := false
		for _, p := range all {
			if p.Folder == folder || strings.HasPrefix(p.Folder, folder+"/") {
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
