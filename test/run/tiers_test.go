package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTiers(t *testing.T) {
	at := func(folder string) testPackage {
		return testPackage{ImportPath: base + "/" + folder, Folder: folder, XTestGoFiles: []string{"report_test.go"},
			Dir: "."}
	}
	var all []testPackage
	others := []string{"runtime", "bench/generics", "test/house", "test/zoo"}
	for _, folder := range slices.Concat(others, slow, long) {
		all = append(all, at(folder))
	}
	sizes := make(map[string]int)
	for _, name := range []string{"quick", "test", "slow", "race"} {
		chosen, err := tierOf(name, all)
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = len(chosen.packages)
		if chosen.short != (name != "slow") {
			t.Errorf("%s: -short is %v", name, chosen.short)
		}
	}
	want := map[string]int{
		"quick": 4, "test": 4 + len(long), "slow": len(slow) + len(unraced), "race": 4 + len(long) - 4 - len(unraced),
	}
	if fmt.Sprint(sizes) != fmt.Sprint(want) {
		t.Errorf("packages of the tiers: %v, want %v", sizes, want)
	}
	if _, err := tierOf("fast", all); err == nil {
		t.Error("there is no tier fast")
	}
	if _, err := tierOf("test", all[:3]); err == nil || !strings.Contains(err.Error(), "test/run/tiers.go") {
		t.Errorf("a folder that is gone: %v", err)
	}
}

func TestPackagesOfTheSlowTier(t *testing.T) {
	for name, tt := range map[string]struct {
		source string
		in     bool
	}{
		"a test of every tier":                      {"package p_test\n", false},
		"a test that does less with -short":         {"package p_test\n\nvar short = testing.Short()\n", true},
		"a test that is not for the race detector":  {"//go:build !race\n\npackage p_test\n", true},
		"a test that is only for the race detector": {"//go:build race\n\npackage p_test\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(tt.source), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := testPackage{Dir: dir, TestGoFiles: []string{"p_test.go"}}.leavesOut()
			if err != nil || in != tt.in {
				t.Errorf("in the slow tier: %t, %v", in, err)
			}
		})
	}
}
