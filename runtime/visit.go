package aql

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/related"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/quota"
)

// visit is a request that loads relations, with what decides about that. It outlives the exchange where the handler is
// given up.
type visit struct {
	adapter     *Adapter
	relations   *relations
	gate        *gate.Gate
	session     *gate.Session
	label       string
	definitions *gen.Definitions // that the caller sees
	operations  map[string]*operation
	path        string // to what is loaded, in the fields that a request selects; empty: it is to query_relationships
	optional    bool   // what may not be loaded is left out, since the request does not name it

	left map[*related.Relation]bool // relations of which resources were left out
	cut  map[*related.Relation]int  // relations that lead to more resources of a key than they may, and the most of them
	seen []*related.Relation        // both, in the order in which they came up
}

type visitKey struct{}

func (a *relations) within(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, visitKey{}, a.visit(x))
}

// visit returns the visit of a request.
func (a *relations) visit(x *exchange) *visit {
	return &visit{
		adapter: x.adapter, relations: a, gate: x.checkpoint.gate, session: x.checkpoint.session,
		label: strings.Clone(x.message.id), definitions: x.view.definitions, operations: x.view.directory.operations,
		left: make(map[*related.Relation]bool), cut: make(map[*related.Relation]int),
	}
}

// request makes the request to an operation that has nothing but a value of a parameter. No param: it has nothing.
func (v *visit) request(ctx context.Context, o *operation, param string, value []byte) (*request, *Error) {
	document := []byte("{}")
	if p, known := o.definition.Param(param); known {
		if p.Type == "array" {
			value = append(append([]byte{'['}, value...), ']')
		}
		name, err := json.Marshal(param)
		if err != nil {
			return nil, internal(unexpected)
		}
		document = append(append(append(append([]byte{'{'}, name...), ':'), value...), '}')
	}
	return v.adapter.requestOf(ctx, o, document)
}

// about is what the gate decides on, for an operation with parameters.
func (v *visit) about(ctx context.Context, o *operation, params gate.Params) *gate.Request {
	return &gate.Request{
		Operation: o.gate, Caller: CallerOf(ctx), Session: v.session, RequestID: v.label, Endpoint: o.family, Params: params,
	}
}

// read calls the operation that reads the root, through all that a request of its own would go through but the
// interceptors, which run around query_relationships.
func (v *visit) read(ctx context.Context, operation, param string, at relationshipElement) (any, error) {
	o := v.operations[operation]
	p, known := o.definition.Param(param)
	if !known {
		return nil, errNoRequest
	}
	value, err := json.Marshal(at.Name)
	if err != nil {
		return nil, err
	}
	if isInteger(p.Type, at.Name) {
		value = []byte(at.Name)
	}
	q, invalid := v.request(ctx, o, param, value)
	if invalid != nil { // nothing has such a name
		return nil, NotFound(at.Type, at.Name)
	}
	asked := v.about(ctx, o, q)
	if !asked.Operation.Ungated() {
		if refused := v.gate.Judge(asked); refused != nil {
			v.gate.Refuse(ctx, asked, refused)
			return nil, v.refusal(o, q, refused, "the root of this query")
		}
	}
	pass, refused := v.gate.Count(ctx, asked)
	if refused != nil {
		return nil, v.refusal(o, q, refused, "the root of this query")
	}
	err = errors.New("the handler panicked")
	defer func() { v.finish(ctx, asked, &pass, err) }()
	result, err := q.slots.handled.Call(ctx, q.slots.handled.request)
	if err == nil {
		return result, nil
	}
	judged := (&run{operation: &o.definition, mapError: v.adapter.options.MapError}).judge(ctx, err)
	if f := judged.failure; f != nil && f.Code == CodeResourceNotFound {
		err = NotFound(at.Type, at.Name).WithCause(judged.err)
	} else if f != nil {
		err = f
	}
	return nil, err
}

