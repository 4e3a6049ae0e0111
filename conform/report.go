package conform

import (
	"encoding/json"
	"slices"
)

// Level says how binding what a check stands for is.
type Level string

// The levels.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts: a MUST that is broken fails, a SHOULD warns; a check that does not apply to the server, or may not be made, is
// skipped.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Warn Verdict = "warn"
	Skip Verdict = "skip"
)

// Category is one of the categories of conformance testing (§3, §4).
type Category string

// The categories.
const (
	Fidelity     Category = "Introspection Fidelity"
	Parameters   Category = "Parameter Handling"
	ErrorQuality Category = "Error Quality"
	RoundTrip    Category = "Round-Trip Integrity"
	Features     Category = "Level 2 Features"
	Constraints  Category = "Constraint Documentation"
)

func categories() []Category {
	return []Category{Fidelity, Parameters, ErrorQuality, RoundTrip, Features, Constraints}
}

// Report is what a run found, in the shape of conformance testing §6; encoded with encoding/json it is the JSON report.
type Report struct {
	Implementation string `json:"implementation"`
	Version        string `json:"version"`
	SpecVersion    string `json:"specVersion"`
	RequestedLevel int    `json:"requestedLevel"`
	// ConformanceLevel is the level that the server showed: 0 if a MUST of level 1 is broken. Of a run that leaves checks out
	// it says only what the others showed.
	ConformanceLevel int               `json:"conformanceLevel"`
	Mode             string            `json:"mode"` // semantic, single or all, as found
	Seed             uint64            `json:"seed"`
	Calls            int               `json:"calls"`
	Summary          Summary           `json:"summary"`
	Categories       []CategoryResults `json:"categories"`

	prober *prober
}

// Summary counts the verdicts.
type Summary struct {
	Total    int `json:"total"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Warnings int `json:"warnings"`
	Skipped  int `json:"skipped"`
}

// CategoryResults are the results of the checks in a category.
type CategoryResults struct {
	Name   Category `json:"name"`
	Status Verdict  `json:"status"` // the worst of its checks
	Checks []Result `json:"tests"`
}

// Result is what became of one check.
type Result struct {
	Name         string    `json:"name"`
	Title        string    `json:"title"`
	Requirements []string  `json:"requirements"`
	Level        Level     `json:"level"`
	Verdict      Verdict   `json:"status"`
	Reason       string    `json:"reason,omitempty"` // why it was skipped
	Findings     []Finding `json:"findings,omitempty"`
	// Evidence is a request that the server did right, where there is one.
	Evidence *Exchange `json:"evidence,omitempty"`

	category Category
	tier     int
}

// Finding is one thing that is wrong.
type Finding struct {
	Message  string     `json:"message"`
	Evidence []Exchange `json:"evidence,omitempty"`
}

// Exchange is a request with its answer.
type Exchange struct {
	Tool     string          `json:"tool"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response,omitempty"` // a JSON string where the answer is no JSON
	IsError  bool            `json:"isError"`
	Fault    string          `json:"fault,omitempty"`
}

// Results are the results of all checks in the order they were made in.
func (r *Report) Results() []Result {
	var all []Result
	for _, c := range r.Categories {
		all = append(all, c.Checks...)
	}
	return all
}

// ExitCode is what a command that made the report ends with: 0 if everything passed, 1 if a MUST is broken, 2 if only a
// SHOULD is (REQ-CL-08).
func (r *Report) ExitCode() int {
	switch {
	case r.Summary.Failed > 0:
		return 1
	case r.Summary.Warnings > 0:
		return 2
	}
	return 0
}

// report puts the results together.
func (p *prober) report(results []Result) *Report {
	r := &Report{
		Implementation: p.options.Implementation, Version: p.options.Version, SpecVersion: p.version,
		RequestedLevel: p.options.Level, ConformanceLevel: p.options.Level, Mode: p.mode(), Seed: p.options.Seed, Calls: len(p.log),
		prober: p,
	}
	for _, category := range categories() {
		c := CategoryResults{Name: category, Status: Skip}
		for _, result := range results {
			if result.category == category {
				c.Checks = append(c.Checks, result)
				c.Status = worse(c.Status, result.Verdict)
			}
		}
		if len(c.Checks) > 0 {
			r.Categories = append(r.Categories, c)
		}
	}
	for _, result := range results {
		r.Summary.Total++
		switch result.Verdict {
		case Pass:
			r.Summary.Passed++
		case Fail:
			r.Summary.Failed++
			r.ConformanceLevel = min(r.ConformanceLevel, result.tier-1)
		case Warn:
			r.Summary.Warnings++
		case Skip:
			r.Summary.Skipped++
		}
	}
	return r
}

func worse(a, b Verdict) Verdict {
	order := []Verdict{Skip, Pass, Warn, Fail}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
