package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// prober is one run against one server. It keeps what several checks need.
type prober struct {
	ctx     context.Context // of Run
	server  Server
	options Options
	random  *rand.Rand
	serial  int // makes words unique

	discovery
	log         []*exchange
	answerBytes int   // length of all answers
	stopped     error // why the server does not answer any more; nil: it does

	baselines       map[*operation]*baseline
	unknownSent     map[*operation]*exchange
	variations      map[*operation][]*exchange
	rejectedSamples map[*param]*exchange
	resources       []*resource
	fixtures        map[*resource]*fixture
	creating        map[*resource]bool
	evidence        evidence
}

func newProber(ctx context.Context, server Server, options Options) *prober {
	return &prober{
		ctx: ctx, server: server, options: options, random: rand.New(rand.NewPCG(options.Seed, 0)),
		baselines: map[*operation]*baseline{}, unknownSent: map[*operation]*exchange{},
		variations:      map[*operation][]*exchange{},
		rejectedSamples: map[*param]*exchange{}, fixtures: map[*resource]*fixture{}, creating: map[*resource]bool{},
	}
}

// exchange is a request and its answer.
type exchange struct {
	tool, request string
	reply         Reply
	answer        answer
	introspection bool // the request is one of introspect, whose answers have rules of their own
	malformed     bool // the request is malformed on purpose, so that some rules for answers do not apply
}

// answer is a response; what it lacks is zero.
type answer struct {
	wellFormed bool // it is an object with a boolean "success"
	success    bool
	root       map[string]any
	data       any
	code       string
	message    string
	details    map[string]any
}

// maxAnswerBytes bounds the length of all answers of a run together, because the run keeps them.
const maxAnswerBytes = 256 << 20

// call sends a request. If the server has stopped answering, it returns an empty answer at once.
func (p *prober) call(tool string, request any) *exchange {
	text, err := json.Marshal(request)
	if err != nil {
		return &exchange{tool: tool, reply: Reply{Fault: err.Error()}}
	}
	x := &exchange{tool: tool, request: string(text)}
	if object, ok := request.(map[string]any); ok {
		x.introspection = object["operation"] == "introspect"
	}
	if p.stopped != nil {
		return x
	}
	timeout := p.options.CallTimeout
	ctx, cancel := context.WithTimeoutCause(p.ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	x.reply, err = p.server.Call(ctx, tool, text)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		p.stopped = err
		x.reply.Fault = err.Error()
	}
	if p.answerBytes += len(x.reply.Text); p.answerBytes > maxAnswerBytes && p.stopped == nil {
		p.stopped = fmt.Errorf("its answers add up to more than %d bytes", maxAnswerBytes)
	}
	x.answer = parseAnswer(x.reply.Text)
	p.log = append(p.log, x)
	return x
}

// send calls an operation through its own tool.
func (p *prober) send(o *operation, params map[string]any) *exchange {
	return p.call(o.Tool, request(o, params))
}

func request(o *operation, params map[string]any) map[string]any {
	return map[string]any{"operation": o.Name, "params": params}
}

func parseAnswer(text string) (a answer) {
	value, err := parse(text)
	if err != nil {
		return a
	}
	a.root, _ = value.(map[string]any)
	a.success, a.wellFormed = a.root["success"].(bool)
	a.data = a.root["data"]
	failure, _ := a.root["error"].(map[string]any)
	a.code, _ = failure["code"].(string)
	a.message, _ = failure["message"].(string)
	a.details, _ = failure["details"].(map[string]any)
	return a
}

// parse reads one JSON value with its numbers as json.Number.
func parse(text string) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("there is more behind the value")
	}
	return value, nil
}

// export returns an exchange for the report.
func (x *exchange) export() Exchange {
	e := Exchange{Tool: x.tool, Request: json.RawMessage(x.request), IsError: x.reply.IsError, Fault: x.reply.Fault}
	const most = 20_000
	switch text := x.reply.Text; {
	case text == "":
	case len(text) <= most && json.Valid([]byte(text)):
		e.Response = json.RawMessage(text)
	default:
		if len(text) > most {
			text = fmt.Sprintf("%s… (%d bytes)", text[:most], len(text))
		}
		e.Response, _ = json.Marshal(text) // a string can always be encoded
	}
	return e
}

// recorder records what a check finds.
type recorder struct {
	findings []Finding
	example  *exchange
	passed   bool
	reason   string
}

// pass records that a rule holds; x, which may be nil, is an exchange that shows it.
func (rec *recorder) pass(x *exchange) {
	rec.passed = true
	if rec.example == nil {
		rec.example = x
	}
}

// skip records why something was not checked. It is reported if nothing else was checked.
func (rec *recorder) skip(format string, args ...any) {
	if rec.reason == "" {
		rec.reason = fmt.Sprintf(format, args...)
	}
}

// fail records a violation with the exchanges that show it.
func (rec *recorder) fail(shown []*exchange, format string, args ...any) {
	f := Finding{Message: fmt.Sprintf(format, args...)}
	for _, x := range shown {
		f.Evidence = append(f.Evidence, x.export())
	}
	rec.findings = append(rec.findings, f)
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
		r.Verdict, r.Reason = Skip, "the server does not answer any more"
		return r
	}
	var v recorder
	c.run(p, &v)
	if p.stopped != nil {
		last := p.log[len(p.log)-1]
		r.Verdict = Fail
		r.Findings = []Finding{{
			Message: "The server stopped answering: " + p.stopped.Error(), Evidence: []Exchange{last.export()},
		}}
		return r
	}
	switch {
	case len(v.findings) > 0:
		r.Verdict, r.Findings = Fail, distinct(v.findings)
		if c.level == Should {
			r.Verdict = Warn
		}
		if more := len(r.Findings) - maxFindings; more > 0 {
			r.Findings = append(r.Findings[:maxFindings], Finding{Message: fmt.Sprintf("…and %d more", more)})
		}
	case v.passed:
		r.Verdict = Pass
		if v.example != nil {
			shown := v.example.export()
			r.Evidence = &shown
		}
	default:
		r.Verdict, r.Reason = Skip, v.reason
		if r.Reason == "" {
			r.Reason = "the server has nothing that this is about"
		}
	}
	return r
}

// distinct leaves out findings with the message of an earlier one.
func distinct(findings []Finding) []Finding {
	seen := map[string]bool{}
	return slices.DeleteFunc(findings, func(f Finding) bool {
		was := seen[f.Message]
		seen[f.Message] = true
		return was
	})
}

// with returns a copy of params with one parameter set.
func with(params map[string]any, name string, value any) map[string]any {
	changed := maps.Clone(params)
	if changed == nil {
		changed = map[string]any{}
	}
	changed[name] = value
	return changed
}

// without returns a copy of params without one parameter.
func without(params map[string]any, name string) map[string]any {
	changed := maps.Clone(params)
	delete(changed, name)
	return changed
}
