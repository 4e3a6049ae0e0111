package conform

import (
	"fmt"
	"slices"
	"strings"
)

// recorder records what a check finds.
type recorder struct {
	findings []Finding
	moreThan int // findings that are not kept
	seen     map[string]bool
	example  *exchange
	passed   bool
	reason   string
	open     []string // why something is not judged
	moreOpen int
}

// pass records that a rule holds; x, which may be nil, is an exchange that shows it.
func (rec *recorder) pass(x *exchange) {
	rec.passed = true
	if rec.example == nil {
		rec.example = x
	}
}

// skip records why a rule does not apply, or must not be looked at by the options. It is reported if nothing else was
// checked.
func (rec *recorder) skip(format string, args ...any) {
	if rec.reason == "" {
		rec.reason = fmt.Sprintf(format, args...)
	}
}

// unjudged records that a rule applies, and why the run cannot tell whether it holds.
func (rec *recorder) unjudged(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	if rec.isNew("unjudged " + why) {
		if len(rec.open) < maxFindings {
			rec.open = append(rec.open, why)
		} else {
			rec.moreOpen++
		}
	}
}

// fail records a violation with the exchanges that show it.
func (rec *recorder) fail(shown []*exchange, format string, args ...any) {
	f := Finding{Message: fmt.Sprintf(format, args...)}
	if !rec.isNew(f.Message) {
		return
	}
	if len(rec.findings) >= maxFindings {
		rec.moreThan++
		return
	}
	for _, x := range shown {
		f.Evidence = append(f.Evidence, x.export())
	}
	rec.findings = append(rec.findings, f)
}

// isNew reports whether a sentence was not recorded before.
func (rec *recorder) isNew(sentence string) bool {
	if rec.seen == nil {
		rec.seen = map[string]bool{}
	}
	was := rec.seen[sentence]
	rec.seen[sentence] = true
	return !was
}

// expect records that a rule holds or, with a message, that it is violated.
func (rec *recorder) expect(right bool, x *exchange, format string, args ...any) bool {
	if right {
		rec.pass(x)
	} else {
		rec.fail(exchanges(x), format, args...)
	}
	return right
}

// expectSuccess records that a request succeeded, or failed: the format says what it is.
func (rec *recorder) expectSuccess(x *exchange, format string, args ...any) {
	if rec.needSuccess(x, format, args...) {
		rec.pass(x)
	}
}

// needSuccess is expectSuccess where success alone does not show that the rule holds.
func (rec *recorder) needSuccess(x *exchange, format string, args ...any) bool {
	what := fmt.Sprintf(format, args...)
	switch {
	case x.answer.success:
	case x.answer.failed:
		rec.fail(exchanges(x), "%s fails%s", what, because(x))
	default:
		rec.unjudged("the answer to %s can be read neither as success nor as failure", what)
	}
	return x.answer.success
}

// because says what the error of a failure is.
func because(x *exchange) string {
	switch {
	case x.answer.code != "":
		return " with " + x.answer.code
	case x.answer.message != "":
		return fmt.Sprintf(" with the message '%s'", clip(x.answer.message, 160))
	}
	return ""
}

// expectCode records whether a request failed with a code; the format says what the request is. It is not judged
// whether a failure without a code is the right one: that it has none is the finding of errors/codes.
func (rec *recorder) expectCode(x *exchange, code, format string, args ...any) bool {
	what := fmt.Sprintf(format, args...)
	switch {
	case x.answer.code == code && x.answer.failed:
		rec.pass(x)
		return true
	case x.answer.success:
		rec.fail(exchanges(x), "%s must fail with %s, and succeeds", what, code)
	case x.uncoded():
		rec.unjudged("%s fails, as it must, but the error has no code that could be %s", what, code)
	case x.answer.failed:
		rec.fail(exchanges(x), "%s must fail with %s, not with %s", what, code, x.answer.code)
	default:
		rec.unjudged("the answer to %s can be read neither as success nor as failure", what)
	}
	return false
}

// expectRefusal records whether the parameters of a request were refused; the format says what the request is, and
// control sends it without what is wrong in it. A failure without a code is a refusal if the control succeeds.
func (rec *recorder) expectRefusal(x *exchange, control func() *exchange, format string, args ...any) bool {
	what := fmt.Sprintf(format, args...)
	switch refusalOf(x) {
	case refused:
		rec.pass(x)
		return true
	case accepted:
		if x.answer.success {
			rec.fail(exchanges(x), "%s succeeds", what)
		} else {
			rec.fail(exchanges(x), "%s is not refused as invalid: it fails%s", what, because(x))
		}
	case perhaps:
		if y := control(); y.answer.success {
			rec.pass(x)
			return true
		}
		rec.unjudged("%s fails%s, and so does the request without what is wrong in it", what, because(x))
	default:
		rec.unjudged("the answer to %s can be read neither as success nor as failure", what)
	}
	return false
}

