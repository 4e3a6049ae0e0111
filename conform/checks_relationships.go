package conform

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// queryRelationships is the name of the operation that follows relationships (MCP-AQL relationship queries §1).
const queryRelationships = "query_relationships"

// unknownType is a type of relationships that no server has.
const unknownType = "no_such_relationship"

// relationshipQuery is a request to query_relationships that succeeds, as deep as is allowed, and without include; from
// its root relationships lead, if such a root was found.
type relationshipQuery struct {
	operation *operation
	params    map[string]any
	exchange  *exchange // nil: none was found
	maxDepth  int       // 0: none is documented
}

// sendRelated sends the request with one parameter more.
func (p *prober) sendRelated(q *relationshipQuery, name string, value any) *exchange {
	return p.send(q.operation, with(q.params, name, value))
}

// expectRefusedRelated expects that the request is refused with one parameter more.
func (p *prober) expectRefusedRelated(
	rec *recorder, q *relationshipQuery, name string, value any, format string, args ...any,
) {
	rec.expectRefusal(p.sendRelated(q, name, value), func() *exchange { return q.exchange }, format, args...)
}

// relationshipQuery returns a request that succeeds; nil: there is none, and the recorder knows why.
func (p *prober) relationshipQuery(rec *recorder) *relationshipQuery {
	o := p.operation(queryRelationships)
	switch {
	case o == nil:
		rec.skip("there is no operation %s", queryRelationships)
		return nil
	case o.Category != "READ":
		rec.skip("operation %s is not known to be READ", o.Name)
		return nil
	case o.Relationships != nil && !o.Relationships.Supported:
		rec.skip("operation %s says that relationships are not supported", o.Name)
		return nil
	case o.param("root") == nil || o.param("direction") == nil:
		rec.unjudged("operation %s does not document 'root' and 'direction'", o.Name)
		return nil
	}
	if why := p.exclusion(o); why != "" {
		rec.skip("%s", why)
		return nil
	}
	if p.relationships == nil {
		p.relationships = p.findRelationships(o)
	}
	if p.relationships.exchange == nil {
		rec.unjudged("no element was found from which operation %s could begin", o.Name)
		return nil
	}
	return p.relationships
}

// mostRoots is how many elements are tried as the root of a request, and deepest how deep a request goes.
const (
	mostRoots = 40
	deepest   = 10
)

// findRelationships looks for an element from which relationships lead.
func (p *prober) findRelationships(o *operation) *relationshipQuery {
	q := &relationshipQuery{operation: o}
	base := map[string]any{}
	for _, d := range o.required() {
		if d.Name == "root" || d.Name == "direction" {
			continue
		}
		value, ok := p.newValue(&d, 0)
		if !ok {
			return q
		}
		base[d.Name] = value
	}
	directions := texts(o.param("direction").Enum)
	if o.Relationships != nil {
		q.maxDepth = o.Relationships.MaxDepth
		if len(o.Relationships.Directions) > 0 {
			directions = o.Relationships.Directions
		}
	}
	if len(directions) == 0 {
		directions = []string{"outgoing"}
	}
	if depth := o.param("depth"); depth != nil {
		if q.maxDepth == 0 && depth.Maximum != nil {
			q.maxDepth, _ = strconv.Atoi(string(*depth.Maximum)) // 0 for what is no whole number
		}
		base["depth"] = min(max(q.maxDepth, 1), deepest)
	}
	for _, root := range p.roots(o) {
		for _, direction := range directions {
			params := with(with(base, "root", root), "direction", direction)
			x := p.send(o, params)
			if !x.answer.success {
				break // there is no such element
			}
			related := len(graphOf(x).edges) > 0
			if q.exchange == nil || related {
				q.params, q.exchange = params, x
			}
			if related {
				return q
			}
		}
	}
	return q
}

// roots returns what may be the root of a request: what the examples show, and what lists have, as other operations
// answer them without parameters. Nothing is created for it.
func (p *prober) roots(o *operation) []any {
	var all []any
	for _, e := range o.Examples {
		if root, ok := e.params["root"].(map[string]any); ok {
			all = append(all, root)
		}
	}
	known := p.elementTypes(o)
	add := func(typ string, id any) {
		if number, ok := id.(json.Number); ok {
			id = string(number) // the name of an element is text
		}
		if text, ok := id.(string); ok && (len(known) == 0 || slices.Contains(known, typ)) {
			all = append(all, map[string]any{"element_type": typ, "element_name": text})
		}
	}
	for _, list := range p.operations {
		if list.Category != "READ" || list == o || list.Name == "introspect" || len(list.required()) > 0 ||
			p.exclusion(list) != "" || p.baseline(list).exchange == nil {
			continue
		}
		_, noun := verbNoun(list.Name)
		types := singulars(noun)
		if t := p.resourceType(list); t != nil {
			types = append([]string{snake(t.Name)}, types...)
		}
		types = distinct(types)
		for _, item := range someObjects(p.baseline(list).exchange.answer.data) {
			for _, t := range types {
				for _, name := range []string{"element_name", t + "_id", "id", "name"} {
					add(t, memberLike(item, name))
				}
			}
		}
	}
	return all[:min(len(all), mostRoots)]
}

// someObjects returns some objects of the first list in data: data itself, or a member of it.
func someObjects(data any) []map[string]any {
	list := objects(data)
	members, _ := data.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(list) == 0 {
			list = objects(members[name])
		}
	}
	return list[:min(len(list), 5)]
}

