package policyfile

// The keys of a policy file. The comment behind a key is what docs/policy.md says of it.

// policyKeys are the keys of a policy.
var policyKeys = []string{
	"version", // `1`; required
	"default", // what becomes of calls that no rule matches: `allow` (default), `confirm` or `deny`
	"rules",   // a list of rules, at most 1,000; all are evaluated, and of those that match the most restrictive counts
	"loop",    // what agents may do that report their actions to the safety loop
}

// ruleKeys are the keys of a rule.
var ruleKeys = []string{
	"name",           // unique name of the rule, which explanations and audit records show; required
	"effect",         // `allow`, `confirm` or `deny`; required, but for rules with `hide`
	"operations",     // list of patterns of operation names
	"categories",     // list of `CREATE`, `READ`, `UPDATE`, `DELETE` and `EXECUTE`
	"danger",         // lowest danger level: `safe`, `reversible`, `destructive`, `dangerous` or `forbidden`
	"callers",        // list of patterns of callers' names, which match no anonymous caller
	"issuers",        // list of patterns of who vouches for the caller
	"scopes",         // list of scopes, one of which the caller has
	"anonymous",      // `true`: only anonymous callers; `false`: only others
	"not",            // what the rule does not match
	"when",           // list of conditions on parameters, all of which hold
	"hide",           // list of patterns of fields, `Type.field`, that the callers do not get; in place of an effect
	"reason",         // explanation that agents get, at most 500 bytes
	"cooldown",       // how long a confirmation is not accepted yet, at most `1h`; with `confirm`
	"reauthenticate", // `true`: the person who confirms authenticates anew; with `confirm`
	"approvers",      // who has to approve in the inbox; with `confirm`
}

// exceptionKeys are the keys of what a rule does not match.
var exceptionKeys = []string{
	"operations", // list of patterns of operation names
	"callers",    // list of patterns of callers' names
	"issuers",    // list of patterns of who vouches for the caller
	"scopes",     // list of scopes
}

// conditionKeys are the keys of a condition.
var conditionKeys = []string{
	"param",        // name of a parameter, or a path: `filter.status`, or `tags.*` for the elements of a list; required
	"in",           // list of values, one of which it has
	"not_in",       // list of values, none of which it has
	"equals",       // value that it has
	"not_equals",   // value that it does not have
	"less_than",    // bound of a number or a moment
	"greater_than", // bound of a number or a moment
	"at_least",     // bound of a number or a moment
	"at_most",      // bound of a number or a moment
	"like",         // pattern of a text
	"not_like",     // pattern that a text does not match
	"given",        // `true`: it is given; `false`: it is not, and has no default
}

// approverKeys are the keys of who has to approve.
var approverKeys = []string{
	"count",  // how many people, up to 20; default: 1
	"groups", // list of groups, in one of which each of them is; default: anybody
	"not",    // `requester`: who asks does not count
	"reason", // `required`: everybody who decides gives a reason
	"within", // how long people have, and after the approval the agent; `1s` to `24h`
}

// loopKeys are the keys of the safety loop, besides limitKeys.
var loopKeys = []string{
	"mode",      // `enforcing` (default), `monitoring`, `logging` or `disabled`
	"block",     // whom a block stops: the `caller` (default) or the `agent`
	"silence",   // how long an agent may report nothing; default: `30m`
	"challenge", // how people let agents go on
	"agents",    // limits of single agents, by their names
}

// limitKeys are the keys of what an agent may do without a person.
var limitKeys = []string{
	"max_steps",         // how many steps it may take; default: 20
	"risk_tolerance",    // risk above which it pauses: `conservative`, `moderate` (default) or `aggressive`
	"deny",              // list of patterns of actions that block it
	"requires_approval", // list of patterns of actions of which a person approves each time
	"auto_approve",      // list of patterns of actions that go on whatever their risk
}

// challengeKeys are the keys of how people let agents go on.
var challengeKeys = []string{
	"expires",  // how long a challenge can be passed; default: `5m`
	"channel",  // least strength of where people see codes: `same_user`, `other_user` (default) or `other_device`
	"terminal", // how well the terminals of operators are kept from agents: as `channel`; default: `same_user`
	"console",  // the same of the console, where one is served; default: `same_user`
}

// agentKeys are the keys of an agent, besides limitKeys.
var agentKeys = []string{
	"loosen", // `true`: these limits take the place of those above, whatever they allow
}
