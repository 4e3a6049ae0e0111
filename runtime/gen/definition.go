package gen

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Category is the semantic category of an operation (MCP-AQL core §6.2).
type Category string

// The five semantic categories.
const (
	Create  Category = "CREATE"
	Read    Category = "READ"
	Update  Category = "UPDATE"
	Delete  Category = "DELETE"
	Execute Category = "EXECUTE"
)

// Categories lists the semantic categories in the order in which tools and listings show them.
func Categories() []Category { return []Category{Create, Read, Update, Delete, Execute} }

// Danger is how much harm an operation can do (MCP-AQL danger levels §2.1).
type Danger string

// The five danger levels, from harmless to never allowed without an explicit decision.
const (
	Safe        Danger = "safe"
	Reversible  Danger = "reversible"
	Destructive Danger = "destructive"
	Dangerous   Danger = "dangerous"
	Forbidden   Danger = "forbidden"
)

// Dangers lists the danger levels in rising order; a level's index is its number on the wire.
func Dangers() []Danger { return []Danger{Safe, Reversible, Destructive, Dangerous, Forbidden} }

// Level returns the number of d: 0 for safe to 4 for forbidden, and -1 for anything else.
func (d Danger) Level() int { return slices.Index(Dangers(), d) }

// DangerSource says where an operation's danger level comes from.
type DangerSource string

// The sources of a danger level, strongest first.
const (
	DangerFromTag      DangerSource = "tag"
	DangerFromPattern  DangerSource = "pattern"
	DangerFromCategory DangerSource = "category"
	DangerFromInput    DangerSource = "input" // an update whose input replaces what it leaves out
)

// Definitions are those of an adapter: its operations in their order, and the types they mention.
type Definitions struct {
	Name        string
	Version     string
	Description string // what the service is, in a few sentences; empty: nothing says it
	Operations  []Operation
	Types       []Type
	Relations   []Relation // between the types
}

// Operation finds an operation by its exact name.
func (a *Definitions) Operation(name string) (*Operation, bool) {
	for i := range a.Operations {
		if a.Operations[i].Name == name {
			return &a.Operations[i], true
		}
	}
	return nil, false
}

// Type finds a type by its exact name.
func (a *Definitions) Type(name string) (*Type, bool) {
	for i := range a.Types {
		if a.Types[i].Name == name {
			return &a.Types[i], true
		}
	}
	return nil, false
}

// SelectsFields reports whether an operation lets agents select fields of its result (MCP-AQL field selection §2).
func (a *Definitions) SelectsFields() bool {
	return slices.ContainsFunc(a.Operations, func(o Operation) bool { return o.SelectsFields() })
}

// Paginates reports whether an operation returns pages that a client walks with cursors (MCP-AQL pagination §2). That
// which follows relationships does, forwards only.
func (a *Definitions) Paginates() bool {
	return a.FollowsRelationships() || slices.ContainsFunc(a.Operations, func(o Operation) bool {
		for _, name := range []string{"first", "after", "last", "before"} {
			if _, has := o.Param(name); !has {
				return false
			}
		}
		return true
	})
}

// ConfirmationToken returns the parameter that an operation accepts in addition to its own if it may require
// confirmation (MCP-AQL confirmation tokens).
func ConfirmationToken() Param {
	return Param{
		Name: "confirmation_token", Type: "string", Sensitive: true,
		Description: "Token from a CONFIRMATION_REQUIRED failure; send the same request again with it to confirm",
	}
}

// Operation is one operation as an agent sees it.
type Operation struct {
	Name         string
	Category     Category
	Family       string // endpoint family asked for in alternate profiles; empty: the profile decides by category
	Description  string
	Danger       Danger
	DangerSource DangerSource
	Reasons      []string // why the operation is dangerous, shown before a confirmation
	Confirm      string   // confirmation message; {param} is replaced by the value of a parameter
	Params       []Param
	Returns      Returns
	Examples     []Example
	Timeout      time.Duration // zero: the adapter's default
	Deprecated   string        // what to know about the deprecation; empty: not deprecated
	Replacement  string        // the operation to use instead
	Source       string        // "file:line" of the handler, relative to its module
	// Relationships is what query_relationships follows; nil for every other operation (MCP-AQL introspection §3.3).
	Relationships *Relationships
	// Lifecycle is how the operation runs if it outlives its call; nil: it does not (MCP-AQL introspection §3.3).
	Lifecycle *Lifecycle
	// TypeToConfirm is the parameter whose value a person types back before a call runs; empty: there is none. Every call
	// then requires confirmation, and no token confirms one.
	TypeToConfirm string
}

// SelectsFields reports whether a parameter selects the fields of the result (MCP-AQL field selection §2).
func (o *Operation) SelectsFields() bool {
	return slices.ContainsFunc(o.Params, func(p Param) bool { return p.Type == TypeSelection })
}

// Param finds a parameter by its name on the wire.
func (o *Operation) Param(name string) (*Param, bool) {
	for i := range o.Params {
		if o.Params[i].Name == name {
			return &o.Params[i], true
		}
	}
	return nil, false
}

// TypeSelection is the type of a parameter that selects fields of a result: the name of one of its Presets, or a list
// of paths.
const TypeSelection = "string | string[]"