// elementTypes returns the types of elements that a request may begin at, as introspection has them; none: it does not
// say.
func (p *prober) elementTypes(o *operation) []string {
	root := o.param("root")
	fields := root.Fields
	if t := p.types[root.Type]; t != nil {
		fields = t.Fields
	}
	for _, f := range fields {
		if f.Name == "element_type" {
			return texts(f.Enum)
		}
	}
	return nil
}

// graph is the graph in an answer.
type graph struct{ nodes, edges []map[string]any }

func graphOf(x *exchange) graph {
	value := memberOf(x.answer.data, "graph")
	return graph{nodes: objects(memberOf(value, "nodes")), edges: objects(memberOf(value, "edges"))}
}

func checkRelationshipDepth(p *prober, rec *recorder) {
	q := p.relationshipQuery(rec)
	switch {
	case q == nil:
	case q.operation.param("depth") == nil || q.maxDepth == 0:
		rec.skip("operation %s documents no greatest depth", q.operation.Name)
	default:
		p.expectRefusedRelated(rec, q, "depth", q.maxDepth+1, "operation %s with the depth %d, where %d is the greatest,",
			q.operation.Name, q.maxDepth+1, q.maxDepth)
	}
}

func checkRelationshipType(p *prober, rec *recorder) {
	q := p.relationshipQuery(rec)
	switch {
	case q == nil:
	case q.operation.param("relationship") == nil:
		rec.skip("operation %s does not document 'relationship'", q.operation.Name)
	case len(q.operation.param("relationship").Enum) == 0 &&
		(q.operation.Relationships == nil || len(q.operation.Relationships.Types) == 0):
		rec.skip("operation %s does not say which types of relationships there are", q.operation.Name)
	default:
		p.expectRefusedRelated(rec, q, "relationship", unknownType, "operation %s with a type of relationships that it does "+
			"not document", q.operation.Name)
	}
}

// relationshipSections are the sections of an answer besides its root, each as the member and the one in it.
var relationshipSections = [...][2]string{{"relationships", ""}, {"graph", "nodes"}, {"graph", "edges"}}

func checkRelationshipSections(p *prober, rec *recorder) {
	q := p.relationshipQuery(rec)
	if q == nil {
		return
	}
	include := q.operation.param("include")
	if include == nil {
		rec.skip("operation %s does not document 'include'", q.operation.Name)
		return
	}
	var allowed []any
	if include.Items != nil {
		allowed = p.withEnumValues(include.Items).Enum
	}
	for _, asked := range relationshipSections {
		name := strings.TrimSuffix(asked[0]+"."+asked[1], ".")
		if len(allowed) > 0 && !slices.Contains(allowed, any(name)) {
			continue
		}
		x := p.sendRelated(q, "include", []string{name})
		if !rec.needSuccess(x, "operation %s with 'include' %s", q.operation.Name, name) {
			continue
		}
		var more []string
		for _, other := range relationshipSections {
			if value := sectionOf(x, other); other != asked && value != nil {
				more = append(more, strings.TrimSuffix(other[0]+"."+other[1], "."))
			}
		}
		rec.expect(len(more) == 0, x, "operation %s was asked for the section %s, and answers %s, too",
			q.operation.Name, name, strings.Join(more, ", "))
		rec.expect(sectionOf(x, asked) != nil || sectionOf(q.exchange, asked) == nil, x,
			"operation %s was asked for the section %s, and leaves it out", q.operation.Name, name)
	}
}

// sectionOf returns a section of an answer; nil: it has none.
func sectionOf(x *exchange, section [2]string) any {
	value := memberOf(x.answer.data, section[0])
	if section[1] != "" {
		value = memberOf(value, section[1])
	}
	return value
}

// relatedGraph returns the graph of a request from whose root relationships lead, and its exchange; nil: there is none,
// and the recorder knows why.
func (p *prober) relatedGraph(rec *recorder) (graph, *relationshipQuery) {
	q := p.relationshipQuery(rec)
	if q == nil {
		return graph{}, nil
	}
	g := graphOf(q.exchange)
	if len(g.edges) == 0 {
		rec.unjudged("operation %s has no edges in the graph of any element that was tried", q.operation.Name)
		return g, nil
	}
	return g, q
}

func checkRelationshipNodes(p *prober, rec *recorder) {
	g, q := p.relatedGraph(rec)
	if q == nil {
		return
	}
	ids, elements := map[string]bool{}, map[[2]string]bool{}
	for _, n := range g.nodes {
		id, element := textMember(n, "id"), [2]string{textMember(n, "element_type"), textMember(n, "element_name")}
		rec.expect(!ids[id] && !elements[element], q.exchange, "operation %s has the node '%s' twice: %s %s",
			q.operation.Name, id, element[0], element[1])
		ids[id], elements[element] = id != "", element != [2]string{}
	}
}

func checkRelationshipEdges(p *prober, rec *recorder) {
	g, q := p.relatedGraph(rec)
	if q == nil {
		return
	}
	ids := map[string]bool{}
	for _, n := range g.nodes {
		ids[textMember(n, "id")] = true
	}
	for _, e := range g.edges {
		for _, end := range []string{"source", "target"} {
			id := textMember(e, end)
			rec.expect(id != "" && ids[id], q.exchange, "operation %s has an edge whose %s '%s' is not among the nodes",
				q.operation.Name, end, id)
		}
	}
}
