package conform

import (
	"encoding/json"
	"slices"
)

// Level is how binding the requirements of a check are.
type Level string

// The levels, with the meaning of RFC 2119.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts. A broken MUST is a Fail and a broken SHOULD a Warn. A check is skipped if the server has nothing that
// it is about, or if it would need calls that the options do not permit. It is not judged if it applies, and the
// answers of the server do not show whether the rule holds.
const (
	Pass      Verdict = "pass"
	Fail      Verdict = "fail"
	Warn      Verdict = "warn"
	Skip      Verdict = "skip"
	NotJudged Verdict = "not judged"
)

// Category is one of the categories of MCP-AQL conformance testing §3 and §4.
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

// Report is the result of a run. Encoded with encoding/json it is the JSON report (MCP-AQL conformance testing §6).
type Report struct {
	Implementation string `json:"implementation"`
	Version        string `json:"version"`
	SpecVersion    string `json:"specVersion"`
	RequestedLevel int    `json:"requestedLevel"`
	// ConformanceLevel is the highest level of which every MUST that was looked at was judged and holds; 0: level 1 has
	// one that is broken or was not judged. Checks that were skipped or left out do not count.
	ConformanceLevel int               `json:"conformanceLevel"`
	Mode             string            `json:"mode"` // semantic, single or all, as found
	Seed             uint64            `json:"seed"`
	Calls            int               `json:"calls"`
	Summary          Summary           `json:"summary"`
	Deviations       []Deviation       `json:"deviations"` // what was understood in another way than the protocol's
	NotCalled        []string          `json:"notCalled"`  // why operations were not called, a sentence each
	Categories       []CategoryResults `json:"categories"`

	prober *prober // for Bundle
}

// Summary counts the verdicts.
type Summary struct {
	Total    int `json:"total"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Warnings int `json:"warnings"`
	Skipped  int `json:"skipped"`
	// NotJudged is the number of checks with that verdict. PartlyJudged is the number of those with another verdict,
	// which holds for what was judged, while something else was not.
	NotJudged    int `json:"notJudged"`
	PartlyJudged int `json:"partlyJudged"`
}

// CategoryResults are the results of the checks in a category.
type CategoryResults struct {
	Name   Category `json:"name"`
	Status Verdict  `json:"status"` // the worst of its checks
	Checks []Result `json:"tests"`
}

// Result is the result of one check.
type Result struct {
	Name         string   `json:"name"`
	Title        string   `json:"title"`
	Requirements []string `json:"requirements"` // ids in docs/requirements.md
	Level        Level    `json:"level"`
	Verdict      Verdict  `json:"status"`
	Reason       string   `json:"reason,omitempty"` // why it was skipped, or not judged
	// NotJudged says what else is not judged, and why. The verdict is about the rest.
	NotJudged []string  `json:"notJudged,omitempty"`
	Findings  []Finding `json:"findings,omitempty"`
	// Evidence is a request that the server answered as required; nil: there is none.
	Evidence *Exchange `json:"evidence,omitempty"`

	category Category
	tier     int
}

// Finding is one violation.
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

// Results returns the results of all checks, by category.
func (r *Report) Results() []Result {
	var all []Result
	for _, c := range r.Categories {
		all = append(all, c.Checks...)
	}
	return all
}

// ExitCode returns the exit code of a command that made the report: 0 if every check passed or was skipped, 1 if a MUST
// is broken, 2 if only a SHOULD is. These are the codes of the official conformance runner, which knows no other
// verdict; 5 means that nothing is broken, and that a check was not judged.
func (r *Report) ExitCode() int {
	switch {
	case r.Summary.Failed > 0:
		return 1
	case r.Summary.Warnings > 0:
		return 2
	case r.Summary.NotJudged > 0:
		return 5
	}
	return 0
}

// report makes the report of the run.
func (p *prober) report(results []Result) *Report {
	r := &Report{
		Implementation: p.options.Implementation, Version: p.options.Version, SpecVersion: p.version,
		RequestedLevel: p.options.Level, ConformanceLevel: p.options.Level, Mode: p.mode(), Seed: p.options.Seed,
		Calls: len(p.log), Deviations: p.met.export(), NotCalled: []string{},
		prober: p,
	}
	for _, o := range p.operations {
		if why := p.exclusion(o); why != "" {
			r.NotCalled = append(r.NotCalled, why)
		}
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
		if len(result.NotJudged) > 0 && result.Verdict != NotJudged {
			r.Summary.PartlyJudged++
		}
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
		case NotJudged:
			r.Summary.NotJudged++
			if result.Level == Must {
				r.ConformanceLevel = min(r.ConformanceLevel, result.tier-1)
			}
		}
	}
	return r
}

func worse(a, b Verdict) Verdict {
	order := []Verdict{Skip, Pass, NotJudged, Warn, Fail}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}
