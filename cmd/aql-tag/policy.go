package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/plainfile"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

// policyFlags are the flags of policy check and policy explain.
type policyFlags struct {
	flags
	file   string
	caller identity.Caller
	params string
	dongle bool
	steps  stepFlags
	loop   *policy.Loop // of the policy, when bind has read it
}

const policyHelp = `
Usage: aql-tag policy check -policy FILE [flags] [packages]
       aql-tag policy check -policy FILE -dongle
       aql-tag policy explain -policy FILE [flags] OPERATION [packages]
       aql-tag policy explain -policy FILE -agent NAME -hint TEXT [flags] [packages]

check tells whether a policy file fits the operations of the packages. explain prints what the policy decides about
one call, and by which rule; or what the safety loop tells an agent that reports its next action.

Flags:
`

// runPolicy checks a policy file against the operations of packages, or explains what it decides about a call.
func runPolicy(ctx context.Context, env *environment, args []string) int {
	var f policyFlags
	what := ""
	if len(args) > 0 {
		what = args[0]
	}
	switch {
	case isHelp(what):
		return f.set(env, "policy", true).parseLeading(args)
	case what == "check" || what == "explain":
		return runPolicyOn(ctx, env, what, args[1:])
	}
	return f.set(env, "policy", true).refuse(errors.New("say what to do: check or explain"))
}

// set declares the flags, those of explain only if they are wanted.
func (f *policyFlags) set(env *environment, name string, explain bool) *flagSet {
	set := newFlagSet(env, name, policyHelp)
	f.declare(set, "print mistakes, or the explanation, as JSON on standard output", "say why loading took long")
	set.StringVar(&f.file, "policy", "", "the policy: a YAML `file`")
	set.BoolVar(&f.dongle, "dongle", false,
		"the policy is that of aql-dongle, which has the operations of the safety loop and no packages")
	if explain {
		set.StringVar(&f.caller.Subject, "caller", "",
			"explain: the `name` of the caller; without it the caller is anonymous")
		set.StringVar(&f.caller.Issuer, "issuer", "", "explain: the `name` of who vouches for the caller")
		set.StringVar(&f.params, "params", "{}", "explain: the parameters of the call as `json` (default {})")
		set.Func("scope", "explain: a `scope` of what the caller may do; once for each", func(scope string) error {
			f.caller.Scopes = append(f.caller.Scopes, scope)
			return nil
		})
		f.steps.declare(set)
	}
	return set
}

func runPolicyOn(ctx context.Context, env *environment, what string, args []string) int {
	var f policyFlags
	set := f.set(env, "policy "+what, what == "explain")
	if code := f.parse(set, args); code >= 0 {
		return code
	}
	if f.file == "" {
		return set.refuse(errors.New("-policy is missing; it names the policy file"))
	}
	if what == "check" && f.dongle && !slices.Equal(f.packages, []string{"."}) {
		return set.refuse(errDonglePackages)
	}
	if f.steps.given() {
		if err := f.steps.check(); err != nil {
			return set.refuse(err)
		}
		return f.explainStep(ctx, env)
	}
	operation := ""
	if what == "explain" {
		// A lone argument is the operation, and parse puts "." where there is none.
		if operation, f.packages = f.packages[0], f.packages[1:]; strings.ContainsAny(operation, "./") {
			return set.refuse(errors.New("the operation is missing; write its name before the packages"))
		}
		if f.dongle && len(f.packages) > 0 {
			return set.refuse(errDonglePackages)
		}
		if len(f.packages) == 0 {
			f.packages = []string{"."}
		}
	}
	bound, adapter, code := f.bind(ctx, env, operation)
	if code >= 0 {
		return code
	}
	for _, warning := range bound.Warnings() {
		fmt.Fprintln(env.stderr, "warning:", warning.Error())
	}
	switch {
	case what == "explain":
		return f.explain(env, bound, adapter, operation)
	case f.json:
		return printJSON(env, []policy.Mistake{})
	case !f.quiet:
		fmt.Fprintf(env.stdout, "%s is a good policy for %d operations\n", f.file, len(adapter.Operations))
	}
	return exitOK
}

