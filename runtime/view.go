package aql

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/describe/manifest"
	"github.com/aqltag/aqltag/runtime/describe/reference"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/policy"
)

// view is the gate with its policy, and the operations that can be called, as agents see them. A request uses one view
// from its beginning to its end.
type view struct {
	definitions   *gen.Definitions
	directory     directory
	gate          *gate.Gate
	policy        *policy.Bound
	introspection *describe.Introspection
	tools         []describe.Tool
	manifest      func() ([]byte, error) // the answer to get_manifest
	reference     func() ([]byte, error) // a page for people
	declaration   func() ([]byte, error) // the manifest
	sights        *sights                // what callers see of it; nil: all of it
	whole         *view                  // of which this is what some callers see; nil: this is the whole
}

// render fills in what agents see of the definitions, and an empty directory.
func (a *Adapter) render(v *view, surface describe.Surface) (err error) {
	protocol := a.protocol(v)
	if v.tools, err = surface.Tools(v.definitions, protocol); err != nil {
		return err
	}
	v.directory = newDirectory(v.definitions, &surface, v.tools)
	v.directory.operations = make(map[string]*operation, len(v.directory.names))
	v.introspection, err = describe.Introspect(v.definitions, surface, protocol)
	v.declaration = sync.OnceValues(func() ([]byte, error) { return manifest.Render(v.definitions) })
	v.reference = sync.OnceValues(func() ([]byte, error) { return reference.Render(v.definitions, surface, protocol) })
	v.manifest = sync.OnceValues(func() ([]byte, error) { return renderManifest(v.definitions) })
	return err
}

// SetPolicy replaces the adapter's policy; nil: by none. Requests that have begun end under the old one. It fails, and
// changes nothing, if the policy names operations or parameters that the adapter does not have.
func (a *Adapter) SetPolicy(p *policy.Policy) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	return a.show(a.view.Load().gate, p)
}

// form finds how the handler of an operation sees the values at a path in its parameters.
func (a *Adapter) form(operation string, path []string) (policy.Form, error) {
	handler := a.handlers[operation]
	if handler == nil {
		return policy.Form{}, fmt.Errorf("there is no operation %s", operation)
	}
	form, err := handler.decoder.Form(path)
	if err != nil {
		return policy.Form{}, err
	}
	return policy.Form{Path: form.Path, Zero: form.Zero(), Canonical: form.Canonical}, nil
}

func (a *Adapter) gateOptions() gate.Options {
	o := &a.options
	var keys [][]byte
	if o.StateKey != nil || o.OldStateKeys != nil { // one that is empty is a mistake
		keys = append([][]byte{o.StateKey}, o.OldStateKeys...)
	}
	confirmation := o.Confirmation.forGate()
	if a.observer != nil {
		confirmation.Inbox = observedInbox(confirmation.Inbox, a.observer)
	}
	return gate.Options{
		Store: o.State, StateKeys: keys, StoreTimeout: o.StateTimeout, Trust: o.Trust,
		Confirmation: confirmation, Quota: o.Quota, Audit: o.Audit, Logger: a.log, Now: o.Now,
	}
}

