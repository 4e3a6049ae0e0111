// Package policyfile reads policies from YAML files, and follows the changes of a file.
//
//	version: 1
//	default: allow
//	rules:
//	  - name: no-deletes-by-machines
//	    effect: deny
//	    operations: ["delete_*"]
//	    callers: ["ci-*"]
//	    reason: Removing is not for machines
//	  - name: large-purges
//	    effect: confirm
//	    operations: [purge_completed]
//	    when:
//	      - {param: older_than_days, less_than: 30}
//	    cooldown: 10s
//	    approvers: {count: 2, groups: [ops], not: requester, reason: required, within: 1h}
//	  - name: mails-are-for-support
//	    hide: [Customer.email]
//	    not: {scopes: [support]}
//
// The keys are the fields of policy.Policy, policy.Rule, policy.Exception and policy.Condition, in snake case, and
// those of policy.Approvers as above. Every other key is a mistake. An adapter with an execution safety loop has its
// configuration here too (policy.Loop):
//
//	loop:
//	  mode: enforcing
//	  max_steps: 20
//	  risk_tolerance: moderate
//	  deny: ["rm -rf*", "drop_*"]
//	  requires_approval: ["git push*", "deploy*"]
//	  auto_approve: ["read_*", "list_*"]
//	  block: caller
//	  silence: 30m
//	  challenge: {expires: 5m, channel: other_user, terminal: other_user}
//	  agents:
//	    release_bot: {max_steps: 50, risk_tolerance: conservative, loosen: true}
//
// The language is the part of YAML that every reader understands alike: booleans are true and false, other words that
// some readers take for booleans must be quoted, and there are no anchors, tags and second documents.
package policyfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/aqltag/aqltag/runtime/policy"
)

// longestFile bounds policy files, in bytes.
const longestFile = 1 << 20

// Parse reads a policy from YAML; name is the name of the file, for mistakes. The error is of type policy.Mistakes and
// holds everything that is wrong, down to keys that do not exist and patterns that could never match. Mistakes that
// depend on the operations of an adapter are found by Bind of the policy.
func Parse(name string, text []byte) (*policy.Policy, error) {
	file := &source{name: name, positions: make(map[policy.Part]position)}
	d := &decoder{policy: &policy.Policy{Source: file}, source: file, unread: make(map[policy.Part]bool)}
	root := d.load(text)
	if root == nil {
		return nil, d.mistakes.Err()
	}
	d.lines = strings.Split(string(text), "\n")
	d.document(root)
	mistakes := slices.Concat(d.mistakes, d.policy.Validate(d.unread), d.policy.ValidateLoop(d.unread))
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	return d.policy, nil
}

// load parses the text as YAML; nil: it is not YAML, which is then a mistake.
func (d *decoder) load(text []byte) *yaml.Node {
	if len(text) > longestFile {
		d.addAt(1, 1, "the file is longer than %d bytes", longestFile)
		return nil
	}
	if !utf8.Valid(text) {
		line, column := lineColumn(text, invalidUTF8(text))
		d.addAt(line, column, "the file is not valid UTF-8")
		return nil
	}
	var root yaml.Node
	err := yaml.Load(text, &root)
	if err == nil {
		return &root
	}
	var first *yaml.LoadError
	var several *yaml.LoadErrors
	if errors.As(err, &several) && len(several.Errors) > 0 {
		first = several.Errors[0]
	} else if !errors.As(err, &first) {
		d.addAt(1, 1, "the file cannot be read as YAML: %v", err)
		return nil
	}
	line, column := first.Mark.Line, first.Mark.Column
	if line == 0 {
		line, column = lineColumn(text, min(first.Mark.Index, len(text)))
	}
	message := strings.TrimPrefix(first.Message, "yaml: ")
	switch {
	case strings.Contains(message, "no documents"):
		message = "the file is empty; a policy that says nothing is `version: 1` and `rules: []`"
	case strings.Contains(message, "found multiple"):
		line, column = lineColumn(text, bytes.LastIndex(text, []byte("\n---"))+1)
		message = "a second document begins here; a file holds one policy"
	case strings.Contains(message, "unknown anchor"):
		message = "what begins with * is a reference in YAML; quote a pattern that begins so, as in \"*_todo\""
	default:
		message = "the file is not YAML: " + message
	}
	d.addAt(line, column, "%s", message)
	return nil
}

// lineColumn returns the line and column of an offset, both from 1.
func lineColumn(text []byte, offset int) (line, column int) {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// add adds a mistake in a part.
func (d *decoder) add(part policy.Part, format string, args ...any) {
	d.mistakes = append(d.mistakes, d.policy.Mistake(part, -1, fmt.Sprintf(format, args...)))
}

// addUnread adds a mistake because of which the value of a part could not be read.
func (d *decoder) addUnread(part policy.Part, format string, args ...any) {
	d.markUnread(part)
	d.add(part, format, args...)
}

// addAt adds a mistake at a position that is not that of a part.
func (d *decoder) addAt(line, column int, format string, args ...any) {
	m := policy.Mistake{File: d.source.name, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
	d.mistakes = append(d.mistakes, m)
}

func (d *decoder) markUnread(part policy.Part) { d.unread[item(part, -1)] = true }