// Param is one parameter of an operation or one field of an object type, as seen on the wire.
type Param struct {
	Name string
	// Go is the path of the Go field, such as "Page.Limit"; empty: the struct itself. Of the field of a message with a
	// Codec it is its name in the JSON of the codec. Not on the wire.
	Go       string
	Type     string // string, integer, number, boolean, object, array, any, or the name of a Type
	Required bool
	// Nullable says that null is a value here: results may hold it, an element may be it, an update removes with it, and
	// a parameter distinguishes it from absence. Where it is not set, null is the absence of an optional parameter, and
	// refused in elements and updates (MCP-AQL core §4.7.6).
	Nullable    bool
	Description string
	Default     string   // JSON literal; empty: none
	Enum        []string // allowed values of a string
	Minimum     string   // JSON number, inclusive; empty: none
	Maximum     string   // JSON number, inclusive; empty: none
	MinLength   int      // in Unicode code points
	MaxLength   int      // in Unicode code points; 0: no bound
	MinItems    int
	MaxItems    int // 0: no bound
	Pattern     string
	Constant    string // the only value of a string, which the adapter writes itself; Go is the data that it describes
	Format      string // date-time and date are checked; email, uri, uuid and an author's own are hints; byte: base64
	FormatRule  bool   // Format is a rule for requests; results may hold other texts, such as "". Not on the wire
	Items       *Param // element of an array, or value of a map; its Name is empty
	Keys        *Param // of a map: the values that the names of its entries spell; nil: every text is a name
	Sensitive   bool
	ReadOnly    bool
	AppendOnly  bool
	ID          bool
	Aliases     []string
	Excludes    []string // fields that an object must not have beside this one: the others of a oneof
	Presets     []string // field-selection presets that a result field belongs to, or that a selection may name
	Search      bool     // a text in which searches of a collection look for words
	Filter      []string // operators by which requests may filter a collection by the field; nil: none
	OmitEmpty   bool     // encoding/json's omitempty, omitzero and string. Not on the wire
	OmitZero    bool
	Quoted      bool
	DryRun      bool // with true, the handler changes nothing
	Deprecated  string
}

// PatternInteger and PatternNatural are the patterns of integers, signed and unsigned, that travel in strings (MCP-AQL
// core §4.7.3).
const (
	PatternInteger = `^(0|-?[1-9][0-9]*)$`
	PatternNatural = `^(0|[1-9][0-9]*)$`
)

// PatternNumber is the pattern of other numbers that travel in strings.
const PatternNumber = `^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$`

// The formats of numbers. FormatBigInt is that of integers without bounds, those of *big.Int: others that have no
// bounds have 64 bits and a sign. FormatFloat is that of numbers of 32 bits, as in OpenAPI.
const (
	FormatBigInt = "bigint"
	FormatFloat  = "float"
)

// Updatable reports whether an update may change the field. Identifiers, and fields that are read-only or append-only,
// are protected (MCP-AQL core §4.5.3).
func (p *Param) Updatable() bool { return !p.ReadOnly && !p.AppendOnly && !p.ID }

// Change returns the field as an update may give it: not required, without a default, and null where that removes it,
// as it does every entry of a map. The bounds of a map are those of what the change makes of it, and not of the change.
func (p *Param) Change() Param {
	change := *p
	change.Required, change.Default, change.Nullable = false, "", p.Removable()
	change.Filter, change.Search = nil, false
	if bounds := sizeText(p); bounds != "" {
		change.MinItems, change.MaxItems = 0, 0
		change.Description = strings.TrimPrefix(strings.TrimSuffix(p.Description, ".")+". "+bounds, ". ")
	}
	if p.Type == "object" && p.Items != nil {
		items := p.Items.Change()
		items.Nullable = true
		change.Items = &items
	}
	return change
}

// sizeText says how many entries a map has; empty: any number.
func sizeText(p *Param) string {
	const start = "After the change it has "
	switch low, high := strconv.Itoa(p.MinItems), strconv.Itoa(p.MaxItems); {
	case p.Type != "object" || p.MinItems == 0 && p.MaxItems == 0:
		return ""
	case p.MinItems == 0:
		return start + "no more than " + high + " entries."
	case p.MaxItems == 0:
		return start + "no fewer than " + low + " entries."
	default:
		return start + low + " to " + high + " entries."
	}
}

// Removable reports whether an update may remove the value of the field with null (MCP-AQL core §4.5.2). It may where
// the value has an absent form: null itself, an empty list, map or []byte, a zero value that results leave out, or a
// default. Numbers, texts, booleans, times and structs have none.
func (p *Param) Removable() bool {
	switch {
	case p.Required, p.Constant != "":
		return false
	case p.Nullable, p.OmitEmpty, p.OmitZero, p.Default != "":
		return true
	case p.Type == "array", p.Type == "object":
		return p.MinItems == 0
	default:
		return p.Type == "string" && p.Format == "byte"
	}
}

// Returns names what an operation returns.
type Returns struct {
	Name        string
	Kind        TypeKind
	Description string
	Nullable    bool // a handler may return nil
}

// Example is one example request.
type Example struct {
	Params      string // JSON object
	Description string
}

// TypeKind is the kind of a type in introspection.
type TypeKind string

// The kinds of types (introspection schema, TypeKind).
const (
	KindEnum   TypeKind = "enum"
	KindObject TypeKind = "object"
	KindScalar TypeKind = "scalar"
	KindUnion  TypeKind = "union"
)

// Type is a type that operations mention by name.
type Type struct {
	Name        string
	Kind        TypeKind
	Description string
	Values      []EnumValue // of an enum
	Fields      []Param     // of an object
	Members     []string    // of a union
	Items       *Param      // of an object whose members all have one type; nil: its members are Fields
	Changes     string      // the type that values of this one change, for the input of updates; empty: none
	Filters     string      // the type of the elements that a filter of this type selects; empty: it is no filter
	Withheld    []string    // fields of an object that results leave out and nothing else has. Not on the wire
	Computed    []Param     // computed fields of an object; their names are those behind ComputedPrefix
	Related     []Param     // relations of an object that requests can select; see Definitions.RelateTypes
}

// EnumValue is one value of an enum type.
type EnumValue struct {
	Value       string
	Description string
}