// show makes a view with a policy, which requests use from now on.
func (a *Adapter) show(g *gate.Gate, p *policy.Policy) error {
	var bound *policy.Bound
	if p != nil {
		var err error
		if bound, err = p.BindForms(&a.registered, a.form); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		if bound.NamesApprovers() && g.Inbox() == nil {
			return errors.New("policy: it says who must approve, and this adapter has nowhere to ask them: " +
				"it needs an inbox (serve.Options.Operator, or Confirmation.Inbox), and a state that is not in memory")
		}
		for _, warning := range bound.Warnings() {
			a.log.Warn("A rule of the policy may be meant otherwise", "rule", warning.Rule, "warning", warning.Error())
		}
	}
	v := &view{gate: g.WithPolicy(bound), policy: bound, definitions: &a.definitions}
	switch {
	case a.looping != nil:
		if err := a.looping.configure(p, v.gate); err != nil {
			return err
		}
	case p != nil && p.Loop != nil:
		return errors.New("policy: it has a loop, and this adapter has no safety loop: set Options.Loop")
	}
	if err := a.render(v, a.surface); err != nil {
		return err
	}
	operations := v.directory.operations
	for _, builtIn := range a.surface.BuiltIns(&a.definitions, a.queries()...) {
		newCall := a.newIntrospectCall
		if builtIn.Name == describe.ManifestName {
			newCall = a.newManifestCall
		}
		operations[builtIn.Name] = newOperation(builtIn, a.types, &a.surface, newCall, nil)
	}
	for _, o := range a.definitions.Operations {
		operations[o.Name] = newOperation(o, a.types, &a.surface, a.handlers[o.Name].newCall, v.gate.Operation(o.Name))
	}
	if a.options.HideDenied || bound != nil && bound.Hides() {
		var err error
		var promoted map[string][]string
		if bound != nil && bound.Hides() {
			promoted = codec.Promoted(a.results(), a.types)
			if err = a.checkHidden(withPromoted(bound.EveryHidden(), promoted)); err != nil {
				return err
			}
		}
		if v.sights, err = a.newSights(v, promoted); err != nil {
			return err
		}
	}
	a.view.Store(v)
	return nil
}

// queries are those that introspect answers in addition to the protocol's own.
func (a *Adapter) queries() []string {
	var queries []string
	if a.options.AdapterInfo {
		queries = append(queries, queryAdapterInfo)
	}
	if a.options.QuotaStatus {
		queries = append(queries, queryQuotaStatus)
	}
	return queries
}

// protocol is the _protocol metadata of introspection: what the adapter can do (MCP-AQL introspection §4.1.1).
func (a *Adapter) protocol(v *view) describe.Protocol {
	limits, g, operations := a.options.Limits, v.gate, v.definitions.Operations
	confirms := !a.options.Confirmation.Off
	for i := range operations {
		confirms = confirms || g.Operation(operations[i].Name).MayConfirm()
	}
	protocol := describe.Protocol{
		Conformance: conformance(v.definitions),
		Capabilities: describe.Capabilities{
			Batch:               a.surface.Mode != describe.Discrete,
			FieldSelection:      v.definitions.SelectsFields(),
			Aggregations:        v.definitions.Aggregates(),
			ComputedFields:      v.definitions.Computes(),
			Pagination:          v.definitions.Paginates(),
			RelationshipQueries: v.definitions.FollowsRelationships(),
			Warnings:            true,
			Confirmation:        confirms,
			DangerousOperations: true,
		},
		Limits: describe.Limits{
			RequestSize: limits.RequestSize, ResponseSize: limits.ResponseSize, StringLength: limits.StringLength,
			ArrayElements: limits.ArrayElements, NestingDepth: limits.NestingDepth,
		},
		Concurrency:  string(a.options.Concurrency),
		SupportsETag: a.options.SupportsETag,
		HumanOnly:    a.options.Confirmation.HumanOnly,
		Inbox: g.Inbox() != nil && (a.options.Confirmation.HumanOnly || v.policy.NamesApprovers() ||
			slices.ContainsFunc(operations, func(o gen.Operation) bool { return o.TypeToConfirm != "" })),
		Queries: a.queries(),
		Gate: func(o *gen.Operation) describe.Gating {
			switch operation := g.Operation(o.Name); {
			case operation == nil:
				return describe.Ungated
			case operation.Denied():
				return describe.Denied
			case operation.ByPerson():
				return describe.Approved
			case operation.Confirms() && operation.LetsDryRunsPass():
				return describe.ConfirmedUnlessDry
			case operation.Confirms():
				return describe.Confirmed
			case operation.MayConfirm():
				return describe.SometimesConfirmed
			default:
				return describe.Ungated
			}
		},
	}
	if a.looping != nil {
		a.looping.describe(&protocol)
	}
	return protocol
}
