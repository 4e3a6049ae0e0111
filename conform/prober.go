package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
)

// prober is one run against one server. It keeps what several checks need.
type prober struct {
	ctx     context.Context // of Run
	server  Server
	options Options
	random  *rand.Rand
	serial  int // makes words unique

	discovery
	met         met
	bare        bool // the server answers without the envelope of a response
	log         []*exchange
	answerBytes int   // length of all answers
	stopped     error // why the server does not answer any more; nil: it does

	baselines       map[*operation]*baseline
	controls        map[*operation]*exchange
	unknownSent     map[*operation]*exchange
	variations      map[*operation][]*exchange
	rejectedSamples map[*param]*exchange
	resources       []*resource
	resourcesByID   map[string][]*resource
	fixtures        map[*resource]*fixture
	creating        map[*resource]bool
	relationships   *relationshipQuery // nil: not looked for yet
	evidence        evidence
}

func newProber(ctx context.Context, server Server, options Options) *prober {
	return &prober{
		ctx: ctx, server: server, options: options, random: rand.New(rand.NewPCG(options.Seed, 0)),
		baselines: map[*operation]*baseline{}, controls: map[*operation]*exchange{}, unknownSent: map[*operation]*exchange{},
		variations:      map[*operation][]*exchange{},
		rejectedSamples: map[*param]*exchange{}, resourcesByID: map[string][]*resource{},
		fixtures: map[*resource]*fixture{}, creating: map[*resource]bool{},
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

// unreadable reports whether an answer can be read neither as success nor as failure.
func (x *exchange) unreadable() bool { return !x.answer.success && !x.answer.failed }

// uncoded reports whether an answer is a failure that does not say why by a code.
func (x *exchange) uncoded() bool { return x.answer.failed && x.answer.code == "" }

// maxAnswerBytes bounds the length of all answers of a run together, because the run keeps them.
const maxAnswerBytes = 256 << 20

// call sends a request. If the server has stopped answering, or the run must end, it returns an empty answer at once.
func (p *prober) call(tool string, request any) *exchange {
	text, err := json.Marshal(request)
	if err != nil {
		return &exchange{tool: tool, reply: Reply{Fault: err.Error()}}
	}
	x := &exchange{tool: tool, request: string(text)}
	if object, ok := request.(map[string]any); ok {
		x.introspection = object["operation"] == "introspect"
	}
	if p.ended() {
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
		p.stopped = serverError{err}
		x.reply.Fault = err.Error()
	}
	if p.answerBytes += len(x.reply.Text); p.answerBytes > maxAnswerBytes && p.stopped == nil {
		p.stopped = fmt.Errorf("its answers add up to more than %d bytes", maxAnswerBytes)
	}
	x.answer = readAnswer(x.reply, p.bare)
	p.note(x)
	p.log = append(p.log, x)
	return x
}

// note counts the deviations of an answer.
func (p *prober) note(x *exchange) {
	for _, name := range x.answer.deviations {
		p.deviate(name, "", x)
	}
}

// send calls an operation through its own tool.
func (p *prober) send(o *operation, params map[string]any) *exchange {
	return p.call(o.Tool, request(o, params))
}

func request(o *operation, params map[string]any) map[string]any {
	return map[string]any{"operation": o.Name, "params": params}
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
