package aql

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/cursor"
	"github.com/aqltag/aqltag/runtime/internal/related"
)

// relationshipRequest is a request to query_relationships (MCP-AQL relationship queries §2).
type relationshipRequest struct {
	Root         relationshipElement
	Direction    string
	Relationship string
	Depth        int
	Include      []string
	First        *int
	After        *string
}

// relationshipAnswer is the answer to one (MCP-AQL relationship queries §3). The names of the fields on the wire are
// those of gen.RelationshipTypes.
type relationshipAnswer struct {
	Root          relationshipElement
	Relationships []relationshipRecord
	Graph         *relationshipGraph
	Page          *relationshipPage
}

type relationshipElement struct{ Type, Name string }

type relationshipRecord struct {
	Type, Direction string
	Target          relationshipElement
	Depth           int
}

type relationshipGraph struct {
	Nodes []relationshipNode
	Edges []relationshipEdge
}

type relationshipNode struct{ ID, Type, Name string }

type relationshipEdge struct{ Source, Target, Type string }

type relationshipPage struct {
	Next, Previous bool
	Start, End     string
	Total          int
}

// errNoRequest is the error of a query_relationships that no request has brought.
var errNoRequest = errors.New("query_relationships was called with a context that is not that of its request")

// answer answers a request.
func (a *relations) answer(ctx context.Context, q *relationshipRequest) (*relationshipAnswer, error) {
	v, ok := ctx.Value(visitKey{}).(*visit)
	if !ok {
		return nil, errNoRequest
	}
	o, known := v.definitions.Operation(gen.QueryRelationships)
	if !known || o.Relationships == nil {
		return nil, errNoRequest
	}
	if q.Relationship != "" && !slices.Contains(o.Relationships.Types, q.Relationship) {
		return nil, notAmong("relationship", q.Relationship, o.Relationships.Types)
	}
	if !slices.Contains(o.Relationships.Roots, q.Root.Type) {
		return nil, notAmong("root.element_type", q.Root.Type, o.Relationships.Roots)
	}
	if !slices.Contains(o.Relationships.Directions, q.Direction) {
		return nil, notAmong("direction", q.Direction, o.Relationships.Directions)
	}
	if q.After != nil && q.First == nil {
		return nil, invalidPaging(a.cursors.options.PageSize)
	}
	p := paged{request: q}
	if err := p.open(ctx, a.cursors); err != nil {
		return nil, err
	}
	root, err := v.root(ctx, q.Root)
	if err != nil {
		return nil, err
	}
	if p.size < 0 && onlyRoot(q.Include) {
		return p.answer(ctx, root, nil), nil
	}
	walk := &related.Walk{
		Loads: &related.Loads{Guard: v, Most: a.cursors.options.MaxRelated},
		Steps: a.steps(v.definitions, q), Depth: q.Depth, Name: a.name,
	}
	edges, err := walk.From(ctx, root)
	if errors.Is(err, related.ErrTooMany) {
		return nil, tooManyRelated(a.cursors.options.MaxRelated, "ask for a smaller depth, or for one relationship")
	}
	if err != nil {
		return nil, err
	}
	v.warn(ctx)
	return p.answer(ctx, root, edges), nil
}

// onlyRoot reports whether a request asks for the root and nothing else.
func onlyRoot(include []string) bool {
	return len(include) > 0 && !slices.ContainsFunc(include, func(section string) bool { return section != "root" })
}

// notAmong is the failure of a value that is none of those that the caller may give.
func notAmong(param, value string, allowed []string) *Error {
	return failure(CodeInvalidEnum, "Parameter '"+param+"' must be one of: '"+strings.Join(allowed, "', '")+"'",
		detail{"param_name", param}, detail{"value", strings.Clone(value)}, detail{"allowed", allowed})
}

// invalidPaging is the failure of after without first (MCP-AQL pagination §2.3).
func invalidPaging(size int) *Error {
	const expected, actual = "valid pagination combination", "conflicting parameters"
	return invalidType("pagination", expected, actual, "").WithDetail("provided", []string{"after"}).
		WithDetail("hint", `Add first, such as "first":`+strconv.Itoa(size))
}

// tooManyRelated is the failure of a query that would load more resources than the adapter allows.
func tooManyRelated(most int, advice string) *Error {
	f := tooLarge("related_items", most, most+1, "items")
	f.Message += "; " + advice
	return f
}

// steps returns how a walk goes on for a request, by the relations that the caller may know of.
func (a *relations) steps(definitions *gen.Definitions, q *relationshipRequest) []related.Step {
	var steps []related.Step
	for i := range definitions.Relations {
		r := &definitions.Relations[i]
		if r.Type == "" || q.Relationship != "" && r.Type != q.Relationship {
			continue
		}
		if q.Direction != gen.Incoming {
			steps = append(steps, related.Step{Type: r.Type, Relation: a.byName[r.Of+"."+r.Name]})
		}
		if back := definitions.Inverse(r); back != nil && q.Direction != gen.Outgoing {
			steps = append(steps, related.Step{Type: r.Type, Incoming: true, Relation: a.byName[back.Of+"."+back.Name]})
		}
	}
	return steps
}

// paged is the page of an answer that a request asks for.
type paged struct {
	request *relationshipRequest
	size    int // greatest number of relationships; negative: any
	clamped int // the size that was asked for; 0: it is granted
	box     *cursor.Box
	bound   [sha256.Size]byte // what cursors are bound to
	behind  *related.Position // nil: the answer begins with the first one
}

