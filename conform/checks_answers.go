package conform

import (
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
		if b := p.baseline(r.get); b.params == nil {
			rec.unjudged("%s", noRequest(r.get, b))
			continue
		}
		if d.Type != "string" || d.Pattern != "" || d.Format != "" || len(d.Enum) > 0 {
			rec.unjudged("a valid '%s' of something that does not exist cannot be made up", r.id)
			continue
		}
		const id = "no_such_id"
		x := p.send(r.get, map[string]any{r.id: id})
		if rec.expectCode(x, "NOT_FOUND_RESOURCE", "operation %s of something that does not exist", r.get.Name) {
			p.evidence.addFailure(r.get.Name+" of something that does not exist", id, x)
		}
	}
	p.nothingPaired(rec)
}

func checkInBand(p *prober, rec *recorder) {
	for _, x := range p.log {
		switch {
		case x.reply.Fault != "":
			rec.fail(exchanges(x), "the answer is not one text with a response: %s", clip(x.reply.Fault, 200))
		case x.answer.root == nil:
			rec.fail(exchanges(x), "the text of the answer holds no JSON object")
		default:
			rec.pass(x)
		}
	}
}

func checkAnswers(p *prober, rec *recorder) {
	for _, x := range p.log {
		if x.reply.Fault == "" && x != p.evidence.batch {
			wrong := responseShape(x)
			if slices.Contains(x.answer.deviations, proseAround) {
				wrong = append([]string{"there is text around the JSON"}, wrong...)
			}
			if slices.Contains(x.answer.deviations, hiddenFailure) {
				wrong = append([]string{"'success' is true, and the data tells of a failure"}, wrong...)
			}
			rec.expectShape(x, wrong)
		}
	}
}

// eachFailure calls look with every failure of the run so far, also those inside batches.
func (p *prober) eachFailure(look func(x *exchange, code, message string)) {
	for _, x := range p.log {
		if strings.HasPrefix(x.reply.Fault, jsonRPCError) {
			continue // errors/in-band reports it
		}
		if x.answer.failed && x.answer.root["results"] == nil {
			look(x, x.answer.code, x.answer.message)
		}
		for _, result := range objects(x.answer.root["results"]) {
			if inner := readAnswer(Reply{Text: asJSON(result["result"])}, false); inner.failed {
				look(x, inner.code, inner.message)
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
		if code == "" {
			rec.fail(exchanges(x), "a failure has no code")
			return
		}
		rec.expect(hasRegisteredCategory(code), x, "the code %s begins with no registered category", code)
	})
	rec.skip("the server did not answer with a failure")
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
	rec.skip("the server did not answer with a message")
}

func checkIsError(p *prober, rec *recorder) {
	for _, x := range p.log {
		if x.unreadable() || x.malformed || strings.HasPrefix(x.reply.Fault, jsonRPCError) {
			continue
		}
		if x.answer.failed && !hasRegisteredCategory(x.answer.code) {
			rec.unjudged("failures have no registered code that says whether a client could mend them")
			continue
		}
		want := x.answer.failed && strings.HasPrefix(x.answer.code, "INTERNAL_")
		what := "success"
		if x.answer.failed {
			what = x.answer.code
		}
		rec.expect(x.reply.IsError == want, x, "isError of an answer with %s must be %v", what, want)
	}
}

func checkDetails(p *prober, rec *recorder) {
	for _, x := range p.log {
		applies := !x.introspection && !x.malformed && x.answer.code != "VALIDATION_PAYLOAD_TOO_LARGE"
		switch {
		case !applies || !x.answer.failed || strings.HasPrefix(x.reply.Fault, jsonRPCError):
		case strings.HasPrefix(x.answer.code, "VALIDATION_"):
			rec.expect(len(x.answer.details) > 0, x, "an error with the code %s has no details", x.answer.code)
		case !hasRegisteredCategory(x.answer.code):
			rec.unjudged("failures have no registered code that says which of them are about validation")
		}
	}
	rec.skip("no request, other than those of introspect, was refused as invalid")
}

func checkInternal(p *prober, rec *recorder) {
	p.eachFailure(func(x *exchange, code, _ string) {
		if !hasRegisteredCategory(code) {
			rec.unjudged("failures have no registered code that says which of them are internal")
			return
		}
		rec.expect(!strings.HasPrefix(code, "INTERNAL_"), x,
			"a request ended in %s", clip(code+": "+x.answer.message, 200))
	})
	rec.skip("the server did not answer with a failure")
}
