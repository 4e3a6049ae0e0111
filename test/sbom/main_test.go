package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

// A bill of materials passes if it lists what a program was linked from, and nothing else.
func TestCheck(t *testing.T) {
	const whole = `{"bomFormat":"CycloneDX","specVersion":"1.5","metadata":{"component":{"name":"example.com/app"}},
		"components":[{"name":"example.com/a","version":"v1.0.0","purl":"pkg:golang/example.com/a@v1.0.0",
		"hashes":[{"alg":"SHA-256","content":"000102"}]},
		{"name":"example.com/own","purl":"pkg:golang/example.com/own"},
		{"name":"std","version":"go1.26.0","purl":"pkg:golang/std@go1.26.0"}]}`
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "example.com/app"}, Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:AAEC"}, {Path: "example.com/own", Version: "(devel)"},
	}}
	for name, tt := range map[string]struct{ old, new, want string }{
		"whole":                {"", "", ""},
		"no JSON":              {"{", "", "invalid character"},
		"another format":       {"CycloneDX", "SPDX", "no bill of materials"},
		"about another module": {`"example.com/app"`, `"example.com/apt"`, `it is about "example.com/apt"`},
		"a module is missing":  {`"example.com/own"`, `"example.com/won"`, "it lacks example.com/own"},
		"a module too many":    {`"example.com/own"`, `"example.com/won"`, "it lists example.com/won, which is not linked"},
		"another version":      {`"v1.0.0"`, `"v1.0.1"`, "it has example.com/a v1.0.1, which was linked from v1.0.0"},
		"another checksum":     {`000102`, `000103`, "it has another checksum of example.com/a"},
		"another Go":           {`"go1.26.0"`, `"go1.26.1"`, "it has std go1.26.1"},
		"a module twice":       {`example.com/own"`, `example.com/a"`, "it lists example.com/a twice"},
		"another package URL":  {"pkg:golang/example.com/own", "pkg:npm/own", "the package URL of example.com/own"},
	} {
		err := check([]byte(strings.Replace(whole, tt.old, tt.new, 1)), info)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