// refusal says whether an answer refuses the parameters of a request.
type refusal int

const (
	unknown  refusal = iota // the answer cannot be read
	accepted                // it succeeds, or fails for another reason
	perhaps                 // it fails without a code of the protocol
	refused
)

// refusalOf returns what an answer alone shows.
func refusalOf(x *exchange) refusal {
	switch a := x.answer; {
	case a.success:
		return accepted
	case !a.failed:
		return unknown
	case strings.HasPrefix(a.code, "VALIDATION_"), x.introspection && a.code == "INTROSPECTION_ERROR",
		a.code == "BATCH_VALIDATION_ERROR":
		return refused
	case hasRegisteredCategory(a.code):
		return accepted
	}
	return perhaps
}

// expectRefused expects that an operation refuses the parameters of a request, which differ in one way from those that
// it accepts.
func (p *prober) expectRefused(
	rec *recorder, o *operation, b *baseline, x *exchange, format string, args ...any,
) bool {
	return rec.expectRefusal(x, func() *exchange { return p.control(o, b) }, format, args...)
}

// expectRefusedAs is expectRefused with the code that the error must have. That an error has no code is the finding of
// errors/codes: here it is only not judged whether it would be the right one.
func (p *prober) expectRefusedAs(
	rec *recorder, o *operation, b *baseline, x *exchange, code, format string, args ...any,
) bool {
	what := fmt.Sprintf(format, args...)
	if !x.uncoded() {
		return rec.expectCode(x, code, "%s", what)
	}
	if p.expectRefused(rec, o, b, x, "%s", what) {
		rec.unjudged("%s fails, as it must, but the error has no code that could be %s", what, code)
		return true
	}
	return false
}

// control sends the request that an operation accepts again, once in a run if the operation only reads.
func (p *prober) control(o *operation, b *baseline) *exchange {
	if x := p.controls[o]; x != nil {
		return x
	}
	x := p.send(o, p.freshParams(o, b))
	if o.Category == "READ" {
		p.controls[o] = x
	}
	return x
}

func exchanges(all ...*exchange) []*exchange {
	return slices.DeleteFunc(all, func(x *exchange) bool { return x == nil })
}

// maxFindings is the number of findings of a check that a report shows; the rest is counted.
const maxFindings = 25

// runCheck runs a check and returns its result.
func (p *prober) runCheck(c check) Result {
	r := Result{
		Name: c.name, Title: c.title, Requirements: strings.Fields(c.requirements), Level: c.level,
		category: c.category, tier: c.tier,
	}
	if p.stopped != nil {
		r.Verdict, r.Reason = NotJudged, "the server does not answer any more"
		return r
	}
	var rec recorder
	c.run(p, &rec)
	if p.stopped != nil {
		stop := Finding{Message: "The server stopped answering: " + p.stopped.Error()}
		if len(p.log) > 0 {
			stop.Evidence = []Exchange{p.log[len(p.log)-1].export()}
		}
		r.Verdict, r.Findings = Fail, []Finding{stop}
		return r
	}
	r.NotJudged = rec.open
	if rec.moreOpen > 0 {
		r.NotJudged = append(r.NotJudged, fmt.Sprintf("…and %d more", rec.moreOpen))
	}
	switch {
	case len(rec.findings) > 0:
		r.Verdict, r.Findings = Fail, rec.findings
		if c.level == Should {
			r.Verdict = Warn
		}
		if rec.moreThan > 0 {
			r.Findings = append(r.Findings, Finding{Message: fmt.Sprintf("…and %d more", rec.moreThan)})
		}
	case rec.passed:
		r.Verdict = Pass
		if rec.example != nil {
			shown := rec.example.export()
			r.Evidence = &shown
		}
	case len(rec.open) > 0:
		r.Verdict, r.Reason, r.NotJudged = NotJudged, rec.open[0], r.NotJudged[1:]
	default:
		r.Verdict, r.Reason = Skip, rec.reason
		if r.Reason == "" {
			r.Reason = "the server has nothing that this is about"
		}
	}
	return r
}
