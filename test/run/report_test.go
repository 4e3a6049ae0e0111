package main

import (
	"fmt"
	"strings"
	"testing"
)

// line writes an event as go test -json does.
func line(action, pkg, test, output string) string {
	return fmt.Sprintf("{\"Action\":%q,\"Package\":%q,\"Test\":%q,\"Output\":%q}\n", action, pkg, test, output)
}

const base = "example.com/m"

func TestReport(t *testing.T) {
	passed := line("run", base+"/a", "TestA", "") + line("output", base+"/a", "TestA", "=== RUN   TestA\n") +
		line("pass", base+"/a", "TestA", "") + line("pass", base+"/a", "", "")
	for _, tt := range []struct {
		name   string
		events string
		want   []string // parts of the output, in this order
		not    string   // what it must not hold
		ok     bool
	}{
		{
			name: "a package that passes is one line", events: passed, ok: true,
			want: []string{"ok   example.com/m/a 0.0s: 1 passed, 0 failed, 0 skipped\n",
				"\n1 passed, 0 failed, 0 skipped\n"}, not: "=== RUN",
		},
		{
			name: "a cached result is marked", ok: true,
			events: line("pass", base+"/a", "TestA", "") + line("output", base+"/a", "", "ok  \texample.com/m/a\t(cached)\n") +
				line("pass", base+"/a", "", ""),
			want: []string{"example.com/m/a 0.0s (cached): 1 passed"},
		},
		{
			name: "a failure is printed in full, and packages after it run", ok: false,
			events: line("output", base, "TestX", "    x_test.go:3: got 1, want 2\n") +
				line("output", base, "TestY", "chatter\n") +
				line("fail", base, "TestX", "") + line("pass", base, "TestY", "") + line("fail", base, "", "") + passed,
			want: []string{"    x_test.go:3: got 1, want 2\n", "FAIL example.com/m 0.0s: 1 passed, 1 failed",
				"ok   example.com/m/a", "Failed:\n  example.com/m TestX\n", "\n2 passed, 1 failed, 0 skipped\n"},
			not: "chatter",
		},
		{
			name: "a skipped test says why", ok: true,
			events: passed + line("output", base, "TestS", "=== RUN   TestS\n") +
				line("output", base, "TestS", "    s_test.go:9: looking for it\n") +
				line("output", base, "TestS", "    s_test.go:10: there is no server\n") +
				line("output", base, "TestS", "        at all\n") +
				line("output", base, "TestS", "--- SKIP: TestS (0.00s)\n") + line("skip", base, "TestS", "") +
				line("pass", base, "", ""),
			want: []string{"Skipped:\n  there is no server at all\n    TestS in example.com/m\n",
				"\n1 passed, 0 failed, 1 skipped\n"},
		},
		{
			name: "a package that does not build has failed", ok: false,
			events: passed + `{"ImportPath":"example.com/m [example.com/m.test]","Action":"build-output",` +
				`"Output":"x.go:1: syntax error\n"}` + "\n" +
				`{"Action":"fail","Package":"example.com/m","FailedBuild":"example.com/m [example.com/m.test]"}` + "\n",
			want: []string{"x.go:1: syntax error\n", "FAIL example.com/m", "Failed:\n  example.com/m\n",
				"\n1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "a test that the process ended in has failed", ok: false,
			events: passed + line("run", base, "TestP", "") + line("output", base, "TestP", "panic: no\n") +
				line("fail", base, "", ""),
			want: []string{"panic: no\n", "Failed:\n  example.com/m TestP\n", "\n1 passed, 1 failed, 0 skipped\n"},
		},
		{
			name: "a package whose end is missing has failed", ok: false,
			events: passed + line("pass", base, "TestX", ""),
			want:   []string{"Failed:\n  example.com/m\n", "\n2 passed, 1 failed, 0 skipped\n"},
		},
		{name: "what the go command says itself is shown", events: "go: no such module\n" + passed, ok: true,
			want: []string{"go: no such module\n"}},
		{name: "a package without tests is not counted", events: passed + line("skip", base, "", ""), ok: true,
			want: []string{"\n         1 "}, not: "example.com/m 0.0s"},
		{name: "no test at all is a failure", events: line("skip", base, "", ""), ok: false,
			want: []string{"0 passed, 0 failed, 0 skipped\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out, []module{{Path: "example.com"}, {Path: base}})
			if err := r.read(strings.NewReader(tt.events)); err != nil {
				t.Fatal(err)
			}
			if ok := r.summarize(); ok != tt.ok {
				t.Errorf("all passed: %v, want %v", ok, tt.ok)
			}
			rest := out.String()
			for _, part := range tt.want {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("%q is missing, or not in its place:\n%s", part, out.String())
				}
				rest = after
			}
			if tt.not != "" && strings.Contains(out.String(), tt.not) {
				t.Errorf("%q should not be there:\n%s", tt.not, out.String())
			}
			if !strings.HasSuffix(strings.TrimSuffix(out.String(), "\n"), " skipped") {
				t.Errorf("the last line is not the sum:\n%s", out.String())
			}
		})
	}
}
