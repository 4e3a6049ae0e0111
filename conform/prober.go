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

// prober is one run against one server.
type prober struct {
	ctx     context.Context // a run is one call; no check has another
	server  Server
	options Options
	random  *rand.Rand
	serial  int // makes names that nobody else has

	discovery
	log         []*exchange
	answerBytes int   // bytes of answers
	stopped     error // why the server does not answer any more

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
		baselines: map[*operation]*baseline{}, unknownSent: map[*operation]*exchange{}, variations: map[*operation][]*exchange{},
		rejectedSamples: map[*param]*exchange{}, fixtures: map[*resource]*fixture{}, creating: map[*resource]bool{},
	}
}

// exchange is a request and what came back.
type exchange struct {
	tool, request string
	reply         Reply
	answer        answer
	introspection bool // what the answer to introspect looks like has rules of its own
	malformed     bool // the request is broken on purpose in a way that has no rules for the answer
}

// answer is a response, as far as it is one.
type answer struct {
	wellFormed bool // it is an object with a boolean success
	success    bool
	root       map[string]any
	data       any
	code       string
	message    string
	details    map[string]any
}

// mostBytes bounds the answers of a run, all of which are kept.
const maxAnswerBytes = 256 << 20

// call sends a request. When the server is gone it returns an empty answer at once.
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
	ctx, cancel := context.WithTimeoutCause(p.ctx, p.options.CallTimeout, fmt.Errorf("no answer within %v", p.options.CallTimeout))
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

// send calls an operation on its own tool.
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

// parse reads one JSON value, numbers as they are written.
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

// exported is an exchange as reports show it.
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
		e.Response, _ = json.Marshal(text) // a string: cannot fail
	}
	return e
}

// verdict is what a check finds while it runs.
type recorder struct {
	findings []Finding
	example  *exchange
	passed   bool
	reason   string
}

// ok notes that something is as it should be; x may be nil.
func (rec *recorder) pass(x *exchange) {
	rec.passed = true
	if rec.example == nil {
		rec.example = x
	}
}

// skip says why there is nothing to look at; it counts where nothing else was looked at.
func (rec *recorder) skip(format string, args ...any) {
	if rec.reason == "" {
		rec.reason = fmt.Sprintf(format, args...)
	}
}

// wrong notes something that is not as it should be, with the exchanges that show it.
func (rec *recorder) fail(shown []*exchange, format string, args ...any) {
	f := Finding{Message: fmt.Sprintf(format, args...)}
	for _, x := range shown {
		f.Evidence = append(f.Evidence, x.export())
	}
	rec.findings = append(rec.findings, f)
}

// hold notes either.
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

// mostFindings are shown of a check; the rest is counted.
const maxFindings = 25

// judge runs a check.
func (p *prober) runCheck(c check) Result {
	r := Result{Name: c.name, Title: c.title, Requirements: strings.Fields(c.requirements), Level: c.level, category: c.category, tier: c.tier}
	if p.stopped != nil {
		r.Verdict, r.Reason = Skip, "the server does not answer any more"
		return r
	}
	var v recorder
	c.run(p, &v)
	if p.stopped != nil {
		last := p.log[len(p.log)-1]
		r.Verdict = Fail
		r.Findings = []Finding{{Message: "The server stopped answering: " + p.stopped.Error(), Evidence: []Exchange{last.export()}}}
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

// distinct leaves out findings that say what another one said.
func distinct(findings []Finding) []Finding {
	seen := map[string]bool{}
	return slices.DeleteFunc(findings, func(f Finding) bool {
		was := seen[f.Message]
		seen[f.Message] = true
		return was
	})
}

// with returns params with one more.
func with(params map[string]any, name string, value any) map[string]any {
	changed := maps.Clone(params)
	if changed == nil {
		changed = map[string]any{}
	}
	changed[name] = value
	return changed
}

// without returns params without one.
func without(params map[string]any, name string) map[string]any {
	changed := maps.Clone(params)
	delete(changed, name)
	return changed
}