// open reads the cursor of the request.
func (p *paged) open(ctx context.Context, c *cursors) error {
	q := p.request
	if p.size = -1; q.First == nil {
		return nil
	}
	if p.size = *q.First; p.size > c.options.MaxPage {
		p.clamped, p.size = p.size, c.options.MaxPage
	}
	var err error
	if p.box, err = c.box(ctx); err != nil {
		return err
	}
	var text []byte
	for _, part := range []string{
		c.adapter, gen.QueryRelationships, q.Root.Type, q.Root.Name, q.Direction, q.Relationship, strconv.Itoa(q.Depth),
	} {
		text = appendText(text, part)
	}
	p.bound = sha256.Sum256(text)
	if q.After == nil {
		return nil
	}
	text, ok := p.box.Open(p.bound[:], *q.After)
	if ok {
		var position related.Position
		position, ok = related.ParsePosition(text)
		p.behind = &position
	}
	if !ok {
		const hint = "Repeat the request as it was but for first and include, or start again without after"
		return invalidType("after", "cursor of this operation", "string", "").WithDetail("hint", hint)
	}
	return nil
}

// seal returns the cursor of a relationship.
func (p *paged) seal(e *related.Edge) string {
	return p.box.Seal(p.bound[:], e.Position().Append(nil))
}

// answer returns the part of what was found that the request asks for.
func (p *paged) answer(ctx context.Context, root *related.Node, edges []related.Edge) *relationshipAnswer {
	total, from := len(edges), 0
	if p.behind != nil {
		from, _ = slices.BinarySearchFunc(edges, *p.behind, func(e related.Edge, behind related.Position) int {
			if e.Position().Compare(behind) <= 0 {
				return -1
			}
			return 1
		})
	}
	to := total
	if p.size >= 0 {
		to = min(from+p.size, total)
	}
	edges = edges[from:to]
	out := &relationshipAnswer{Root: relationshipElement{root.Type, root.Name}}
	if p.includes("relationships") {
		out.Relationships = recordsOf(edges)
	}
	if p.includes("graph.nodes") || p.includes("graph.edges") {
		out.Graph = new(relationshipGraph)
	}
	if p.includes("graph.nodes") {
		out.Graph.Nodes = nodesOf(root, edges)
	}
	if p.includes("graph.edges") {
		out.Graph.Edges = edgesOf(edges)
	}
	if p.size < 0 {
		return out
	}
	out.Page = &relationshipPage{Next: to < total, Previous: from > 0, Total: total}
	if len(edges) > 0 {
		out.Page.Start, out.Page.End = p.seal(&edges[0]), p.seal(&edges[len(edges)-1])
	}
	if p.clamped > 0 && out.Page.Next {
		Warn(ctx, Truncated("relationships", total, len(edges)))
	}
	return out
}

// includes reports whether the answer has a section.
func (p *paged) includes(section string) bool {
	return len(p.request.Include) == 0 || slices.Contains(p.request.Include, section)
}

func recordsOf(edges []related.Edge) []relationshipRecord {
	records := make([]relationshipRecord, len(edges))
	for i := range edges {
		e := &edges[i]
		end, direction := e.End(), gen.Outgoing
		if e.Incoming {
			direction = gen.Incoming
		}
		records[i] = relationshipRecord{e.Type, direction, relationshipElement{end.Type, end.Name}, e.Depth}
	}
	return records
}

// nodesOf returns the root and the nodes of edges, each once.
func nodesOf(root *related.Node, edges []related.Edge) []relationshipNode {
	var nodes []relationshipNode
	seen := make(map[string]bool)
	add := func(n *related.Node) {
		if id := n.ID(); !seen[id] {
			seen[id] = true
			nodes = append(nodes, relationshipNode{id, n.Type, n.Name})
		}
	}
	add(root)
	for i := range edges {
		add(edges[i].Source)
		add(edges[i].Target)
	}
	return nodes
}

func edgesOf(edges []related.Edge) []relationshipEdge {
	out := make([]relationshipEdge, len(edges))
	for i := range edges {
		e := &edges[i]
		out[i] = relationshipEdge{e.Source.ID(), e.Target.ID(), e.Type}
	}
	return out
}

// root reads the resource at which a request begins, as its caller would.
func (v *visit) root(ctx context.Context, at relationshipElement) (*related.Node, error) {
	i := slices.IndexFunc(v.definitions.Types, func(t gen.Type) bool {
		_, _, ok := v.definitions.Reader(t.Name)
		return ok && gen.ElementType(t.Name) == at.Type
	})
	if i < 0 {
		return nil, errNoRequest
	}
	reader, param, _ := v.definitions.Reader(v.definitions.Types[i].Name)
	result, err := v.read(ctx, reader, param, at)
	if err != nil {
		return nil, err
	}
	resource := reflect.ValueOf(result)
	for resource.Kind() == reflect.Pointer && resource.Type().Elem().Kind() == reflect.Pointer && !resource.IsNil() {
		resource = resource.Elem()
	}
	switch {
	case !resource.IsValid(), resource.Kind() == reflect.Pointer && resource.IsNil():
		return nil, NotFound(at.Type, at.Name)
	case resource.Kind() != reflect.Pointer:
		addressable := reflect.New(resource.Type())
		addressable.Elem().Set(resource)
		resource = addressable
	}
	if want := v.relations.names[at.Type].typ; resource.Type().Elem() != want {
		return nil, fmt.Errorf("%s returned %s instead of %s", reader, resource.Type().Elem(), want)
	}
	node := &related.Node{Type: at.Type, Resource: resource.Interface()}
	if node.Name, err = v.relations.name(at.Type, node.Resource); err != nil {
		return nil, err
	}
	if node.Name != at.Name {
		return nil, NotFound(at.Type, at.Name)
	}
	return node, nil
}