// isInteger reports whether a name is an integer that a parameter of a type takes.
func isInteger(typ, name string) bool {
	if typ != "integer" || name == "" {
		return false
	}
	digits := strings.TrimPrefix(name, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Admit lets the gate judge the operation to which a relation leads: for each key, and then once for all of them, which
// counts as one request.
func (v *visit) Admit(ctx context.Context, r *related.Relation, keys []any) ([]any, func(error), error) {
	definition := &r.Definition
	o := v.operations[definition.To]
	about := "relation \"" + r.Of + "." + definition.Name + "\""
	if v.path != "" {
		about = "field \"" + v.path + "\""
	}
	if o.gate.Ungated() {
		return keys, func(error) {}, nil
	}
	judged := &loading{param: definition.Param, operation: o}
	denied := &loading{param: definition.Param, operation: o}
	var why *gate.Refusal
	var admitted []any
	for _, key := range keys {
		text, err := json.Marshal(key)
		if err != nil {
			return nil, nil, err
		}
		q, invalid := v.request(ctx, o, definition.Param, text)
		if invalid != nil { // nobody can call the operation for it
			v.Left(r)
			continue
		}
		asked := v.about(ctx, o, q)
		switch refused := v.gate.Judge(asked); {
		case refused == nil:
			admitted = append(admitted, key)
			judged.add(q, text)
		case refused.Reason == gate.DeniedByPolicy && definition.Param != "" && o.gate.MayRun(asked.Caller):
			why = refused
			denied.add(q, text)
			v.Left(r)
		default:
			v.gate.Refuse(ctx, asked, refused)
			return nil, nil, v.notAdmitted(o, q, refused, about)
		}
		if definition.Param == "" { // the decision is the same for all
			admitted = keys
			break
		}
	}
	if why != nil {
		v.gate.Refuse(ctx, v.about(ctx, o, denied), why)
	}
	if len(admitted) == 0 {
		return nil, func(error) {}, nil
	}
	asked := v.about(ctx, o, judged)
	pass, refused := v.gate.Count(ctx, asked)
	if refused != nil {
		return nil, nil, v.notAdmitted(o, judged.first, refused, about)
	}
	for i := range pass.Warnings {
		Warn(ctx, quotaWarning(&pass.Warnings[i]))
	}
	return admitted, func(err error) { v.finish(ctx, asked, &pass, err) }, nil
}

// errLeftOut is the error of a load that is refused and not asked for by name.
var errLeftOut = errors.New("a relation that only a preset selects may not be loaded")

// notAdmitted is the failure of a load that the gate refuses.
func (v *visit) notAdmitted(o *operation, q *request, refused *gate.Refusal, about string) error {
	if v.optional && refused.Reason != gate.Busy && refused.Reason != gate.Unavailable {
		return errLeftOut
	}
	return v.refusal(o, q, refused, about)
}

// Failed returns the error of a request whose loader failed. That something is not found is nothing that an agent has
// asked for, and names a key: it is an error of the loader, which leaves out what there is not.
func (v *visit) Failed(ctx context.Context, r *related.Relation, err error) error {
	o := v.operations[r.Definition.To]
	judged := (&run{operation: &o.definition, mapError: v.adapter.options.MapError}).judge(ctx, err)
	if f := judged.failure; f == nil || f.Code != CodeResourceNotFound {
		return err
	}
	about := "relation " + r.Definition.Of + "." + r.Definition.Name
	if v.path != "" {
		about += ", selected as " + v.path
	}
	return &loaderError{about + ": the loader found nothing, and leaves out no key", judged.err}
}

// loaderError is an error of a loader that is not one of the request. It does not unwrap, so that no agent learns of
// it.
type loaderError struct {
	about string
	err   error
}

func (e *loaderError) Error() string { return e.about + ": " + e.err.Error() }

// finish reports to the gate how a load ended.
func (v *visit) finish(ctx context.Context, asked *gate.Request, pass *gate.Pass, err error) {
	code := ""
	if known := (*Error)(nil); errors.As(err, &known) && known != nil {
		code = string(known.Code)
	} else if err != nil {
		code = "INTERNAL_ERROR"
	}
	v.gate.Finish(ctx, asked, pass, quota.Usage{}, code)
}

// refusal is the failure of a request that may not load something.
func (v *visit) refusal(o *operation, q *request, refused *gate.Refusal, about string) error {
	if refused.Reason == gate.Unavailable {
		return refused.Err
	}
	name := o.definition.Name
	needs := about + " needs operation \"" + name + "\", which "
	var f *Error
	switch refused.Reason {
	case gate.ConfirmationNeeded:
		f = Denied(needs + "asks for a confirmation; leave it out, or call that operation itself")
	case gate.QuotaPaused:
		f = failure("RATE_LIMIT_QUOTA_PAUSE", "Quota pause threshold reached", quotaDetails(refused.Block, true)...)
	case gate.DeniedByPolicy:
		r := &refusal{Refusal: refused, request: q, now: refused.At}
		reason := needs + "the policy of this adapter does not allow"
		if said := r.ruleReason(); said != "" {
			reason += ": " + said
		}
		f = Denied(reason)
	default:
		f, _ = (&refusal{Refusal: refused, request: q, now: refused.At, inBatch: true}).explain()
	}
	return f.WithDetail("operation", name)
}

// Left notes that a resource is left out of a relation.
func (v *visit) Left(r *related.Relation) {
	v.left[r] = true
	v.see(r)
}

// Cut notes that there are more resources than a relation leads to.
func (v *visit) Cut(_ context.Context, r *related.Relation, there int) {
	v.cut[r] = max(v.cut[r], there)
	v.see(r)
}

func (v *visit) see(r *related.Relation) {
	if !slices.Contains(v.seen, r) {
		v.seen = append(v.seen, r)
	}
}

// warn adds the warnings.
func (v *visit) warn(ctx context.Context) {
	for _, w := range v.warnings() {
		Warn(ctx, w)
	}
}

// warnings returns a warning for each relation that is not whole, and forgets these.
func (v *visit) warnings() (list []Warning) {
	defer v.forget()
	for _, r := range v.seen {
		about, to := r.Of+"."+r.Definition.Name, r.Definition.To
		if v.left[r] {
			list = append(list, Warning{
				Code:    "PERMISSION_DENIED_WARNING",
				Message: "Relation '" + about + "' leaves out what operation '" + to + "' does not allow",
				details: []detail{{"relation", about}, {"operation", to}},
			})
		}
		if there := v.cut[r]; there > 0 {
			w := Truncated(about, there, related.MaxMany)
			w.Message = "Relation '" + about + "' has no more than 25 of each element; operation '" + to + "' has the rest"
			list = append(list, w.WithDetail("operation", to))
		}
	}
	return list
}

// forget forgets which relations are not whole.
func (v *visit) forget() {
	clear(v.left)
	clear(v.cut)
	v.seen = nil
}

// loading are the parameters of one load, as the gate records them: those of an operation, with all keys.
type loading struct {
	operation *operation
	param     string
	first     *request
	keys      []byte // JSON texts of the keys, with commas between them
}

var _ gate.Params = (*loading)(nil)

func (l *loading) add(q *request, key []byte) {
	if l.first == nil {
		l.first = q
	}
	if len(l.keys) > 0 {
		l.keys = append(l.keys, ',')
	}
	l.keys = append(l.keys, key...)
}

func (l *loading) Value(name string) (string, bool) { return l.first.Value(name) }
func (l *loading) Seen(name string) (string, bool)  { return l.first.Seen(name) }
func (l *loading) Plain(string) string              { return "" }
func (l *loading) Canonical() []byte                { return l.Redacted() }

// Asked returns no question: nobody is asked about what another request loads.
func (l *loading) Asked() (message string, params []byte) { return "", l.Redacted() }

// Redacted returns the keys as the value of the parameter.
func (l *loading) Redacted() []byte {
	w := wire.NewWriter(nil)
	w.BeginObject()
	if p, known := l.operation.definition.Param(l.param); known {
		w.KeyEscaped(l.param)
		if l.operation.isSensitive(p) {
			w.String("***")
		} else {
			w.Raw("[" + string(l.keys) + "]")
		}
	}
	w.EndObject()
	return w.Bytes()
}
