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
			rec.unjudged("%s", noRequest(o, b))
			continue
		}
		var f *fixture
		params := maps.Clone(b.params)
		for _, r := range p.resources {
			if r.delete == o {
				if f = p.createFixture(r); f != nil {
					params[r.idOf(o)] = f.id
				}
			}
		}
		x := p.send(o, params)
		if x.answer.code == "RATE_LIMIT_EXCEEDED" {
			rec.unjudged("operation %s refuses a request because there were too many", o.Name)
			continue
		}
		look(confirmation{o, f, params, x})
	}
	rec.skip("no operation is said to be destructive")
}

const confirmationRequired = "CONFIRMATION_REQUIRED"

func tokenOf(x *exchange) string {
	token, _ := x.answer.details["confirmation_token"].(string)
	return token
}

const permissionDenied = "PERMISSION_DENIED"

// byPerson reports whether an operation is confirmed by a person, who is not in this run. Introspection or the answer
// says so, and the server asked for confirmation without a token, or denied the request because it can ask nobody.
func (c confirmation) byPerson() bool {
	a := c.exchange.answer
	switch a.code {
	case confirmationRequired:
		return tokenOf(c.exchange) == "" && (c.operation.asksPerson() || textMember(a.details, "approval_id") != "")
	case permissionDenied:
		return c.operation.asksPerson()
	}
	return false
}

// askJudged reports whether an operation destroys what this run created and asked for confirmation, and records what
// is not judged if not.
func askJudged(rec *recorder, c confirmation) bool {
	switch {
	case c.exchange.answer.code != confirmationRequired && !c.byPerson():
		rec.unjudged("operation %s does not ask for confirmation, so it gives no token", c.operation.Name)
	case c.fixture == nil:
		rec.unjudged("operation %s destroys something that this run did not create", c.operation.Name)
	default:
		return true
	}
	return false
}

// tokenJudged is askJudged for what only a token shows.
func tokenJudged(rec *recorder, c confirmation) bool {
	switch {
	case c.byPerson():
		rec.unjudged("operation %s is confirmed by a person, and gives no token", c.operation.Name)
	case !askJudged(rec, c):
	case tokenOf(c.exchange) == "":
		rec.unjudged("operation %s asks for confirmation and gives no token", c.operation.Name)
	default:
		return true
	}
	return false
}

func withToken(params map[string]any, token string) map[string]any {
	return with(params, "_confirmation", token)
}

func checkConfirmationRequired(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, x := c.operation, c.exchange
		switch {
		case x.answer.success:
			rec.fail(exchanges(x), "operation %s is %s, and succeeds without confirmation", o.Name, dangerLevels[o.danger])
		case x.answer.code == permissionDenied && c.byPerson():
			rec.unjudged("operation %s is confirmed by a person, and there is none to ask", o.Name)
		default:
			rec.expectCode(x, confirmationRequired, "operation %s, which is %s, without confirmation", o.Name,
				dangerLevels[o.danger])
		}
	})
}

func checkToken(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, x := c.operation, c.exchange
		switch {
		case c.byPerson():
			rec.unjudged("operation %s is confirmed by a person, and gives no token", o.Name)
			return
		case x.answer.code != confirmationRequired:
			rec.unjudged("operation %s does not ask for confirmation, so it gives no token", o.Name)
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
		if !askJudged(rec, c) {
			return
		}
		switch read, y := p.readFixture(f); {
		case read != nil:
			rec.pass(y)
		case y.unreadable():
			rec.unjudged("the answer of operation %s can be read neither as success nor as failure", f.resource.get.Name)
		default:
			rec.fail(exchanges(x, y), "operation %s must wait for confirmation, and the %s cannot be read any more", o.Name,
				f.resource.noun)
		}
	})
}

