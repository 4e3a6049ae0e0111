package conform

import (
	"fmt"
	"slices"
	"strings"
)

func checkDanger(p *prober, rec *recorder) {
	declared, there := p.protocol["danger_levels"].(map[string]any)
	for name, level := range declared {
		text, _ := level.(string)
		if object, ok := level.(map[string]any); ok {
			text, _ = object["level"].(string)
		}
		rec.expect(slices.Contains(dangerLevels, text), p.operationsList,
			"the danger level of operation %s is %s, which is none of %s", name, clip(asJSON(level), 80),
			strings.Join(dangerLevels, ", "))
	}
	if !p.capability("dangerous_operations") || there || p.protocol["danger"] != nil {
		rec.skip("'_protocol' claims no dangerous_operations and has no danger_levels")
		return
	}
	silent := 0
	for _, o := range p.operations {
		if o.Category != "READ" && o.dangerSaid == "" && !dangerText.MatchString(o.Description) {
			silent++
		}
	}
	rec.expect(
		silent == 0,
		p.operationsList,
		"the capability dangerous_operations is claimed, but neither '_protocol' nor "+
			"the details tell a danger level of %d operations that are not READ",
		silent,
	)
}

func checkDescriptions(p *prober, rec *recorder) {
	for _, d := range p.details {
		o := p.operation(d.name)
		if o == nil {
			rec.unjudged("the details of operation %s cannot be read", d.name)
			continue
		}
		rec.expect(o.Description != "", d.exchange, "operation %s has no description", d.name)
		for _, param := range o.Parameters {
			rec.expect(param.Description != "", d.exchange, "parameter '%s' of operation %s has no description", param.Name,
				d.name)
		}
	}
}

func checkExamples(p *prober, rec *recorder) {
	for _, o := range p.operations {
		x := p.detailExchange(o)
		if o.exampleTexts > 0 {
			rec.fail(exchanges(x), "%d of the examples of operation %s are no requests, but text", o.exampleTexts, o.Name)
		}
		if len(o.Examples) == 0 {
			if o.exampleTexts == 0 {
				rec.fail(exchanges(x), "operation %s has no example", o.Name)
			}
			continue
		}
		rec.pass(x)
		for i, e := range o.Examples {
			what := fmt.Sprintf("example %d of operation %s", i+1, o.Name)
			rec.expect(e.operation == o.Name, x, "%s calls operation '%s'", what, e.operation)
			for _, d := range o.required() {
				_, there := e.params[d.Name]
				rec.expect(there, x, "%s lacks the required parameter '%s'", what, d.Name)
			}
			for name := range e.params {
				rec.expect(o.param(name) != nil || strings.HasPrefix(name, "_"), x,
					"%s has the parameter '%s', which is not documented", what, name)
			}
		}
	}
	for _, name := range p.unread {
		rec.unjudged("the details of operation %s cannot be read", name)
	}
}

// detailExchange returns the exchange with the details of an operation.
func (p *prober) detailExchange(o *operation) *exchange {
	if d := p.detailsOf[o.Name]; d != nil {
		return d.exchange
	}
	return nil
}
