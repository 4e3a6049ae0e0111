package conform

import (
	"maps"
	"strings"
)

func confirmationChecks() []check {
	return []check{
		{"confirm/asks", "what is destructive asks for confirmation first", []string{"REQ-CT-04", "REQ-DL-04"}, Must, Features, 1, checkAsks},
		{"confirm/token", "the token has the form of one, and an end", []string{"REQ-CT-01", "REQ-CT-07"}, Must, Features, 1, checkToken},
		{"confirm/no-effect", "nothing is destroyed before it is confirmed", []string{"REQ-CT-04"}, Must, Features, 1, checkConfirmNoEffect},
		{"confirm/unknown", "a token that was never given is refused", []string{"REQ-CT-06"}, Must, Features, 1, checkUnknownToken},
		{"confirm/scope", "a token is not good for other parameters", []string{"REQ-CT-03", "REQ-CT-06"}, Must, Features, 1, checkScope},
		{"confirm/redeems", "a token lets the same request through", []string{"REQ-CT-05", "REQ-CT-06"}, Must, Features, 1, checkRedeems},
		{"confirm/once", "a token is good once", []string{"REQ-CT-09", "REQ-CT-10"}, Must, Features, 1, checkOnce},
		{"confirm/batch", "a batch stops where confirmation is needed, or passes it over, and says so", []string{"REQ-BA-08", "REQ-BA-09", "REQ-BA-11"}, Should, Features, 2, checkBatchConfirms},
	}
}

// confirming looks at every destructive operation with a request that destroys a thing of this run, and its answer. Operations
// that destroy something else are looked at without being confirmed.
func (p *prober) confirming(v *verdict, look func(o *operation, f *fixture, params map[string]any, x *exchange)) {
	if !p.capability("confirmation") && !p.capability("dangerous_operations") && p.protocol["danger_levels"] == nil {
		v.skip("the server does not claim to ask for confirmation")
		return
	}
	for _, o := range p.operations {
		if o.danger < destructive {
			continue
		}
		if why := p.barred(o); why != "" {
			v.skip("%s", why)
			continue
		}
		b := p.base(o)
		if b.params == nil {
			v.skip("no sound request to operation %s is known", o.Name)
			continue
		}
		var f *fixture
		params := maps.Clone(b.params)
		for _, r := range p.resources {
			if r.erase == o {
				if f = p.make(r); f != nil {
					params[r.id] = f.id
				}
			}
		}
		look(o, f, params, p.send(o, params))
	}
	v.skip("no operation is said to be destructive")
}

const confirmationRequired = "CONFIRMATION_REQUIRED"

func tokenOf(x *exchange) string {
	token, _ := x.answer.details["confirmation_token"].(string)
	return token
}

func confirmed(params map[string]any, token string) map[string]any {
	return with(params, "_confirmation", token)
}

func checkAsks(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, _ *fixture, _ map[string]any, x *exchange) {
		v.hold(x.answer.code == confirmationRequired, x, "operation %s is %s, and does not ask for confirmation", o.Name, levels[o.danger])
	})
}

func checkToken(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, _ *fixture, _ map[string]any, x *exchange) {
		if x.answer.code != confirmationRequired {
			v.skip("operation %s does not ask", o.Name)
			return
		}
		token := tokenOf(x)
		v.hold(tokenForm.MatchString(token) && len(token) >= 8 && len(token) <= 80, x, "the token of operation %s does not have the form conf_…", o.Name)
		ends, _ := x.answer.details["expires_at"].(string)
		v.hold(ends != "", x, "'expires_at' of operation %s is missing", o.Name)
	})
}

func checkConfirmNoEffect(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, f *fixture, _ map[string]any, x *exchange) {
		if f == nil || x.answer.code != confirmationRequired {
			v.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		read, y := p.read(f)
		if read != nil {
			v.ok(y)
		} else {
			v.wrong(exchanges(x, y), "operation %s asked for confirmation, and the %s is gone", o.Name, f.resource.noun)
		}
	})
}

func checkUnknownToken(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, f *fixture, params map[string]any, x *exchange) {
		if x.answer.code != confirmationRequired {
			v.skip("operation %s does not ask", o.Name)
			return
		}
		x = p.send(o, confirmed(params, "conf_"+strings.Repeat("x", 43)))
		v.hold(x.answer.code == "TOKEN_INVALID", x, "operation %s with a token that was never given must fail with TOKEN_INVALID", o.Name)
	})
}

func checkScope(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, f *fixture, params map[string]any, x *exchange) {
		token := tokenOf(x)
		if f == nil || token == "" {
			v.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		other := p.make(f.resource)
		if other == nil || equal(other.id, f.id) {
			v.skip("no second %s could be created", f.resource.noun)
			return
		}
		y := p.send(o, confirmed(with(params, f.resource.id, other.id), token))
		v.hold(y.answer.code == "TOKEN_SCOPE_MISMATCH", y, "operation %s with the token of another %s must fail with TOKEN_SCOPE_MISMATCH", o.Name, f.resource.noun)
	})
}

func checkRedeems(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, f *fixture, params map[string]any, x *exchange) {
		token := tokenOf(x)
		if f == nil || token == "" {
			v.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		if there, _ := p.read(f); there == nil {
			v.skip("operation %s did not wait for the confirmation", o.Name)
			return
		}
		y := p.send(o, confirmed(params, token))
		if !v.hold(y.answer.success, y, "operation %s with its token fails", o.Name) {
			return
		}
		read, z := p.read(f)
		v.hold(read == nil, z, "operation %s succeeded, and the %s is still there", o.Name, f.resource.noun)
	})
}

func checkOnce(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, f *fixture, params map[string]any, x *exchange) {
		token := tokenOf(x)
		if f == nil || token == "" {
			v.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		if first := p.send(o, confirmed(params, token)); !first.answer.success {
			v.skip("operation %s does not succeed with its token", o.Name)
			return
		}
		y := p.send(o, confirmed(params, token))
		v.hold(strings.HasPrefix(y.answer.code, "TOKEN_"), y, "operation %s takes its token twice", o.Name)
	})
}

func checkBatchConfirms(p *prober, v *verdict) {
	p.confirming(v, func(o *operation, f *fixture, params map[string]any, x *exchange) {
		if f == nil || x.answer.code != confirmationRequired {
			v.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		x = p.call(o.Tool, map[string]any{"operations": []any{request(o, params), request(o, p.rebound(o, params))}})
		root := x.answer.root
		results, supported := root["results"].([]any)
		if !supported {
			v.skip("batches are not supported")
			return
		}
		count := func(name string) string { return asJSON(within(root["summary"], name)) }
		if halted := root["halted_at"]; halted != nil {
			pending, _ := root["pending_operations"].([]any)
			right := asJSON(within(halted, "index")) == "0" && within(halted, "operation") == o.Name && len(pending) == 1 && len(results) == 0 &&
				count("halted") == "1" && count("pending") == "1"
			v.hold(right, x, "a batch of two %s must halt before the first, with one pending", o.Name)
		} else {
			right := len(results) == 2 && count("pending_confirmation") == "2"
			for _, result := range results {
				right = right && within(result, "status") == "pending_confirmation"
			}
			v.hold(right, x, "a batch of two %s must halt before the first, or have both wait for confirmation", o.Name)
		}
		read, y := p.read(f)
		v.hold(read != nil, y, "a batch destroyed a %s without confirmation", f.resource.noun)
	})
}
