// Package tagparse has the grammar of aql struct tags and //aql: directives. It turns text into keys and values with
// the byte offset of each, and reports all mistakes in a text at once.
//
//	tag   = item { "," item }
//	item  = flag | key "=" value
//	value = bare | "'" { any character, '' for one ' } "'"
//	list  = value { "|" value }
//
// [Keys] lists the keys. The package knows nothing of Go types: whether a key fits the type of its field is checked
// elsewhere.
package tagparse

import "slices"

// Scope is where a tag is written. It decides which keys there are.
type Scope int

// The scopes.
const (
	Operation Scope = iota // the blank field of a request struct, or //aql:op
	Parameter              // any other field, or //aql:param
	Update                 // //aql:update
	Adopt                  // //aql:adopt
	Type                   // //aql:type
	Computed               // //aql:computed
	Relation               // //aql:relation
)

// ValueKind is what a key takes as its value.
type ValueKind int

// The kinds of values.
const (
	Flag     ValueKind = iota // none
	Text                      // any text
	FlagText                  // none, or any text
	FlagList                  // none, or texts separated by |
	Integer                   // a whole number, 0 or more
	Number                    // a JSON number
	Duration                  // a Go duration such as 30s
	OneOf                     // one of the key's values
	List                      // texts separated by |
	Literal                   // a value of the field's type
	Pattern                   // a regular expression
)

// Key is a key of the grammar. The table of keys feeds the parser, its suggestions, the help and the documentation.
type Key struct {
	Name      string
	Scope     Scope
	Value     ValueKind
	OneOf     []string
	Doc       string
	AppliesTo []string // kinds of values on the wire; empty: all
}

var (
	onText     = []string{"string"}
	onNumbers  = []string{"integer", "number"}
	onBytes    = []string{"bytes"}
	onArrays   = []string{"array", "object"}
	onBoolean  = []string{"boolean"}
	onIntegers = []string{"integer"}
)

