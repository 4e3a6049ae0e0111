package main

import (
	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/propose"
)

// placeJSON is a place as all machine-readable output of the command spells it.
type placeJSON struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

type candidateJSON struct {
	Function string `json:"function"`
	placeJSON
	Operation   string   `json:"operation"`
	Category    string   `json:"category"`
	Danger      string   `json:"danger"`
	Guessed     bool     `json:"guessed,omitempty"`
	Params      []string `json:"params,omitempty"`
	Identifiers []string `json:"identifiers,omitempty"`
	Directives  []string `json:"directives"`
	Checks      []string `json:"checks,omitempty"`
	Locked      string   `json:"locked,omitempty"`
}

type existingJSON struct {
	Function string `json:"function"`
	placeJSON
	Operation string `json:"operation"`
}

type rejectionJSON struct {
	Function string `json:"function"`
	placeJSON
	Reason     string `json:"reason"`
	Suggestion string `json:"suggestion,omitempty"`
	Unexported bool   `json:"unexported,omitempty"`
}

type proposedPackageJSON struct {
	Path       string          `json:"path"`
	Name       string          `json:"name"`
	Dir        string          `json:"dir"`
	Candidates []candidateJSON `json:"candidates"`
	Operations []existingJSON  `json:"operations"`
	Rejected   []rejectionJSON `json:"rejected"`
}

// printProposalsJSON prints everything that is known, unexported functions included, as one object.
func printProposalsJSON(env *environment, proposals propose.Proposals, written []string) error {
	out := struct {
		Packages    []proposedPackageJSON `json:"packages"`
		Diagnostics []diag.Diagnostic     `json:"diagnostics"`
		Written     []string              `json:"written"`
	}{
		Packages: []proposedPackageJSON{}, Diagnostics: append([]diag.Diagnostic{}, proposals.Diagnostics...),
		Written: append([]string{}, written...),
	}
	for _, pkg := range proposals.Packages {
		p := proposedPackageJSON{
			Path: pkg.Path, Name: pkg.Name, Dir: pkg.Dir,
			Candidates: []candidateJSON{}, Operations: []existingJSON{}, Rejected: []rejectionJSON{},
		}
		for _, c := range pkg.Candidates {
			p.Candidates = append(p.Candidates, candidateJSON{
				Function: c.Function, placeJSON: placeJSON(c.Position), Operation: c.Operation, Category: string(c.Category),
				Danger: string(c.Danger), Guessed: c.Guessed,
				Params: c.Params, Identifiers: c.Identifiers, Directives: c.Directives, Checks: c.Checks, Locked: c.Locked,
			})
		}
		for _, e := range pkg.Existing {
			p.Operations = append(p.Operations, existingJSON{e.Function, placeJSON(e.Position), e.Operation})
		}
		for _, r := range pkg.Rejected {
			p.Rejected = append(p.Rejected, rejectionJSON{
				r.Function, placeJSON(r.Position), r.Reason, r.Suggestion, r.Unexported,
			})
		}
		out.Packages = append(out.Packages, p)
	}
	return writeJSON(env, out)
}