// bind reads the policy and checks it against the operations of the packages, and those of the safety loop if one of
// them is to be explained. A code other than -1 ends the command; the reason has been printed.
func (f *policyFlags) bind(
	ctx context.Context, env *environment, explained string,
) (*policy.Bound, *gen.Definitions, int) {
	text, err := plainfile.Read(ctx, env.path(f.file), 2<<20) // more than Parse accepts
	if err != nil {
		return nil, nil, fail(env, exitIO, fmt.Errorf("reading the policy: %w", err))
	}
	p, err := policyfile.Parse(f.file, text)
	if err != nil {
		return nil, nil, f.mistakes(env, err)
	}
	f.loop = p.Loop
	adapter, code := f.definitions(ctx, env)
	if code >= 0 {
		return nil, nil, code
	}
	bound, err := p.Bind(adapter)
	// Rules may be about the operations of the safety loop, which the adapter has where its author switches that on.
	withLoop := *adapter
	gen.AddLoop(&withLoop)
	_, own := adapter.Operation(explained)
	_, ofLoop := withLoop.Operation(explained)
	if ofLoop = ofLoop && !own; err == nil && !ofLoop {
		return bound, adapter, -1
	}
	looped, loopErr := p.Bind(&withLoop)
	switch {
	case loopErr == nil && err == nil && p.Loop == nil:
		fmt.Fprintln(env.stderr, "warning: an adapter has "+explained+" only with aql.Options.Loop")
		fallthrough
	case loopErr == nil && err == nil:
		return looped, &withLoop, -1
	case loopErr == nil && p.Loop == nil:
		fmt.Fprintln(env.stderr, "warning: rules are about operations of the safety loop, which an adapter has only with "+
			"aql.Options.Loop; without it, it does not start with this policy")
		fallthrough
	case loopErr == nil:
		return looped, &withLoop, -1
	case p.Loop != nil:
		err = loopErr
	}
	return nil, nil, f.mistakes(env, err)
}

var errDonglePackages = errors.New("aql-dongle has no packages: leave out those, or -dongle")

// definitions returns the operations that the policy is for.
func (f *policyFlags) definitions(ctx context.Context, env *environment) (*gen.Definitions, int) {
	if !f.dongle {
		return f.adapter(ctx, env)
	}
	var definitions gen.Definitions
	gen.AddLoop(&definitions)
	return &definitions, -1
}

// mistakes prints the mistakes in the policy.
func (f *policyFlags) mistakes(env *environment, err error) int {
	var list policy.Mistakes
	if f.json && errors.As(err, &list) {
		if code := printJSON(env, list); code != exitOK {
			return code
		}
		return exitSource
	}
	fmt.Fprintln(env.stderr, err)
	return exitSource
}

// explain prints what the policy decides about a call, and why.
func (f *policyFlags) explain(env *environment, bound *policy.Bound, adapter *gen.Definitions, operation string) int {
	o, ok := adapter.Operation(operation)
	if !ok {
		var names []string
		for i := range adapter.Operations {
			names = append(names, adapter.Operations[i].Name)
		}
		slices.Sort(names)
		return failIn(env, "policy explain", exitUsage,
			fmt.Errorf("there is no operation %s; there is %s", operation, strings.Join(names, ", ")))
	}
	value, err := values(o, f.params)
	if err != nil {
		return failIn(env, "policy explain", exitUsage, fmt.Errorf("-params: %w", err))
	}
	explanation := bound.Explain(operation, policy.Request{Caller: f.caller, Value: value})
	if explanation.Effect != policy.Deny && slices.ContainsFunc(gen.LoopOperations(), func(l gen.Operation) bool {
		return l.Name == operation && l.Description == o.Description // and none of the packages
	}) {
		explanation.SafetyLoop = loopDemands(f.loop, operation)
	}
	if f.json {
		return printJSON(env, explanation)
	}
	if err := explanation.WriteText(env.stdout); err != nil {
		return fail(env, exitIO, err)
	}
	return exitOK
}

// values reads the parameters of a call: by their own names or their aliases, with defaults.
func values(o *gen.Operation, params string) (func(string) (string, bool), error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &members); err != nil || members == nil {
		return nil, errors.New("the parameters must be a JSON object such as {\"status\":\"done\"}")
	}
	given := make(map[string]string, len(members))
	for i := range o.Params {
		p := &o.Params[i]
		if p.Default != "" {
			given[p.Name] = p.Default
		}
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if text, ok := members[name]; ok {
				if !bytes.Equal(text, []byte("null")) {
					given[p.Name] = string(text)
				}
				delete(members, name)
			}
		}
	}
	for name := range members {
		if !strings.HasPrefix(name, "_") {
			return nil, fmt.Errorf("%s has no parameter %s", o.Name, name)
		}
	}
	return func(name string) (string, bool) {
		text, ok := given[name]
		return text, ok
	}, nil
}

// printJSON prints v as -json asks for.
func printJSON(env *environment, v any) int {
	if err := writeJSON(env, v); err != nil {
		return fail(env, exitIO, err)
	}
	return exitOK
}