// operationKeys, parameterKeys, adoptKeys, updateKeys, typeKeys and relationKeys are the tables of keys.
var (
	operationKeys = []Key{
		{Name: "op", Value: Text, Doc: "name of the operation; default: the function's name in snake_case"},
		{Name: "category", Value: OneOf, OneOf: []string{
			"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE",
		}, Doc: "semantic category; required"},
		{Name: "danger", Value: OneOf, OneOf: []string{
			"safe", "reversible", "destructive", "dangerous", "forbidden",
		}, Doc: "danger level; default: from the name and the category"},
		{Name: "endpoint", Value: Text, Doc: "endpoint family in an alternate profile"},
		{Name: "timeout", Value: Duration, Doc: "bound on the handler's run"},
		{Name: "deprecated", Value: FlagText, Doc: "that the operation should no longer be used, and why"},
		{Name: "replacement", Value: Text, Doc: "operation to use instead"},
		{Name: "sort", Value: Text, Doc: "order of a collection without sort in the request: a field; with -, descending"},
		{
			Name: "paging", Value: OneOf, OneOf: []string{"cursor", "page", "offset"},
			Doc: "how requests name a page of a collection: by cursors (default), by its number, or by an offset",
		},
		{
			Name: "query", Value: Flag,
			Doc: "that agents may filter, sort and page the structs that the function lists; on directives",
		},
		{
			Name: "durable", Value: Flag,
			Doc: "that executions outlive the session in which they were started, and the process; with a `*aql.Run`",
		},
		{
			Name: "retry", Value: Integer,
			Doc: "how often an attempt that has failed is repeated, and a failed execution started again; with a `*aql.Run`",
		},
		{
			Name: "keep", Value: Duration,
			Doc: "how long an execution that has ended can be read; default: 24h; with a `*aql.Run`",
		},
		{
			Name: "asks", Value: Flag,
			Doc: "that executions may wait for the answer of an operator or of their caller; with a `*aql.Run`",
		},
		{Name: "ids", Value: List, Doc: "fields that identify the resource of an update"},
		{
			Name: "guessed", Value: Flag,
			Doc: "that `aql-tag init` guessed category and danger; `lint` and `check` fail until a person removes it",
		},
	}
	parameterKeys = []Key{
		{
			Scope: Parameter, Name: "name", Value: Text,
			Doc: "name on the wire; default: the json tag, else the field's name in snake_case",
		},
		{Scope: Parameter, Name: "required", Value: Flag, Doc: "that requests without it are refused"},
		{Scope: Parameter, Name: "default", Value: Literal, Doc: "value when it is absent"},
		{Scope: Parameter, Name: "enum", Value: List, AppliesTo: onText, Doc: "allowed values"},
		{Scope: Parameter, Name: "min", Value: Number, AppliesTo: onNumbers, Doc: "smallest value"},
		{Scope: Parameter, Name: "max", Value: Number, AppliesTo: onNumbers, Doc: "largest value"},
		{Scope: Parameter, Name: "minlen", Value: Integer, AppliesTo: onText, Doc: "smallest length in characters"},
		{Scope: Parameter, Name: "maxlen", Value: Integer, AppliesTo: onText, Doc: "largest length in characters"},
		{Scope: Parameter, Name: "minitems", Value: Integer, AppliesTo: onArrays, Doc: "smallest number of items"},
		{Scope: Parameter, Name: "maxitems", Value: Integer, AppliesTo: onArrays, Doc: "largest number of items"},
		{
			Scope: Parameter, Name: "pattern", Value: Pattern, AppliesTo: onText,
			Doc: "regular expression (RE2) found somewhere in the value",
		},
		{
			Scope: Parameter, Name: "format", Value: Text, AppliesTo: onText,
			Doc: "date-time or date, which are checked, or a hint such as email, uri or uuid",
		},
		{
			Scope: Parameter, Name: "mime", Value: Text, AppliesTo: onBytes,
			Doc: "media type of binary data, which travels beside it; default: application/octet-stream",
		},
		{
			Scope: Parameter, Name: "string", Value: Flag, AppliesTo: onIntegers,
			Doc: "that an integer travels as a string, which clients in JavaScript do not round",
		},
		{Scope: Parameter, Name: "sensitive", Value: Flag, Doc: "that its values are shown nowhere"},
		{Scope: Parameter, Name: "readonly", Value: Flag, Doc: "that updates may not change it"},
		{Scope: Parameter, Name: "appendonly", Value: Flag, Doc: "that updates may not replace it"},
		{Scope: Parameter, Name: "id", Value: Flag, Doc: "that it identifies the resource"},
		{Scope: Parameter, Name: "preset", Value: List, Doc: "field-selection presets it belongs to"},
		{
			Scope: Parameter, Name: "filter", Value: FlagList,
			Doc: "that requests may filter a collection by it; with a value, only with these operators",
		},
		{
			Scope: Parameter, Name: "sort", Value: Flag,
			Doc: "that requests may sort a collection by it, and ask for its least and greatest value",
		},
		{
			Scope: Parameter, Name: "group", Value: Flag,
			Doc: "that summaries of a collection may be by its values: of texts, enums, booleans, integers and lists of those",
		},
		{
			Scope: Parameter, Name: "sum", Value: Flag,
			Doc: "that summaries of a collection may have the sum and the average of its values, which are numbers",
		},
		{
			Scope: Parameter, Name: "search", Value: Flag,
			Doc: "that the parameter query of operations called search_… looks into it: a text, or a list of texts",
		},
		{Scope: Parameter, Name: "alias", Value: List, Doc: "other names that are accepted for it"},
		{Scope: Parameter, Name: "deprecated", Value: FlagText, Doc: "that it should no longer be used, and why"},
		{
			Scope: Parameter, Name: "dryrun", Value: Flag, AppliesTo: onBoolean,
			Doc: "that a request with true validates and previews, and changes nothing",
		},
		{
			Scope: Parameter, Name: "once", Value: Flag, AppliesTo: onText,
			Doc: "that several calls with the same value start one execution; of operations with a `*aql.Run`",
		},
		{Scope: Parameter, Name: "desc", Value: Text, Doc: "description; default: the field's comment"},
	}
	adoptKeys = append(slices.Clone(operationKeys),
		Key{Scope: Adopt, Name: "desc", Value: Text, Doc: "description; default: the function's comment"},
		Key{
			Scope: Adopt, Name: "result", Value: Integer,
			Doc: "which of several results agents get, counted from 1; 0: none",
		},
	)
	updateKeys = []Key{
		{Scope: Update, Name: "get", Value: Text, Doc: "handler or operation that reads what the update changes"},
	}
	typeKeys = []Key{
		{Scope: Type, Name: "string", Value: Flag, Doc: "that its values are strings"},
		{Scope: Type, Name: "integer", Value: Flag, Doc: "that its values are integers"},
		{Scope: Type, Name: "number", Value: Flag, Doc: "that its values are numbers"},
		{Scope: Type, Name: "boolean", Value: Flag, Doc: "that its values are booleans"},
		{Scope: Type, Name: "array", Value: Flag, Doc: "that its values are arrays"},
		{Scope: Type, Name: "object", Value: Flag, Doc: "that its values are objects"},
		{Scope: Type, Name: "nullable", Value: Flag, Doc: "that it writes null for its zero value"},
		{Scope: Type, Name: "name", Value: Text, Doc: "name of the type for agents; default: its Go name"},
		{Scope: Type, Name: "desc", Value: Text, Doc: "description; default: its comment"},
		{Scope: Type, Name: "format", Value: Text, Doc: "format of its strings"},
		{Scope: Type, Name: "pattern", Value: Pattern, Doc: "regular expression (RE2) found somewhere in its strings"},
		{Scope: Type, Name: "enum", Value: List, Doc: "allowed strings"},
		{Scope: Type, Name: "minlen", Value: Integer, Doc: "smallest length of its strings in characters"},
		{Scope: Type, Name: "maxlen", Value: Integer, Doc: "largest length of its strings in characters"},
		{Scope: Type, Name: "min", Value: Number, Doc: "smallest number"},
		{Scope: Type, Name: "max", Value: Number, Doc: "largest number"},
	}
	relationKeys = []Key{
		{Scope: Relation, Name: "by", Value: Text, Doc: "field of the type that has the key; required"},
		{
			Scope: Relation, Name: "to", Value: Text,
			Doc: "READ operation that agents would call instead; who may not call it does not get the relation; required",
		},
		{
			Scope: Relation, Name: "param", Value: Text,
			Doc: "parameter of that operation that takes the key; default: the one with the name of the field, " +
				"else the only required one",
		},
		{Scope: Relation, Name: "many", Value: Flag, Doc: "that one key leads to any number of resources"},
		{
			Scope: Relation, Name: "type", Value: OneOf, OneOf: []string{
				"uses", "extends", "references", "triggers", "composes",
			}, Doc: "relationship that `query_relationships` follows; default: it does not follow this one",
		},
		{
			Scope: Relation, Name: "inverse", Value: Text,
			Doc: "TYPE.NAME of the relation that leads back; with it `query_relationships` finds incoming relationships",
		},
		{
			Scope: Relation, Name: "preset", Value: List,
			Doc: "field-selection presets it belongs to; default: none, not even full",
		},
		{Scope: Relation, Name: "desc", Value: Text, Doc: "description; default: the loader's comment"},
	}
)

// computedKeys is the table of keys of computed fields.
var computedKeys = []Key{
	{Scope: Computed, Name: "name", Value: Text, Doc: "name on the wire; default: the function's name in snake_case"},
	{
		Scope: Computed, Name: "filter", Value: FlagList,
		Doc: "that requests may filter a collection by it; with a value, only with these operators",
	},
	{Scope: Computed, Name: "sort", Value: Flag, Doc: "that requests may sort a collection by it"},
	{
		Scope: Computed, Name: "preset", Value: List,
		Doc: "field-selection presets it belongs to; default: none, not even full",
	},
}

// Keys returns the keys of a scope, in the order in which documentation lists them. The slice must not be changed.
func Keys(scope Scope) []Key {
	switch scope {
	case Operation:
		return operationKeys
	case Update:
		return updateKeys
	case Adopt:
		return adoptKeys
	case Type:
		return typeKeys
	case Computed:
		return computedKeys
	case Relation:
		return relationKeys
	default:
		return parameterKeys
	}
}

func lookup(name string, scope Scope) (Key, bool) {
	keys := Keys(scope)
	for i := range keys {
		if keys[i].Name == name {
			return keys[i], true
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
