package conform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func checkNotFound(p *prober, rec *recorder) {
	for _, r := range p.resources {
		if why := p.exclusion(r.get); why != "" {
			rec.skip("%s", why)
			continue
		}
		d := r.get.required()[0]
		if p.baseline(r.get).params == nil || d.Type != "string" || d.Pattern != "" || d.Format != "" {
			rec.skip("no made-up %s is known", r.id)
			continue
		}
		const id = "no_such_id"
		x := p.send(r.get, map[string]any{r.id: id})
		if rec.expect(x.answer.code == "NOT_FOUND_RESOURCE", x,
			"operation %s of something that does not exist must fail with NOT_FOUND_RESOURCE", r.get.Name) {
			p.evidence.addFailure(r.get.Name+" of something that does not exist", id, x)
		}
	}
}

func checkInBand(p *prober, rec *recorder) {
	for _, x := range p.log {
		rec.expect(x.reply.Fault == "", x, "the answer is not one text with a response: %s", x.reply.Fault)
	}
}

func checkAnswers(p *prober, rec *recorder) {
	for _, x := range p.log {
		if x.reply.Fault == "" && x != p.evidence.batch {
			rec.expectShape(x, responseShape(x))
		}
	}
}

// eachFailure calls look with every failure of the run so far, also those inside batches.
func (p *prober) eachFailure(look func(x *exchange, code, message string)) {
	for _, x := range p.log {
		if x.answer.wellFormed && !x.answer.success {
			look(x, x.answer.code, x.answer.message)
		}
		for _, result := range objects(x.answer.root["results"]) {
			if failed := parseAnswer(asJSON(result["result"])); failed.wellFormed && !failed.success {
				look(x, failed.code, failed.message)
			}
		}
	}
}

// codeCategories are the beginnings of registered error codes (MCP-AQL structured error codes §3.1).
var codeCategories = []string{
	"VALIDATION_", "NOT_FOUND_", "PERMISSION_", "CONFIRMATION_", "CONFLICT_", "RATE_LIMIT_", "TOKEN_", "INTERNAL_",
	"INTROSPECTION_", "BATCH_",
}

func hasRegisteredCategory(code string) bool {
	return slices.ContainsFunc(codeCategories, func(prefix string) bool { return strings.HasPrefix(code, prefix) })
}

func checkCodes(p *prober, rec *recorder) {
	p.eachFailure(func(x *exchange, code, _ string) {
		if codePattern.MatchString(code) {
			rec.expect(hasRegisteredCategory(code), x, "the code %s begins with no registered category", code)
		}
	})
}

// leaks match what shows the inside of a server in a message: the patterns of the official runner, and some for other
// languages.
var leaks = []*regexp.Regexp{
	regexp.MustCompile(`(?i)typeerror`), regexp.MustCompile(`(?i)referenceerror`), regexp.MustCompile(`(?i)syntaxerror`),
	regexp.MustCompile(`(?i)at\s+\S+`), regexp.MustCompile(`(?i)/src/`), regexp.MustCompile(`(?i)/node_modules/`),
	regexp.MustCompile(`(?i)\.ts:\d+`), regexp.MustCompile(`(?i)\.js:\d+`),
	regexp.MustCompile(`\.(go|py|rb|rs|java|kt|cs|php):\d+`), regexp.MustCompile(`goroutine \d+`),
	regexp.MustCompile(`runtime error:`), regexp.MustCompile(`(?i)traceback \(most recent`),
	regexp.MustCompile(`cannot unmarshal`), regexp.MustCompile(`\bsql: `), regexp.MustCompile(`(?i)SQLSTATE`),
	regexp.MustCompile(`NullPointerException|java\.lang\.|panicked`), regexp.MustCompile(`(?i)\bsqlite3?[:_]`),
	regexp.MustCompile(`0x[0-9a-f]{8,}`),
}

func checkLeaks(p *prober, rec *recorder) {
	look := func(x *exchange, message string) {
		for _, leak := range leaks {
			if found := leak.FindString(message); found != "" {
				rec.fail(exchanges(x),
					"a message holds '%s', which looks like a piece of the server's inside (pattern %s)", found, leak)
				return
			}
		}
		rec.pass(x)
	}
	p.eachFailure(func(x *exchange, _, message string) { look(x, message) })
	for _, x := range p.log {
		for _, warning := range objects(x.answer.root["warnings"]) {
			message, _ := warning["message"].(string)
			look(x, message)
		}
	}
}

func checkIsError(p *prober, rec *recorder) {
	for _, x := range p.log {
		if !x.answer.wellFormed || x.malformed {
			continue
		}
		want := !x.answer.success && (!hasRegisteredCategory(x.answer.code) || strings.HasPrefix(x.answer.code, "INTERNAL_"))
		if !x.answer.success && !hasRegisteredCategory(x.answer.code) {
			continue // errors/codes reports it
		}
		what := "success"
		if !x.answer.success {
			what = x.answer.code
		}
		rec.expect(x.reply.IsError == want, x, "isError of an answer with %s must be %v", what, want)
	}
}

func checkDetails(p *prober, rec *recorder) {
	for _, x := range p.log {
		applies := x.answer.wellFormed && !x.introspection && !x.malformed && x.answer.code != "VALIDATION_PAYLOAD_TOO_LARGE"
		if applies && strings.HasPrefix(x.answer.code, "VALIDATION_") {
			rec.expect(len(x.answer.details) > 0, x, "an error with the code %s has no details", x.answer.code)
		}
	}
}

func checkInternal(p *prober, rec *recorder) {
	p.eachFailure(func(x *exchange, code, _ string) {
		rec.expect(!strings.HasPrefix(code, "INTERNAL_"), x,
			"a request ended in %s", fmt.Sprintf("%s: %s", code, x.answer.message))
	})
}
