package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// event is one line of go test -json; see go doc test2json and go help buildjson.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // in seconds
	ImportPath, FailedBuild       string  // of events about builds
}

// result is the outcome of a test, or of a package as a whole.
type result struct {
	action string // pass, fail or skip; "" if it did not end
	output []string
}

// packageResult is the outcome of a package. Its tests are in the order in which they began.
type packageResult struct {
	result
	tests map[string]*result
	order []string
}

// counts are numbers of tests, subtests included.
type counts struct{ passed, failed, skipped int }

func (c *counts) add(other counts) {
	c.passed, c.failed, c.skipped = c.passed+other.passed, c.failed+other.failed, c.skipped+other.skipped
}

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// moduleResult sums up the packages of a module.
type moduleResult struct {
	counts
	packages, failed int
	seconds          float64
}

// report turns the events of go test into what people read.
type report struct {
	out      io.Writer
	modules  []module
	results  map[string]*moduleResult
	packages map[string]*packageResult
	builds   map[string][]string // output of the compiler, by the package built
	failures []string            // packages and tests
	skipped  map[string][]string // tests, by the reason
}

func newReport(out io.Writer, modules []module) *report {
	return &report{
		out: out, modules: modules,
		results: make(map[string]*moduleResult), packages: make(map[string]*packageResult),
		builds: make(map[string][]string), skipped: make(map[string][]string),
	}
}

// read handles all events.
func (r *report) read(events io.Reader) error {
	reader := bufio.NewReader(events)
	for {
		line, err := reader.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil {
				r.handle(e)
			} else {
				fmt.Fprint(r.out, line) // the go command itself has something to say
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the output of go test: %w", err)
		}
	}
}

func (r *report) handle(e event) {
	if e.ImportPath != "" {
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
		return
	}
	p := r.packages[e.Package]
	if p == nil {
		p = &packageResult{tests: make(map[string]*result)}
		r.packages[e.Package] = p
	}
	on := &p.result
	if e.Test != "" {
		on = p.tests[e.Test]
		if on == nil {
			on = new(result)
			p.tests[e.Test] = on
			p.order = append(p.order, e.Test)
		}
	}
	switch e.Action {
	case "output":
		on.output = append(on.output, e.Output)
	case "pass", "fail", "skip":
		on.action = e.Action
		if e.Test == "" {
			r.finish(e, p)
		}
	}
}

// finish prints and counts a package that ended.
func (r *report) finish(e event, p *packageResult) {
	m := r.moduleOf(e.Package)
	m.seconds += e.Elapsed
	if len(p.order) == 0 && p.action != "fail" {
		return // it has no tests
	}
	m.packages++
	var c counts
	for _, name := range p.order {
		t := p.tests[name]
		if t.action == "" && p.action == "fail" {
			t.action = "fail" // the process ended within it
		}
		switch t.action {
		case "pass":
			c.passed++
		case "fail":
			c.failed++
			r.failures = append(r.failures, e.Package+" "+name)
		case "skip":
			c.skipped++
			reason := reasonOf(t.output)
			r.skipped[reason] = append(r.skipped[reason], name+" in "+e.Package)
		}
	}
	if p.action == "fail" {
		m.failed++
		if c.failed == 0 {
			c.failed = 1 // the package itself: it was not built, or ended otherwise than by a test
			r.failures = append(r.failures, e.Package)
		}
		r.printFailure(e, p)
	}
	m.add(c)
	status := map[string]string{"fail": "FAIL"}[p.action]
	if status == "" {
		status = "ok  "
	}
	note := ""
	if slices.ContainsFunc(p.output, func(line string) bool { return strings.Contains(line, "\t(cached)") }) {
		note = " (cached)"
	}
	fmt.Fprintf(r.out, "%s %s %.1fs%s: %v\n", status, e.Package, e.Elapsed, note, c)
}

// printFailure prints all that a failed package said, apart from what its passed tests said.
func (r *report) printFailure(e event, p *packageResult) {
	for _, line := range r.builds[e.FailedBuild] {
		fmt.Fprint(r.out, line)
	}
	for _, name := range p.order {
		if t := p.tests[name]; t.action == "fail" {
			fmt.Fprint(r.out, strings.Join(t.output, ""))
		}
	}
	fmt.Fprint(r.out, strings.Join(p.output, ""))
}

// moduleOf returns the result of the module that has a package.
func (r *report) moduleOf(pkg string) *moduleResult {
	path := ""
	for _, m := range r.modules {
		if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && len(m.Path) > len(path) {
			path = m.Path
		}
	}
	if r.results[path] == nil {
		r.results[path] = new(moduleResult)
	}
	return r.results[path]
}

var placePattern = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reasonOf returns the text of t.Skip, the last thing that a skipped test logged.
func reasonOf(output []string) string {
	var reason []string
	for _, line := range output {
		switch {
		case strings.HasPrefix(line, "=== "), strings.HasPrefix(strings.TrimLeft(line, " "), "--- "):
			continue
		case placePattern.MatchString(line):
			reason = nil
		}
		reason = append(reason, strings.TrimSpace(placePattern.ReplaceAllString(line, "")))
	}
	if text := strings.TrimSpace(strings.Join(reason, " ")); text != "" {
		return text
	}
	return "no reason given"
}

// summarize prints the summary and reports whether nothing failed.
func (r *report) summarize() bool {
	for pkg, p := range r.packages {
		if p.action == "" { // go test itself ended early
			p.action = "fail"
			r.finish(event{Package: pkg}, p)
		}
	}
	var total counts
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\npackages\tfailed\ttests passed\tfailed\tskipped\tseconds\t  module\n")
	for _, path := range slices.Sorted(maps.Keys(r.results)) {
		m := r.results[path]
		if m.packages == 0 {
			continue
		}
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%.1f\t  %s\n", m.packages, m.failed, m.passed, m.counts.failed, m.skipped,
			m.seconds, path)
		total.add(m.counts)
	}
	_ = table.Flush() // as all that is printed
	if len(r.skipped) > 0 {
		fmt.Fprintln(r.out, "\nSkipped:")
	}
	for _, reason := range slices.Sorted(maps.Keys(r.skipped)) {
		fmt.Fprintf(r.out, "  %s\n", reason)
		for _, test := range r.skipped[reason] {
			fmt.Fprintf(r.out, "    %s\n", test)
		}
	}
	if len(r.failures) > 0 {
		fmt.Fprintln(r.out, "\nFailed:")
	}
	for _, failure := range r.failures {
		fmt.Fprintf(r.out, "  %s\n", failure)
	}
	fmt.Fprintf(r.out, "\n%v\n", total)
	return total.failed == 0 && total.passed > 0
}
