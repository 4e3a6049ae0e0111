package gen

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// QueryRelationships is the name of the operation that follows relationships (MCP-AQL relationship queries §1).
const QueryRelationships = "query_relationships"

// The bounds of how many relationships may lie between the root of a query and what it finds.
const (
	RelationshipDepth    = 1 // where a request gives none
	MaxRelationshipDepth = 3
)

// Relationships are what the operation query_relationships follows (MCP-AQL introspection §3.3,
// relationship_capabilities).
type Relationships struct {
	Directions []string
	Types      []string // of relationships
	Roots      []string // element types at which a query can begin

	// operation is RelationshipOperation. Only definitions that have the operation lead to it, so that the linker leaves
	// it out of other adapters.
	operation func(a *Definitions) *Operation
}

// The directions of relationship queries.
const (
	Outgoing = "outgoing"
	Incoming = "incoming"
	Both     = "both"
)

// RelationshipSections are the sections of an answer that a request can include.
func RelationshipSections() []string {
	return []string{"root", "relationships", "graph.nodes", "graph.edges"}
}

// ElementType returns the name that relationship queries have for a type: todo_list for TodoList.
func ElementType(typ string) string {
	runes := []rune(typ)
	var b strings.Builder
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Reader finds the READ operation that returns one value of a type by its id, and the parameter that takes the id: the
// one called get_ and the type, else that to which a relation leads by the id, else the only one.
func (a *Definitions) Reader(typ string) (operation, param string, ok bool) {
	names := []string{"id", ElementType(typ), ElementType(typ) + "_id"}
	if t, known := a.Type(typ); known {
		if found := Identifiers(t.Fields); len(found) == 1 {
			names = append(names, t.Fields[found[0]].Name)
		}
	}
	readers := make(map[string]string) // to their parameters
	for i := range a.Operations {
		o := &a.Operations[i]
		if id := o.identifier(names); id != "" && o.Category == Read && o.Returns.Name == typ {
			readers[o.Name] = id
		}
	}
	if get := "get_" + ElementType(typ); readers[get] != "" {
		return get, readers[get], true
	}
	for i := range a.Relations {
		r := &a.Relations[i]
		if id := readers[r.To]; r.Target == typ && !r.Many && id != "" && id == r.Param {
			return r.To, id, true
		}
	}
	if len(readers) == 1 {
		for operation, param = range readers {
			return operation, param, true
		}
	}
	return "", "", false
}

// identifier returns the only required parameter, where it is tagged as an id or has one of the names of ids; empty: no
// parameter is sure to identify a value.
func (o *Operation) identifier(names []string) string {
	var only *Param
	for i := range o.Params {
		if p := &o.Params[i]; p.Required {
			if only != nil {
				return ""
			}
			only = p
		}
	}
	if only != nil && (only.ID || slices.Contains(names, only.Name)) {
		return only.Name
	}
	return ""
}

// relationshipsOf returns what the relations allow to follow; nil: nothing.
func relationshipsOf(a *Definitions) *Relationships {
	found := &Relationships{Directions: []string{Outgoing}, operation: RelationshipOperation}
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	root := func(typ string) {
		if _, _, ok := a.Reader(typ); ok {
			add(&found.Roots, ElementType(typ))
		}
	}
	for i := range a.Relations {
		r := &a.Relations[i]
		if r.Type == "" {
			continue
		}
		add(&found.Types, r.Type)
		root(r.Of)
		if a.Inverse(r) != nil {
			found.Directions = []string{Outgoing, Incoming, Both}
			root(r.Target)
		}
	}
	if found.Roots == nil {
		return nil
	}
	slices.Sort(found.Types)
	slices.Sort(found.Roots)
	return found
}

// Inverse returns the relation that leads back from where a relation leads; nil: there is none.
func (a *Definitions) Inverse(r *Relation) *Relation {
	for i := range a.Relations {
		if back := &a.Relations[i]; back.LeadsBack(r) {
			return back
		}
	}
	return nil
}

// LeadsBack reports whether a relation is the inverse that another one names.
func (r *Relation) LeadsBack(other *Relation) bool {
	return other.Inverse != "" && r.Name == other.Inverse && r.Of == other.Target && r.Target == other.Of
}

// FollowsRelationships reports whether an operation follows relationships (MCP-AQL relationship queries).
func (a *Definitions) FollowsRelationships() bool {
	return slices.ContainsFunc(a.Operations, func(o Operation) bool { return o.Relationships != nil })
}

// AddRelationships adds the operation query_relationships and its types, where there is something that it can follow.
// It also lists the relations that requests can select.
func AddRelationships(a *Definitions) {
	a.RelateTypes()
	if _, taken := a.Operation(QueryRelationships); taken {
		return
	}
	if o := RelationshipOperation(a); o != nil {
		a.Operations = append(slices.Clip(a.Operations), *o)
		a.Types = append(slices.Clip(a.Types), RelationshipTypes()...)
		a.NameRoots()
	}
}

// narrowRelationships makes the operation query_relationships that of the relations, and removes it where they lead
// nowhere.
func (a *Definitions) narrowRelationships() {
	at := slices.IndexFunc(a.Operations, func(o Operation) bool { return o.Relationships != nil })
	if at < 0 {
		return
	}
	if o := a.Operations[at].Relationships.operation(a); o != nil {
		a.Operations[at] = *o
	} else {
		a.Operations = slices.Delete(a.Operations, at, at+1)
	}
}

// RelationshipOperation returns the operation query_relationships; nil: there is nothing that it could follow.
func RelationshipOperation(a *Definitions) *Operation {
	r := relationshipsOf(a)
	if r == nil {
		return nil
	}
	o := &Operation{
		Name: QueryRelationships, Category: Read, Danger: Safe, DangerSource: DangerFromCategory, Relationships: r,
		Description: "Finds what an element is related to, and what that is related to.",
		Params: []Param{
			{
				Name: "root", Go: "Root", Type: rootType, Required: true,
				Description: `Where to begin: {"element_type":t,"element_name":"id"}; t: ` + strings.Join(r.Roots, ", "),
			},
			{
				Name: "direction", Go: "Direction", Type: "string", Required: true, Enum: r.Directions,
				Description: "Of the relationships, as seen from the root",
			},
			{
				Name: "relationship", Go: "Relationship", Type: "string", Enum: r.Types,
				Description: "Only relationships of this type",
			},
			{
				Name: "depth", Go: "Depth", Type: "integer", Default: strconv.Itoa(RelationshipDepth), Minimum: "1",
				Maximum: strconv.Itoa(MaxRelationshipDepth), Description: "How many relationships to follow, one behind the other",
			},
			{
				Name: "include", Go: "Include", Type: "array", Items: &Param{Type: "string", Enum: RelationshipSections()},
				Description: "Sections of the answer; all where none are given, and root always",
			},
			{
				Name: "first", Go: "First", Type: "integer", Minimum: "0",
				Description: "How many relationships the answer has; all where none is given",
			},
			{
				Name: "after", Go: "After", Type: "string",
				Description: "pageInfo.endCursor of the answer before, with first and otherwise the same request",
			},
		},
	}
	answer := &RelationshipTypes()[0]
	o.Returns = Returns{Name: answer.Name, Kind: answer.Kind, Description: answer.Description, Nullable: true}
	return o
}

// rootType is the type of the parameter root.
const rootType = "RelationshipRoot"

// NameRoots makes the type of the parameter root name the element types at which a query can begin.
func (a *Definitions) NameRoots() {
	at := slices.IndexFunc(a.Operations, func(o Operation) bool { return o.Relationships != nil })
	if at < 0 {
		return
	}
	roots := a.Operations[at].Relationships.Roots
	a.Types = slices.Clone(a.Types)
	for i := range a.Types {
		if t := &a.Types[i]; t.Name == rootType {
			t.Fields = slices.Clone(t.Fields)
			t.Fields[0].Enum = roots
		}
	}
}

// RelationshipTypes returns the types of the operation query_relationships, that of its result first.
func RelationshipTypes() []Type {
	text := func(name, goName, description string) Param {
		return Param{Name: name, Go: goName, Type: "string", Required: true, Description: description}
	}
	elements := func(name, goName, typ, description string) Param {
		return Param{
			Name: name, Go: goName, Type: "array", Items: &Param{Type: typ}, OmitZero: true, Description: description,
		}
	}
	return []Type{
		{
			Name: "RelationshipAnswer", Kind: KindObject, Description: "What an element is related to.", Fields: []Param{
				{Name: "root", Go: "Root", Type: "RelationshipElement", Required: true, Description: "Where the query began"},
				elements("relationships", "Relationships", "RelationshipRecord", "Nearer ones first"),
				{
					Name: "graph", Go: "Graph", Type: "RelationshipGraph", OmitEmpty: true, Nullable: true,
					Description: "The same as a graph",
				},
				{
					Name: "pageInfo", Go: "Page", Type: "RelationshipPageInfo", OmitEmpty: true, Nullable: true,
					Description: "Where first is given",
				},
			},
		},
		{
			Name: "RelationshipEdge", Kind: KindObject, Description: "A relationship between two nodes.", Fields: []Param{
				text("source", "Source", "id of a node"),
				text("target", "Target", "id of a node"),
				text("type", "Type", "Type of the relationship"),
			},
		},
		{
			Name: "RelationshipElement", Kind: KindObject, Description: "What identifies an element.", Fields: []Param{
				text("element_type", "Type", "Its type"),
				text("element_name", "Name", "Its id among those of its type; that of an integer, too, as a string"),
			},
		},
		{
			Name: "RelationshipGraph", Kind: KindObject, Description: "Elements and their relationships.", Fields: []Param{
				elements("nodes", "Nodes", "RelationshipNode", "Each once"),
				elements("edges", "Edges", "RelationshipEdge", "Each once"),
			},
		},
		{
			Name: "RelationshipNode", Kind: KindObject, Description: "An element in a graph.", Fields: []Param{
				text("id", "ID", "Its type and name"),
				text("element_type", "Type", "Its type"),
				text("element_name", "Name", "Its id among those of its type; that of an integer, too, as a string"),
			},
		},
		{
			Name: "RelationshipPageInfo", Kind: KindObject, Description: "What is around the relationships of an answer.",
			Fields: []Param{
				{
					Name: "hasNextPage", Go: "Next", Type: "boolean", Required: true,
					Description: "Whether there are more behind them",
				},
				{
					Name: "hasPreviousPage", Go: "Previous", Type: "boolean", Required: true,
					Description: "Whether there are some in front of them",
				},
				{Name: "startCursor", Go: "Start", Type: "string", OmitEmpty: true, Description: "Of the first one"},
				{Name: "endCursor", Go: "End", Type: "string", OmitEmpty: true, Description: "Of the last one; for after"},
				{Name: "totalCount", Go: "Total", Type: "integer", Required: true, Description: "How many there are in all"},
			},
		},
		{
			Name: rootType, Kind: KindObject, Description: "Where relationships begin.", Fields: []Param{
				text("element_type", "Type", "Its type"),
				text("element_name", "Name", "Its id among those of its type; that of an integer, too, as a string"),
			},
		},
		{
			Name: "RelationshipRecord", Kind: KindObject, Description: "A relationship that was found.", Fields: []Param{
				text("type", "Type", "Type of the relationship"),
				text("direction", "Direction", "outgoing or incoming, as seen from the root"),
				{
					Name: "target", Go: "Target", Type: "RelationshipElement", Required: true,
					Description: "The element that it leads to",
				},
				{
					Name: "depth", Go: "Depth", Type: "integer", Required: true,
					Description: "How many relationships lie between the root and the target, this one included",
				},
			},
		},
	}
}
