package policyfile_test

import (
	"fmt"
	"log"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/notes"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

// A policy in YAML. Open reads one from a file.
func ExampleParse() {
	rules, err := policyfile.Parse("policy.yaml", []byte(`
version: 1
default: allow
rules:
  - name: no-deletes-by-machines
    effect: deny
    operations: ["delete_*"]
    callers: ["ci-*"]
    reason: Removing is not for machines
  - name: paint-slowly
    effect: confirm
    operations: [paint_note]
    when:
      - {param: input.color, in: [red, black]}
    cooldown: 10s
`))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Policy: rules}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(rules.Rules), "rules")
	// Output: 2 rules
}

// Mistakes have the place in the file.
func ExampleParse_mistakes() {
	_, err := policyfile.Parse("policy.yaml", []byte(`version: 1
rules:
  - name: no-deletes
    efect: deny
    operations: delete_note
    anonymous: yes
`))
	fmt.Println(err)
	// Output:
	// policy.yaml:4:5: a rule has no key "efect"; did you mean effect?
	// policy.yaml:5:17: operations is "delete_note"; it must be a list: write [delete_note]
	// policy.yaml:6:16: anonymous is "yes"; write true
}
