package console_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/verify"
)

// agentOf is the execution of an agent.
func agentOf(id, name string, who identity.Caller, state execution.State) aql.Overseen {
	return running(id, func(of *aql.Overseen) {
		of.Operation, of.Agent, of.Outside, of.Caller, of.State = gen.ExecuteAgent, name, true, who, state
		of.Worker, of.Progress = "", nil
	})
}

// F63: the pages of agents in each of their states.
func TestAgentPages(t *testing.T) {
	bob := identity.Caller{Subject: "bob", Issuer: "stdio"}
	all := []aql.Overseen{
		agentOf("exec_4", "release_bot", ann, execution.Running), agentOf("exec_3", "release_bot", ann, execution.Failed),
		agentOf("exec_2", "release_bot", bob, execution.Running), agentOf("exec_1", "import_bot", ann, execution.Running),
		agentOf("exec_0", "old_bot", ann, execution.Completed),
	}
	log := &logged{}
	for i, event := range []audit.Event{audit.AgentStarted, audit.StepEvaluated, audit.AgentBlocked} {
		log.records = append(log.records, audit.Record{
			Time: opened.Add(time.Duration(i) * time.Second), ID: uint64(i + 1), Event: event,
			Operation: "record_execution_step", Outcome: audit.Allowed, Agent: "release_bot", Caller: ann,
		})
	}
	for name, tt := range map[string]struct {
		of     []aql.Overseen
		log    *logged
		hold   bool
		path   string
		status int
	}{
		"agents-empty":    {path: "/agents", status: 200},
		"agents":          {of: all, hold: true, path: "/agents", status: 200},
		"agent-blocked":   {of: all, hold: true, log: log, path: "/agents/release_bot", status: 200},
		"agent-of-no-log": {of: all, path: "/agents/import_bot", status: 200},
		"agent-has-gone":  {log: log, path: "/agents/release_bot", status: 200},
		"agent-broken-log": {
			of: all, log: &logged{records: log.records, change: spoiled}, path: "/agents/import_bot", status: 200,
		},
		"agent-unknown": {of: all, log: log, path: "/agents/nobody", status: 404},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(o *console.Options) {
				(&begun{all: tt.of}).with(o)
				if o.Agents = true; tt.log != nil {
					tt.log.with(t)(o)
				}
			})
			if tt.hold {
				s.hold(isBlocked)
				paused := isBlocked
				paused.Agent, paused.Block, paused.Execution = "import_bot", false, "exec_1"
				s.hold(paused)
				s.ask(func(q *approve.Question) {
					q.Kind, q.Caller, q.Message, q.Params = approve.Step, bob, "May it push?", `{"execution_id":"exec_2"}`
				})
			}
			checkAnswer(t, name, s.person("eve").get(tt.path), tt.status)
		})
	}
}

// spoiled changes the second line of a log.
func spoiled(text []byte) []byte {
	return []byte(strings.Replace(string(text), string(audit.StepEvaluated), string(audit.AgentEnded), 1))
}

// An agent that is held leads to what lets it go on, and one that two callers have is two.
func TestAgentsLeadToWhatHoldsThem(t *testing.T) {
	other := identity.Caller{Subject: "ann", Issuer: "idp"}
	s := newSite(t, func(o *console.Options) {
		(&begun{all: []aql.Overseen{
			agentOf("exec_1", "release_bot", ann, execution.Running), agentOf("exec_2", "release_bot", other, execution.Running),
		}}).with(o)
		o.Agents = true
	})
	b, held := s.person("eve"), s.hold(isBlocked)
	for _, path := range []string{"/agents", "/agents/release_bot"} {
		page := b.get(path).Body.String()
		if strings.Count(page, `href="/items/`+held.ID+`"`) != 1 || strings.Count(page, `<th scope="row">`) != 2 {
			t.Errorf("%s:\n%s", path, page)
		}
	}
	form := b.form(held.ID, "approve")
	form.Set("reason", "I have looked at what it does")
	b.post("/items/"+held.ID, form)
	if page := b.get("/agents").Body.String(); strings.Contains(page, held.ID) || strings.Contains(page, "blocked") {
		t.Errorf("it is not held any more:\n%s", page)
	}
}

// An item leads to its agent and to its execution, where the console has pages of them.
func TestItemsLeadToTheirAgents(t *testing.T) {
	const agent, execution = `<a href="/agents/import_bot">import_bot</a>`, `<a href="/executions/exec_1">exec_1</a>`
	paused := isBlocked
	paused.Agent, paused.Block, paused.Execution = "import_bot", false, "exec_1"
	for name, tt := range map[string]struct {
		change func(*console.Options)
		has    []string
		hasNo  []string
	}{
		"with pages of both": {func(o *console.Options) {
			new(begun).with(o)
			o.Agents = true
		}, []string{agent, execution}, nil},
		"with pages of executions": {new(begun).with, []string{"<dd>import_bot</dd>", execution}, []string{agent}},
		"with neither":             {nil, []string{"<dd>import_bot</dd>", "<dd>exec_1</dd>"}, []string{agent, execution}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tt.change)
			page := s.person("eve").get("/items/" + s.hold(paused).ID).Body.String()
			for _, text := range append(tt.has, tt.hasNo...) {
				if strings.Contains(page, text) != slices.Contains(tt.has, text) {
					t.Errorf("%s stands there or does not:\n%s", text, page)
				}
			}
		})
	}
}

// The name of an agent is text wherever it stands, and no part of an address but the last.
func TestNamesOfAgentsAreText(t *testing.T) {
	const name = "../<script>alert(1)</script>?x=\u202e\n"
	s := newSite(t, func(o *console.Options) {
		(&begun{all: []aql.Overseen{agentOf("exec_1", name, ann, execution.Running)}}).with(o)
		o.Agents = true
	})
	s.hold(verify.Subject{Agent: name, Block: true, Reasons: []string{"A rule denies it"}, Says: "x"})
	b := s.person("eve")
	for _, path := range []string{"/agents", "/agents/" + url.PathEscape(name)} {
		answer := b.get(path)
		page := answer.Body.String()
		for _, misleads := range []string{"<script>alert", "\u202e", `href="/agents/../`} {
			if strings.Contains(page, misleads) || answer.Code != http.StatusOK {
				t.Errorf("%s has %q: %d\n%s", path, misleads, answer.Code, page)
			}
		}
		checkPage(t, page)
	}
}

// An agent whose name browsers take for a step up leads nowhere.
func TestAgentsWithoutAPage(t *testing.T) {
	s := newSite(t, func(o *console.Options) {
		(&begun{all: []aql.Overseen{
			agentOf("exec_1", ".", ann, execution.Running), agentOf("exec_2", "..", ann, execution.Running),
			agentOf("exec_3", "...", ann, execution.Running),
		}}).with(o)
		o.Agents = true
	})
	page := s.person("eve").get("/agents").Body.String()
	if n := strings.Count(page, `href="/agents/`); n != 1 || !strings.Contains(page, `href="/agents/..."`) ||
		!strings.Contains(page, `<th scope="row">..</th>`) {
		t.Errorf("%d lead to pages:\n%s", n, page)
	}
}

// Executions that cannot be read are said to be so.
func TestAgentsThatCannotBeRead(t *testing.T) {
	s := newSite(t, func(o *console.Options) {
		(&begun{err: errors.New("dial tcp 10.0.0.7:5432: connection refused")}).with(o)
		o.Agents = true
	})
	if answer := s.person("eve").get("/agents"); answer.Code != http.StatusServiceUnavailable ||
		strings.Contains(answer.Body.String(), "10.0.0.7") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
