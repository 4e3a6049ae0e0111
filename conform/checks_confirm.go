package conform

import (
	"maps"
	"strings"
)

// confirmation is a destructive operation that was called without a token.
type confirmation struct {
	operation *operation
	fixture   *fixture // what the operation destroys; nil: something that this run did not create
	params    map[string]any
	exchange  *exchange
}

// eachDestructive calls every destructive operation without a token, on a new fixture if it destroys one.
func (p *prober) eachDestructive(rec *recorder, look func(c confirmation)) {
	if !p.capability("confirmation") && !p.capability("dangerous_operations") && p.protocol["danger_levels"] == nil {
		rec.skip("the server does not claim to ask for confirmation")
		return
	}
	for _, o := range p.operations {
		if o.danger < destructive {
			continue
		}
		if why := p.exclusion(o); why != "" {
			rec.skip("%s", why)
			continue
		}
		b := p.baseline(o)
		if b.params == nil {
			rec.skip("no sound request to operation %s is known", o.Name)
			continue
		}
		var f *fixture
		params := maps.Clone(b.params)
		for _, r := range p.resources {
			if r.delete == o {
				if f = p.createFixture(r); f != nil {
					params[r.id] = f.id
				}
			}
		}
		look(confirmation{o, f, params, p.send(o, params)})
	}
	rec.skip("no operation is said to be destructive")
}

const confirmationRequired = "CONFIRMATION_REQUIRED"

func tokenOf(x *exchange) string {
	token, _ := x.answer.details["confirmation_token"].(string)
	return token
}

func withToken(params map[string]any, token string) map[string]any {
	return with(params, "_confirmation", token)
}

func checkConfirmationRequired(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, x := c.operation, c.exchange
		rec.expect(x.answer.code == confirmationRequired, x,
			"operation %s is %s, and does not ask for confirmation", o.Name, dangerLevels[o.danger])
	})
}

func checkToken(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, x := c.operation, c.exchange
		if x.answer.code != confirmationRequired {
			rec.skip("operation %s does not ask", o.Name)
			return
		}
		token := tokenOf(x)
		rec.expect(tokenPattern.MatchString(token) && len(token) >= 8 && len(token) <= 80, x,
			"the token of operation %s does not have the form conf_…", o.Name)
		ends, _ := x.answer.details["expires_at"].(string)
		rec.expect(ends != "", x, "'expires_at' of operation %s is missing", o.Name)
	})
}

func checkConfirmNoEffect(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, x := c.operation, c.fixture, c.exchange
		if f == nil || x.answer.code != confirmationRequired {
			rec.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		read, y := p.readFixture(f)
		if read != nil {
			rec.pass(y)
		} else {
			rec.fail(exchanges(x, y), "operation %s asked for confirmation, and the %s is gone", o.Name, f.resource.noun)
		}
	})
}

func checkUnknownToken(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, params, x := c.operation, c.params, c.exchange
		if x.answer.code != confirmationRequired {
			rec.skip("operation %s does not ask", o.Name)
			return
		}
		x = p.send(o, withToken(params, "conf_"+strings.Repeat("x", 43)))
		rec.expect(x.answer.code == "TOKEN_INVALID", x,
			"operation %s with a token that was never given must fail with TOKEN_INVALID", o.Name)
	})
}

func checkTokenScope(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, params, x := c.operation, c.fixture, c.params, c.exchange
		token := tokenOf(x)
		if f == nil || token == "" {
			rec.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		other := p.createFixture(f.resource)
		if other == nil || equal(other.id, f.id) {
			rec.skip("no second %s could be created", f.resource.noun)
			return
		}
		y := p.send(o, withToken(with(params, f.resource.id, other.id), token))
		rec.expect(y.answer.code == "TOKEN_SCOPE_MISMATCH", y,
			"operation %s with the token of another %s must fail with TOKEN_SCOPE_MISMATCH", o.Name, f.resource.noun)
	})
}

func checkTokenRedeemed(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, params, x := c.operation, c.fixture, c.params, c.exchange
		token := tokenOf(x)
		if f == nil || token == "" {
			rec.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		if there, _ := p.readFixture(f); there == nil {
			rec.skip("operation %s did not wait for the confirmation", o.Name)
			return
		}
		y := p.send(o, withToken(params, token))
		if !rec.expect(y.answer.success, y, "operation %s with its token fails", o.Name) {
			return
		}
		read, z := p.readFixture(f)
		rec.expect(read == nil, z, "operation %s succeeded, and the %s is still there", o.Name, f.resource.noun)
	})
}

func checkTokenUsedOnce(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, params, x := c.operation, c.fixture, c.params, c.exchange
		token := tokenOf(x)
		if f == nil || token == "" {
			rec.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		if first := p.send(o, withToken(params, token)); !first.answer.success {
			rec.skip("operation %s does not succeed with its token", o.Name)
			return
		}
		y := p.send(o, withToken(params, token))
		rec.expect(strings.HasPrefix(y.answer.code, "TOKEN_"), y, "operation %s takes its token twice", o.Name)
	})
}

func checkBatchConfirmation(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, params, x := c.operation, c.fixture, c.params, c.exchange
		if f == nil || x.answer.code != confirmationRequired {
			rec.skip("operation %s does not destroy what this run created, or does not ask", o.Name)
			return
		}
		x = p.call(o.Tool, map[string]any{"operations": []any{request(o, params), request(o, p.withNewFixtures(o, params))}})
		root := x.answer.root
		results, supported := root["results"].([]any)
		if !supported {
			rec.skip("batches are not supported")
			return
		}
		count := func(name string) string { return asJSON(memberOf(root["summary"], name)) }
		if halted := root["halted_at"]; halted != nil {
			pending, _ := root["pending_operations"].([]any)
			first := asJSON(memberOf(halted, "index")) == "0" && memberOf(halted, "operation") == o.Name
			right := first && len(pending) == 1 && len(results) == 0 && count("halted") == "1" && count("pending") == "1"
			rec.expect(right, x, "a batch of two %s must halt before the first, with one pending", o.Name)
		} else {
			right := len(results) == 2 && count("pending_confirmation") == "2"
			for _, result := range results {
				right = right && memberOf(result, "status") == "pending_confirmation"
			}
			rec.expect(right, x, "a batch of two %s must halt before the first, or have both wait for confirmation", o.Name)
		}
		read, y := p.readFixture(f)
		rec.expect(read != nil, y, "a batch destroyed a %s without confirmation", f.resource.noun)
	})
}
