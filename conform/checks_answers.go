package conform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// answerChecks look at every answer of the run.
func answerChecks() []check {
	return []check{
		{"errors/not-found", "reading what does not exist is told as such", []string{"REQ-ER-03"}, Must, ErrorsGood, 1, checkNotFound},
		{"errors/in-band", "what is wrong with a request is told in the answer, not by the transport", []string{"REQ-RS-06", "REQ-RS-07", "REQ-VO-04"}, Must, ErrorsGood, 1, checkInBand},
		{"errors/shape", "every answer has the discriminated, closed shape", []string{"REQ-RS-01", "REQ-RS-02", "REQ-RS-03", "REQ-RS-04", "REQ-RS-05", "REQ-MT-04", "REQ-ER-01"}, Must, ErrorsGood, 1, checkAnswers},
		{"errors/codes", "error codes begin with a registered category", []string{"REQ-ER-02"}, Must, ErrorsGood, 1, checkCodes},
		{"errors/leaks", "no message shows what the server is made of", []string{"REQ-ER-08", "REQ-ER-14"}, Must, ErrorsGood, 1, checkLeaks},
		{"errors/is-error", "isError is for what a client cannot mend", []string{"REQ-TL-13", "REQ-TL-14"}, Must, ErrorsGood, 1, checkIsError},
		{"errors/details", "validation errors carry details", []string{"REQ-ER-07"}, Should, ErrorsGood, 1, checkDetails},
		{"errors/internal", "no sound request ends in an internal error", []string{"REQ-ER-03"}, Should, ErrorsGood, 1, checkInternal},
	}
}

func checkNotFound(p *prober, v *verdict) {
	for _, r := range p.resources {
		if why := p.barred(r.get); why != "" {
			v.skip("%s", why)
			continue
		}
		if p.base(r.get).params == nil || r.get.required()[0].Type != "string" || r.get.required()[0].Pattern != "" || r.get.required()[0].Format != "" {
			v.skip("no made-up %s is known", r.id)
			continue
		}
		const id = "no_such_id"
		x := p.send(r.get, map[string]any{r.id: id})
		if v.hold(x.answer.code == "NOT_FOUND_RESOURCE", x, "operation %s of something that does not exist must fail with NOT_FOUND_RESOURCE", r.get.Name) {
			p.evidence.failure(r.get.Name+" of something that does not exist", id, x)
		}
	}
}

func checkInBand(p *prober, v *verdict) {
	for _, x := range p.log {
		v.hold(x.reply.Fault == "", x, "the answer is not one text with a response: %s", x.reply.Fault)
	}
}

func checkAnswers(p *prober, v *verdict) {
	for _, x := range p.log {
		if x.reply.Fault == "" && x != p.evidence.batch {
			v.shaped(x, responseShape(x))
		}
	}
}

// failures are all errors that were seen, those of batches included.
func (p *prober) failures(look func(x *exchange, code, message string)) {
	for _, x := range p.log {
		if x.answer.ok && !x.answer.success {
			look(x, x.answer.code, x.answer.message)
		}
		for _, result := range objects(x.answer.root["results"]) {
			if failed := parseAnswer(asJSON(result["result"])); failed.ok && !failed.success {
				look(x, failed.code, failed.message)
			}
		}
	}
}

var prefixes = []string{"VALIDATION_", "NOT_FOUND_", "PERMISSION_", "CONFIRMATION_", "CONFLICT_", "RATE_LIMIT_", "TOKEN_", "INTERNAL_", "INTROSPECTION_", "BATCH_"}

func registered(code string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(code, prefix) })
}

func checkCodes(p *prober, v *verdict) {
	p.failures(func(x *exchange, code, _ string) {
		if codeForm.MatchString(code) {
			v.hold(registered(code), x, "the code %s begins with no registered category", code)
		}
	})
}

// The patterns of the official runner (REQ-ER-14), and what other languages leave in messages.
var leaks = []*regexp.Regexp{
	regexp.MustCompile(`(?i)typeerror`), regexp.MustCompile(`(?i)referenceerror`), regexp.MustCompile(`(?i)syntaxerror`), regexp.MustCompile(`(?i)at\s+\S+`),
	regexp.MustCompile(`(?i)/src/`), regexp.MustCompile(`(?i)/node_modules/`), regexp.MustCompile(`(?i)\.ts:\d+`), regexp.MustCompile(`(?i)\.js:\d+`),
	regexp.MustCompile(`\.(go|py|rb|rs|java|kt|cs|php):\d+`), regexp.MustCompile(`goroutine \d+`), regexp.MustCompile(`runtime error:`),
	regexp.MustCompile(`(?i)traceback \(most recent`), regexp.MustCompile(`cannot unmarshal`), regexp.MustCompile(`\bsql: `), regexp.MustCompile(`(?i)SQLSTATE`),
	regexp.MustCompile(`NullPointerException|java\.lang\.|panicked`), regexp.MustCompile(`(?i)\bsqlite3?[:_]`), regexp.MustCompile(`0x[0-9a-f]{8,}`),
}

func checkLeaks(p *prober, v *verdict) {
	look := func(x *exchange, message string) {
		for _, leak := range leaks {
			if found := leak.FindString(message); found != "" {
				v.wrong(exchanges(x), "a message holds '%s', which looks like a piece of the server's inside (pattern %s)", found, leak)
				return
			}
		}
		v.ok(x)
	}
	p.failures(func(x *exchange, _, message string) { look(x, message) })
	for _, x := range p.log {
		for _, warning := range objects(x.answer.root["warnings"]) {
			message, _ := warning["message"].(string)
			look(x, message)
		}
	}
}

func checkIsError(p *prober, v *verdict) {
	for _, x := range p.log {
		if !x.answer.ok || x.raw {
			continue
		}
		want := !x.answer.success && (!registered(x.answer.code) || strings.HasPrefix(x.answer.code, "INTERNAL_"))
		if !x.answer.success && !registered(x.answer.code) {
			continue // the code is wrong already
		}
		what := "success"
		if !x.answer.success {
			what = x.answer.code
		}
		v.hold(x.reply.IsError == want, x, "isError of an answer with %s must be %v", what, want)
	}
}

func checkDetails(p *prober, v *verdict) {
	for _, x := range p.log {
		if x.answer.ok && !x.introspection && !x.raw && strings.HasPrefix(x.answer.code, "VALIDATION_") && x.answer.code != "VALIDATION_PAYLOAD_TOO_LARGE" {
			v.hold(len(x.answer.details) > 0, x, "an error with the code %s has no details", x.answer.code)
		}
	}
}

func checkInternal(p *prober, v *verdict) {
	p.failures(func(x *exchange, code, _ string) {
		v.hold(!strings.HasPrefix(code, "INTERNAL_"), x, "a request ended in %s", fmt.Sprintf("%s: %s", code, x.answer.message))
	})
}
