// Package shapes has a type and a handler for every shape. It has names that generated code would like to have, and one
// that generated functions have for a variable.
package shapes

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"

	"example.com/emitted/kinds"
)

type Level string

const (
	Quiet Level = "quiet"
	Loud  Level = "loud"
)

// element has the name of a variable in generated functions.
type element struct {
	N int
}

type Node struct {
	Name     string
	Children []*Node
}

type Box[T any] struct {
	Value T
}

type Page struct {
	Limit  int
	Labels map[string]string
}

type (
	Code    int16
	Names   []string
	Weights map[Level]float64
	Moment  time.Time
	Blob    []byte
)

// Taken on purpose.
func readNode()     {}
func allocate()     {}
func model()        {}
func titlePattern() {}

type All struct {
	*Page
	Flag     bool
	Small    int8
	Int      int
	Big      int64
	Huge     uint64
	Port     uint16
	Ratio    float64
	Half     float32
	Code     Code
	Text     string
	Level    Level
	Levels   []Level
	Status   kinds.Status
	Bytes    []byte
	Blob     Blob
	At       time.Time
	Moment   Moment
	Wait     time.Duration
	Any      any
	Names    Names
	Grid     [][]int
	Pair     [2]int
	Points   []kinds.Point
	Elements []element
	Weights  Weights
	Nodes    map[string]*Node
	Boxes    map[string]Box[int]
	Deep     map[string]map[string][]string
	Tree     *Node
	Box      Box[Level]
	PText    *string
	PInt     *int
	PLevel   *Level
	PAt      *time.Time
	PList    *[]string
	PP       **int
	PMap     *map[string]int
	Inner    struct {
		A string
		B []int
	}
	Maybe []*int
	Title string
}

type EchoRequest struct {
	Value All
}

type MergeRequest struct {
	Input aql.Patch[All]
}

type InputRequest struct {
	Input Changes
}

type Changes struct {
	Text  *string
	Owner *string
}

type DefaultsRequest struct {
	*Page
	Flag   bool
	Int    int
	PInt   *int64
	Ratio  float64
	Text   string
	Level  Level
	PLevel *Level
	Status kinds.Status
	At     time.Time
	PAt    *time.Time
	Wait   time.Duration
	Names  Names
	Pair   [2]int
	Map    map[string]int
	Bytes  []byte
	Any    any
	Point  kinds.Point
	Tree   *Node
}

type LimitsRequest struct {
	Title   string
	Names   []string
	Score   int
	Ratio   *float64
	Port    uint16
	Choice  string
	Weights map[string]int
}

type OmitRequest struct {
	Set bool
}

type Omit struct {
	Flag    bool
	Int     int
	Text    string
	List    []int
	Map     map[string]int
	Pointer *int
	Any     any
	At      time.Time
	Point   kinds.Point
	Count   int64
	Ratio   float64
	PCount  *uint8
	Odd     string
}

// Forest and Dictionary contain themselves without a struct in between.
type (
	Forest     []Forest
	Dictionary map[string]Dictionary
)

type Trees struct {
	Forest     Forest
	Dictionary Dictionary
	Loose      map[string]any
}

type TreesRequest struct {
	Trees
}

type GrowRequest struct {
	Input aql.Patch[Trees]
}

type NothingRequest struct{}

func Plant(_ context.Context, r TreesRequest) (Trees, error) { return r.Trees, nil }

func Grow(_ context.Context, r GrowRequest) (*Trees, error) {
	v := &Trees{Forest: Forest{{}}, Dictionary: Dictionary{"a": {"b": nil, "c": {}}}, Loose: map[string]any{"x": 1.0}}
	return v, r.Input.Apply(v)
}

func Echo(_ context.Context, r EchoRequest) (*All, error) { return &r.Value, nil }

func Merge(_ context.Context, r MergeRequest) (*All, error) {
	shared := &Node{Name: "root"}
	v := &All{
		Text: "old", Level: Loud, Int: 7, At: time.Unix(0, 0), PText: new("p"), Tree: shared,
		Deep:  map[string]map[string][]string{"a": {"x": {"1"}, "y": {"2"}}, "b": nil},
		Nodes: map[string]*Node{"n": {Name: "n"}}, Boxes: map[string]Box[int]{"b": {1}},
		Any: map[string]any{"k": 1.0, "l": 2.0}, Names: Names{"a"},
	}
	if err := r.Input.Apply(v); err != nil {
		return nil, err
	}
	if shared.Name != "root" {
		panic("the merge changed a value that others share")
	}
	return v, nil
}

func Input(_ context.Context, r InputRequest) (map[string]*string, error) {
	return map[string]*string{"text": r.Input.Text, "owner": r.Input.Owner}, nil
}

func Defaults(_ context.Context, r *DefaultsRequest) (DefaultsRequest, error) { return *r, nil }

func Limits(_ context.Context, r LimitsRequest) error { return nil }

func OmitAll(_ context.Context, r OmitRequest) (Omit, error) {
	if !r.Set {
		return Omit{}, nil
	}
	return Omit{
		Flag: true, Int: 1, Text: "t", List: []int{1}, Map: map[string]int{"k": 1}, Pointer: new(0), Any: "a",
		At: time.Unix(0, 0), Point: kinds.Point{Y: 1}, Count: 9007199254740993, Ratio: 0.5, PCount: new(uint8(3)), Odd: "o",
	}, nil
}

func List(context.Context, NothingRequest) ([]*Node, error) { return []*Node{{Name: "a"}, nil}, nil }

func NoList(context.Context, NothingRequest) (*[]string, error) { return nil, nil }

func Array(context.Context, NothingRequest) ([2]Level, error) { return [2]Level{Loud, Quiet}, nil }

func Word(context.Context, NothingRequest) (Level, error) { return Loud, nil }

func Nobody(context.Context, NothingRequest) (*All, error) { return nil, nil }

func Cycle(context.Context, NothingRequest) (*Node, error) {
	n := &Node{Name: "n"}
	n.Children = []*Node{n}
	return n, nil
}

type Counter struct{ n int }

func (c *Counter) Next(context.Context, NothingRequest) (int, error) { c.n++; return c.n, nil }

type Fixed struct{}

func (Fixed) Next(context.Context, NothingRequest) (uint8, error) { return 7, nil }

func Registry() *aql.Registry { return NewRegistry(new(Counter), Fixed{}) }