func checkUnknownToken(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, params, x := c.operation, c.params, c.exchange
		if x.answer.code != confirmationRequired && !c.byPerson() {
			rec.unjudged("operation %s does not ask for confirmation, so it gives no token", o.Name)
			return
		}
		x = p.send(o, withToken(params, "conf_"+strings.Repeat("x", 43)))
		if c.byPerson() && !x.answer.success && x.answer.code != "TOKEN_INVALID" {
			// No token counts here. That this one is refused shows where the request without it is answered otherwise.
			if x.answer.code == permissionDenied && c.exchange.answer.code != permissionDenied {
				rec.pass(x)
			} else {
				rec.unjudged("operation %s is confirmed by a person, and does not say what it makes of a token", o.Name)
			}
			return
		}
		rec.expectCode(x, "TOKEN_INVALID", "operation %s with a token that was never given", o.Name)
	})
}

func checkTokenScope(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, params, token := c.operation, c.fixture, c.params, tokenOf(c.exchange)
		if !tokenJudged(rec, c) {
			return
		}
		other := p.createFixture(f.resource)
		if other == nil || equal(other.id, f.id) {
			rec.unjudged("no second %s could be created", f.resource.noun)
			return
		}
		y := p.send(o, withToken(with(params, f.resource.idOf(o), other.id), token))
		rec.expectCode(y, "TOKEN_SCOPE_MISMATCH", "operation %s with the token of another %s", o.Name, f.resource.noun)
	})
}

func checkTokenRedeemed(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, params, token := c.operation, c.fixture, c.params, tokenOf(c.exchange)
		if !tokenJudged(rec, c) {
			return
		}
		if there, _ := p.readFixture(f); there == nil {
			rec.unjudged("operation %s did not wait for the confirmation, or what it destroys cannot be read", o.Name)
			return
		}
		y := p.send(o, withToken(params, token))
		if !rec.needSuccess(y, "operation %s with its token", o.Name) {
			return
		}
		read, z := p.readFixture(f)
		rec.expect(read == nil, z, "operation %s succeeded, and the %s can still be read", o.Name, f.resource.noun)
	})
}

func checkTokenUsedOnce(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, params, token := c.operation, c.params, tokenOf(c.exchange)
		if !tokenJudged(rec, c) {
			return
		}
		if first := p.send(o, withToken(params, token)); !first.answer.success {
			rec.unjudged("operation %s does not succeed with its token", o.Name)
			return
		}
		y := p.send(o, withToken(params, token))
		switch {
		case strings.HasPrefix(y.answer.code, "TOKEN_"):
			rec.pass(y)
		case y.answer.success:
			rec.fail(exchanges(y), "operation %s succeeds a second time with the same token", o.Name)
		case y.uncoded() || y.unreadable():
			rec.unjudged("operation %s with a used token does not say by a code what is wrong", o.Name)
		default:
			rec.fail(exchanges(y), "operation %s with a used token must fail with a code of TOKEN_, not with %s", o.Name,
				y.answer.code)
		}
	})
}

func checkBatchConfirmation(p *prober, rec *recorder) {
	p.eachDestructive(rec, func(c confirmation) {
		o, f, params := c.operation, c.fixture, c.params
		if !askJudged(rec, c) {
			return
		}
		if c.exchange.answer.code == permissionDenied {
			rec.unjudged("operation %s is confirmed by a person, and there is none to ask", o.Name)
			return
		}
		x := p.call(o.Tool, map[string]any{"operations": []any{request(o, params), request(o, p.withNewFixtures(o, params))}})
		root := x.answer.root
		results, supported := root["results"].([]any)
		if !supported {
			rec.skip("a batch is answered without results, so batches are taken as not supported")
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

// asksPerson reports whether introspection says that a person confirms the operation, always or sometimes, and no
// token.
func (o *operation) asksPerson() bool {
	_, note, noted := strings.Cut(o.Description, "[danger: ")
	note, _, _ = strings.Cut(note, "]")
	return noted && strings.Contains(note, " required from the user")
}
