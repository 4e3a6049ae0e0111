package tagparse

import (
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// suggest returns the candidate that a misspelt word most likely means. Case does not count; a word that is nothing
// like any candidate has no suggestion.
func suggest(word string, candidates []string) (string, bool) {
	near := words.Nearest(word, candidates, 1)
	if len(near) == 0 {
		return "", false
	}
	return near[0], true
}

// translate returns what a key of other libraries is called in a scope.
func translate(word string, scope Scope) (string, bool) {
	known := parameterWords
	if scope == Operation || scope == Adopt && parameterWords[strings.ToLower(word)] != "desc" {
		known = operationWords
	}
	ours, ok := known[strings.ToLower(word)]
	return ours, ok
}

// parameterWords maps keys of validators, schema and flag libraries to the aql key with the same meaning.
var parameterWords = map[string]string{
	"oneof": "enum, with | between the values", "values": "enum", "options": "enum", "choices": "enum", "const": "enum",
	"eq":      "enum",
	"minimum": "min", "gte": "min", "ge": "min", "maximum": "max", "lte": "max", "le": "max",
	"gt": "min, which is inclusive", "exclusiveminimum": "min, which is inclusive",
	"lt": "max, which is inclusive", "exclusivemaximum": "max, which is inclusive",
	"minlength": "minlen", "min_length": "minlen", "maxlength": "maxlen", "max_length": "maxlen",
	"len": "minlen and maxlen", "length": "minlen and maxlen",
	"min_items": "minitems", "max_items": "maxitems", "notempty": "minlen=1, or minitems=1",
	"nonempty": "minlen=1, or minitems=1",
	"regexp":   "pattern", "regex": "pattern", "match": "pattern", "matches": "pattern",
	"description": "desc", "doc": "desc", "help": "desc", "usage": "desc", "title": "desc", "comment": "desc",
	"omitempty": "remove it: what is not required may be left out",
	"omitzero":  "remove it: what is not required may be left out",
	"optional":  "remove it: what is not required may be left out", "nullable": "remove it: null counts as left out",
	"require": "required", "mandatory": "required", "def": "default", "read_only": "readonly", "immutable": "readonly",
	"writeonly": "sensitive", "secret": "sensitive", "password": "sensitive",
	"email": "format=email", "url": "format=uri", "uri": "format=uri", "uuid": "format=uuid", "date": "format=date",
	"datetime": "format=date-time",
	"example":  "//aql:example above the handler", "examples": "//aql:example above the handler",
	"dive": `validate:"dive,…", which is read as well`, "hidden": `json:"-"`, "ignore": `json:"-"`, "-": `json:"-"`,
}

// operationWords maps words that people write for the keys of operations to those keys, or to the place for what is not
// a key.
var operationWords = map[string]string{
	"verb": "category", "method": "category", "kind": "category", "crud": "category", "type": "category",
	"severity": "danger", "risk": "danger", "level": "danger",
	"create": "category=CREATE", "read": "category=READ", "update": "category=UPDATE", "delete": "category=DELETE",
	"execute": "category=EXECUTE",
	"safe":    "danger=safe", "reversible": "danger=reversible", "destructive": "danger=destructive",
	"dangerous": "danger=dangerous", "forbidden": "danger=forbidden",
	"description": "the comment of the handler", "doc": "the comment of the handler",
	"summary": "the comment of the handler",
	"confirm": "//aql:confirm above the handler", "reason": "//aql:reason above the handler",
	"example": "//aql:example above the handler", "examples": "//aql:example above the handler",
}
