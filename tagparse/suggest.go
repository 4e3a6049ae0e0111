package tagparse

import "strings"

// Suggest returns the candidate that a misspelt word most likely means. Case does not count; a word that is nothing like
// any candidate has no suggestion.
func Suggest(word string, candidates []string) (string, bool) {
	const longest = 40
	if word == "" || len(word) > longest {
		return "", false
	}
	best, bestDistance := "", 0
	for _, candidate := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(candidate))
		if d <= max(1, len(candidate)/3) && (best == "" || d < bestDistance) {
			best, bestDistance = candidate, d
		}
	}
	return best, best != ""
}

// distance is the number of bytes to insert, remove, replace or swap with a neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// translate tells how a key that other libraries have is said in the grammar of a scope.
func translate(word string, scope Scope) (string, bool) {
	words := parameterWords
	if scope == Operation {
		words = operationWords
	}
	ours, ok := words[strings.ToLower(word)]
	return ours, ok
}

// parameterWords are the keys with which validators, schema and flag libraries say what a key of ours says.
var parameterWords = map[string]string{
	"oneof": "enum, with | between the values", "values": "enum", "options": "enum", "choices": "enum", "const": "enum", "eq": "enum",
	"minimum": "min", "gte": "min", "ge": "min", "maximum": "max", "lte": "max", "le": "max",
	"gt": "min, which is inclusive", "exclusiveminimum": "min, which is inclusive",
	"lt": "max, which is inclusive", "exclusivemaximum": "max, which is inclusive",
	"minlength": "minlen", "min_length": "minlen", "maxlength": "maxlen", "max_length": "maxlen", "len": "minlen and maxlen", "length": "minlen and maxlen",
	"min_items": "minitems", "max_items": "maxitems", "notempty": "minlen=1, or minitems=1", "nonempty": "minlen=1, or minitems=1",
	"regexp": "pattern", "regex": "pattern", "match": "pattern", "matches": "pattern",
	"description": "desc", "doc": "desc", "help": "desc", "usage": "desc", "title": "desc", "comment": "desc",
	"omitempty": "remove it: what is not required may be left out", "omitzero": "remove it: what is not required may be left out",
	"optional": "remove it: what is not required may be left out", "nullable": "remove it: null counts as left out",
	"require": "required", "mandatory": "required", "def": "default", "read_only": "readonly", "immutable": "readonly",
	"writeonly": "sensitive", "secret": "sensitive", "password": "sensitive",
	"email": "format=email", "url": "format=uri", "uri": "format=uri", "uuid": "format=uuid", "date": "format=date", "datetime": "format=date-time",
	"example": "//aql:example above the handler", "examples": "//aql:example above the handler",
	"dive": `validate:"dive,…", which is read as well`, "hidden": `json:"-"`, "ignore": `json:"-"`, "-": `json:"-"`,
}

// operationWords are what people write for the keys of operations, and what is no key because it has another place.
var operationWords = map[string]string{
	"verb": "category", "method": "category", "kind": "category", "crud": "category", "type": "category", "severity": "danger", "risk": "danger", "level": "danger",
	"create": "category=CREATE", "read": "category=READ", "update": "category=UPDATE", "delete": "category=DELETE", "execute": "category=EXECUTE",
	"safe": "danger=safe", "reversible": "danger=reversible", "destructive": "danger=destructive", "dangerous": "danger=dangerous", "forbidden": "danger=forbidden",
	"description": "the comment of the handler", "doc": "the comment of the handler", "summary": "the comment of the handler",
	"confirm": "//aql:confirm above the handler", "reason": "//aql:reason above the handler",
	"example": "//aql:example above the handler", "examples": "//aql:example above the handler",
}
