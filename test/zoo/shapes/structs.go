package shapes

import (
	"time"

	"github.com/aqltag/aqltag/test/zoo/other"
)

// Plain is a struct of basic fields.
type Plain struct {
	ID    int     `json:"id"`
	Label string  `json:"label"`
	Price float64 `json:"price"`
}

// Nested has structs in structs.
type Nested struct {
	Plain Plain            `json:"plain"`
	More  []Plain          `json:"more"`
	By    map[string]Plain `json:"by"`
	Some  *Plain           `json:"some"`
}

// Shape shares its name with a type of package other.
type Shape struct {
	Sides int         `json:"sides"`
	Other other.Shape `json:"other"`
}

// Embedding has the fields of what it embeds.
type Embedding struct {
	Plain
	Extra string `json:"extra"`
}

// EmbeddingPointer has the fields of what it points to.
type EmbeddingPointer struct {
	*Plain
	Extra string `json:"extra"`
}

// Shadowing has a field in place of one of those that it embeds.
type Shadowing struct {
	Plain
	Label int `json:"label"`
}

// Grand embeds what embeds.
type Grand struct {
	Embedding
	Price string `json:"price"`
}

// NamedEmbedding embeds under a name.
type NamedEmbedding struct {
	Plain `json:"inside"`
	Extra string `json:"extra"`
}

// EmbeddingName embeds what is not a struct.
type EmbeddingName struct {
	Name
	Extra string `json:"extra"`
}

// EmbeddingForeign has the fields of a struct of another package.
type EmbeddingForeign struct {
	other.Point
	Z int `json:"z"`
}

// TaggedWins embeds two fields of one name, of which the tagged one wins.
type TaggedWins struct {
	untagged
	tagged
}

type untagged struct{ Value string }

type tagged struct {
	Other int `json:"value"`
}

// Hiding has fields that never travel.
type Hiding struct {
	Seen   string `json:"seen"`
	Never  string `json:"-"`
	hidden string
}

// Set makes use of the hidden field.
func (h *Hiding) Set(s string) { h.hidden = s }

// Empty has no fields.
type Empty struct{}

// Omitting leaves out what is empty.
type Omitting struct {
	Text  string         `json:"text,omitempty"`
	Count int            `json:"count,omitempty"`
	Flag  bool           `json:"flag,omitempty"`
	List  []int          `json:"list,omitempty"`
	Map   map[string]int `json:"map,omitempty"`
	Any   any            `json:"any,omitempty"`
	To    *int           `json:"to,omitempty"`
	Inner Plain          `json:"inner,omitempty"`
	Bytes []byte         `json:"bytes,omitempty"`
	Color Color          `json:"color,omitempty"`
}

// OmittingZero leaves out what is zero.
type OmittingZero struct {
	Text  string    `json:"text,omitzero"`
	Count int       `json:"count,omitzero"`
	List  []int     `json:"list,omitzero"`
	Time  time.Time `json:"time,omitzero"`
	Inner Plain     `json:"inner,omitzero"`
	Array [2]int    `json:"array,omitzero"`
	Color Color     `json:"color,omitzero"`
}

// Quoted carries values as strings.
type Quoted struct {
	Int    int     `json:"int,string"`
	Uint   uint8   `json:"uint,string"`
	Float  float64 `json:"float,string"`
	Bool   bool    `json:"bool,string"`
	Text   string  `json:"text,string"`
	To     *int64  `json:"to,string"`
	Omit   int     `json:"omit,string,omitempty"`
	Count  Count   `json:"count,string"`
	Listed []int   `json:"listed,string"`
}

// Node is a list.
type Node struct {
	Value int   `json:"value"`
	Next  *Node `json:"next"`
}

// Tree is a tree.
type Tree struct {
	Label    string `json:"label"`
	Children []Tree `json:"children"`
}

// Forest is a tree with named branches.
type Forest struct {
	Trees map[string]*Forest `json:"trees,omitempty"`
}

// Husband and Wife refer to each other.
type Husband struct {
	Name string `json:"name"`
	Wife *Wife  `json:"wife,omitempty"`
}

// Wife refers to Husband.
type Wife struct {
	Name    string   `json:"name"`
	Husband *Husband `json:"husband,omitempty"`
}

// Recursive types without a struct.
type (
	Lists    []Lists
	Maps     map[string]Maps
	Pointers []*Pointers
	MapLists map[string][]MapLists
)

// Pair has two type parameters.
type Pair[K comparable, V any] struct {
	Key   K `json:"key"`
	Value V `json:"value"`
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T   `json:"items"`
	Next  *T    `json:"next"`
	Total int64 `json:"total"`
}

// Chain is a generic list.
type Chain[T any] struct {
	Head T         `json:"head"`
	Tail *Chain[T] `json:"tail"`
}

// Bag is a generic map.
type Bag[T any] map[string]T

// Row is a generic slice.
type Row[T any] []T

// Constrained has rules.
type Constrained struct {
	Needed  string  `json:"needed" aql:"required"`
	Short   string  `json:"short" aql:"minlen=2,maxlen=4"`
	Code    string  `json:"code" aql:"pattern='^[a-c]+$'"`
	Low     int     `json:"low" aql:"min=3,max=9"`
	Some    []int   `json:"some" aql:"minitems=1,maxitems=2"`
	Choice  string  `json:"choice" aql:"enum=a|b"`
	Default int     `json:"default" aql:"default=7"`
	Fewer   Color   `json:"fewer" aql:"enum=red"`
	Part    float64 `json:"part" aql:"min=0.5"`
	Also    string  `json:"also" aql:"alias=too"`
	To      *int    `json:"to" aql:"min=1"`
	Strict  *string `json:"strict" aql:"required"`
}

// Formats has texts of known forms.
type Formats struct {
	Date  string  `json:"date" aql:"format=date"`
	Time  string  `json:"time" aql:"format=date-time"`
	Mail  string  `json:"mail" aql:"format=email"`
	UUID  string  `json:"uuid" aql:"format=uuid"`
	URI   string  `json:"uri" aql:"format=uri"`
	Maybe *string `json:"maybe" aql:"format=date-time"`
}
