// Package tagparse is the grammar of aql struct tags and //aql: directives. It turns text into keys and values with the
// byte offset of each, and reports all that is wrong with a text at once. It knows nothing of Go types: whether a key
// fits its field is the scanner's to say.
package tagparse

// Scope is the place in which a tag stands.
type Scope int

// The scopes.
const (
	Operation Scope = iota // the blank field of a request struct, or //aql:op
	Parameter              // any other field, or //aql:param
)

// String names the scope in messages.
func (s Scope) String() string {
	if s == Operation {
		return "operation"
	}
	return "parameter"
}

// ValueKind is what a key takes as its value.
type ValueKind int

// The kinds of values.
const (
	Flag     ValueKind = iota // none
	Text                      // any text
	FlagText                  // none, or any text
	Integer                   // a whole number, 0 or more
	Number                    // a JSON number
	Duration                  // a Go duration such as 30s
	OneOf                     // one of the key's values
	List                      // texts separated by |
	Literal                   // a value of the field's type
	Pattern                   // a regular expression
)

// Key is one key of the grammar. The table of keys feeds the parser, its suggestions, the help and the documentation.
type Key struct {
	Name      string
	Scope     Scope
	Value     ValueKind
	OneOf     []string
	Doc       string
	AppliesTo []string // kinds of values on the wire; empty: all
}

var (
	onText    = []string{"string"}
	onNumbers = []string{"integer", "number"}
	onArrays  = []string{"array", "object"}
)

// Keys returns the keys of a scope, in the order in which documentation shows them.
func Keys(scope Scope) []Key {
	if scope == Operation {
		return []Key{
			{Name: "op", Value: Text, Doc: "name of the operation; default: the function's name in snake_case"},
			{Name: "category", Value: OneOf, OneOf: []string{"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}, Doc: "semantic category; required"},
			{Name: "danger", Value: OneOf, OneOf: []string{"safe", "reversible", "destructive", "dangerous", "forbidden"}, Doc: "danger level; default: from the name and the category"},
			{Name: "endpoint", Value: Text, Doc: "endpoint family in an alternate profile"},
			{Name: "timeout", Value: Duration, Doc: "bound on the handler's run"},
			{Name: "deprecated", Value: FlagText, Doc: "that the operation should no longer be used, and why"},
			{Name: "replacement", Value: Text, Doc: "operation to use instead"},
			{Name: "ids", Value: List, Doc: "fields that identify the resource of an update"},
		}
	}
	keys := []Key{
		{Name: "name", Value: Text, Doc: "name on the wire; default: the json tag, else the field's name in snake_case"},
		{Name: "required", Value: Flag, Doc: "that requests without it are refused"},
		{Name: "default", Value: Literal, Doc: "value when it is absent"},
		{Name: "enum", Value: List, AppliesTo: onText, Doc: "allowed values"},
		{Name: "min", Value: Number, AppliesTo: onNumbers, Doc: "smallest value"},
		{Name: "max", Value: Number, AppliesTo: onNumbers, Doc: "largest value"},
		{Name: "minlen", Value: Integer, AppliesTo: onText, Doc: "smallest length in characters"},
		{Name: "maxlen", Value: Integer, AppliesTo: onText, Doc: "largest length in characters"},
		{Name: "minitems", Value: Integer, AppliesTo: onArrays, Doc: "smallest number of items"},
		{Name: "maxitems", Value: Integer, AppliesTo: onArrays, Doc: "largest number of items"},
		{Name: "pattern", Value: Pattern, AppliesTo: onText, Doc: "regular expression (RE2) found somewhere in the value"},
		{Name: "format", Value: Text, AppliesTo: onText, Doc: "hint such as email, uri, uuid or date"},
		{Name: "sensitive", Value: Flag, Doc: "that its values are shown nowhere"},
		{Name: "readonly", Value: Flag, Doc: "that updates may not change it"},
		{Name: "appendonly", Value: Flag, Doc: "that updates may not replace it"},
		{Name: "id", Value: Flag, Doc: "that it identifies the resource"},
		{Name: "preset", Value: List, Doc: "field-selection presets it belongs to"},
		{Name: "alias", Value: List, Doc: "other names that are accepted for it"},
		{Name: "deprecated", Value: FlagText, Doc: "that it should no longer be used, and why"},
		{Name: "desc", Value: Text, Doc: "description; default: the field's comment"},
	}
	for i := range keys {
		keys[i].Scope = Parameter
	}
	return keys
}

func lookup(name string, scope Scope) (Key, bool) {
	for _, key := range Keys(scope) {
		if key.Name == name {
			return key, true
		}
	}
	return Key{}, false
}

func names(scope Scope) []string {
	var all []string
	for _, key := range Keys(scope) {
		all = append(all, key.Name)
	}
	return all
}
