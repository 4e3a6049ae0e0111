package codec_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// The types below are one or more for every row of design §3.3. Their wire names are encoding/json's, so that both
// can be given the same text.

type (
	named    string
	level    string // an enum
	rank     int    // an enum of integers
	count    uint16
	ratio    float32
	switched bool
	names    []string
	levels   []level
	blob     []byte
	octet    byte
	grid     [][2]int
	lookup   map[named]int
	aliased  = inner
	tree     []tree
	dict     map[string]dict
	forest   map[string][]forest
	handle   *int
	interval = time.Duration
)

type basics struct {
	Bool    bool
	Int     int
	Int8    int8
	Int16   int16
	Int32   int32
	Int64   int64
	Uint    uint
	Uint8   uint8
	Uint16  uint16
	Uint32  uint32
	Uint64  uint64
	Uintptr uintptr
	Float32 float32
	Float64 float64
	String  string
}

type namedBasics struct {
	Named named
	Level level
	Rank  rank
	Count count
	Ratio ratio
	Flag  switched
	Took  interval
	Hand  handle
}

type inner struct {
	Name string `json:"name"`
	Size int    `json:"size,omitempty"`
}

type pointers struct {
	String *string
	Int    *int     `json:",omitempty"`
	Twice  **int    `json:"twice,omitempty"`
	Thrice ***named `json:"thrice"`
	Struct *inner
	List   *[]string
	Map    *map[string]int
	Any    *any
}

type lists struct {
	Strings  []string
	Names    names
	Levels   levels
	Ints     []int8
	Bools    []bool
	Floats   []float32
	Structs  []inner
	Pointers []*inner
	Deep     [][][]string
	Array    [3]int
	Arrays   [][2]bool
	Grid     grid
	Holders  [2]struct{ X, Y *int }
	Empty    [0]int
	Nothing  []struct{}
}

type bytesAll struct {
	Bytes  []byte
	Blob   blob
	Many   [][]byte
	Octets []octet
	Fixed  [4]byte
	Short  []byte `json:",omitempty"`
}

type mapsAll struct {
	Strings map[string]string
	Named   map[named]string
	Lookup  lookup
	Ints    map[int]string
	Small   map[int8]inner
	Uints   map[uint16]*inner
	Texts   map[hexText]int
	Addrs   map[netip.Addr][]string
	Nested  map[string]map[string][]int
	Any     map[string]any
	Structs map[string]inner
	Arrays  map[string][2]int
	Pairs   map[rank]bool `json:",omitempty"`
}

type hexText struct{ raw string }

func (h hexText) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString([]byte(h.raw))), nil }
func (h *hexText) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	h.raw = string(raw)
	return err
}

type base struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type Deeper struct {
	Depth int
	Name  string // shadowed
}

type Pointed struct {
	*Deeper
	Via string `json:",omitempty"`
}

type Generic[T any] struct {
	Value T
	More  []T `json:"more,omitempty"`
}

type Page[T any] struct {
	Items  []T           `json:"items"`
	ByName map[string]*T `json:"by_name,omitempty"`
	Next   string        `json:"next,omitempty"`
}

type embedding struct {
	base
	*Pointed
	Name   string `json:"name"` // shadows base.Name
	Hidden string `json:"-"`
	Dash   string `json:"-,"` //nolint:staticcheck // a field named -
	secret int    //nolint:unused // encoding/json does not see it
}

type genericEmbedding struct {
	Generic[int]
	Page[inner]
	Named Generic[named] `json:"named"`
}

type renamedEmbedding struct {
	base   `json:"base"`
	*inner `json:"-"`
	Deeper `json:"deeper"`
}

type aliasUser struct {
	One  aliased
	Many []aliased
	Took interval
}

type node struct {
	Name     string
	Left     *node `json:",omitempty"`
	Children []*node
	ByName   map[string]node `json:",omitempty"`
}

type ping struct {
	Pong *pong  `json:"pong,omitempty"`
	All  []pong `json:"all"`
}

type pong struct {
	Ping ping            `json:"ping"`
	More map[string]ping `json:"more,omitempty"`
}

type unnamed struct {
	One  struct{ A, B int }
	List []struct {
		S string `json:"s"`
		I struct {
			Deep *struct{ X bool } `json:"deep,omitempty"`
		}
	}
	Map map[string]struct{ M map[string]struct{} }
	Ptr *struct{ P string }
}

type times struct {
	At     time.Time
	Opt    *time.Time    `json:",omitempty"`
	Zero   time.Time     `json:",omitzero"`
	Took   time.Duration `json:"took"`
	All    []time.Time
	ByName map[string]time.Time
}

type dynamics struct {
	Raw     json.RawMessage
	RawOpt  *json.RawMessage `json:",omitempty"`
	Raws    []json.RawMessage
	Number  json.Number
	Numbers []json.Number
	Any     any
	Anys    []any
}

// uuid is like the popular one.
type uuid [16]byte

func (u uuid) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(u[:])), nil }
func (u *uuid) UnmarshalText(text []byte) error {
	if n, err := hex.Decode(u[:], text[:min(len(text), 32)]); err != nil || n != len(u) || len(text) != 32 {
		return errors.New("not a uuid")
	}
	return nil
}

// pointerText has both text methods on the pointer, so that values without an address are written without them.
type pointerText struct{ S string }

func (p *pointerText) MarshalText() ([]byte, error) { return []byte("<" + p.S + ">"), nil }
func (p *pointerText) UnmarshalText(text []byte) error {
	p.S = strings.Trim(string(text), "<>")
	return nil
}

// textInt is an integer that goes by text.
type textInt int

func (i textInt) MarshalText() ([]byte, error) {
	return strconv.AppendInt([]byte("#"), int64(i), 10), nil
}
func (i *textInt) UnmarshalText(text []byte) error {
	v, err := strconv.Atoi(strings.TrimPrefix(string(text), "#"))
	*i = textInt(v)
	return err
}

type valueJSON struct{ a, b int }

func (v valueJSON) MarshalJSON() ([]byte, error) { return json.Marshal([]int{v.a, v.b}) }
func (v *valueJSON) UnmarshalJSON(text []byte) error {
	var list []int
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		return err
	}
	if len(list) != 2 {
		return errors.New("not a pair")
	}
	v.a, v.b = list[0], list[1]
	return nil
}

type pointerJSON struct{ X int }

func (p *pointerJSON) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, ` { "x" : %d } `, p.X), nil
}
func (p *pointerJSON) UnmarshalJSON(text []byte) error {
	var v struct{ X int }
	err := json.Unmarshal(text, &v)
	p.X = v.X
	return err
}

// The four types below have only one of two directions.
type onlyMarshals struct{ X int }

func (o onlyMarshals) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"X":%d}`, o.X), nil }

type onlyUnmarshals struct{ X int }

func (o *onlyUnmarshals) UnmarshalJSON(text []byte) error {
	var v struct{ X int }
	err := json.Unmarshal(text, &v)
	o.X = v.X
	return err
}

type readList []inner

func (l *readList) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, (*[]inner)(l))
}

type readMap map[string]inner

func (m *readMap) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, (*map[string]inner)(m))
}

// embedsTime has the methods of time.Time, which is how encoding/json sees it too.
type embedsTime struct {
	time.Time
	Lost string
}

type ownText struct {
	Hex     hexText
	UUID    uuid
	UUIDs   []uuid
	Ptr     *uuid `json:",omitempty"`
	Pointer pointerText
	Point   *pointerText
	Points  []pointerText
	Array   [2]pointerText
	PtrMap  map[string]*pointerText
	TextInt textInt
	Addr    netip.Addr
	Prefix  netip.Prefix
}

type ownJSON struct {
	Value   valueJSON
	Values  []valueJSON
	ByName  map[string]valueJSON
	Pointer pointerJSON
	Point   *pointerJSON
	Points  []pointerJSON
	Array   [2]pointerJSON
	PtrMap  map[string]*pointerJSON
	Out     onlyMarshals
	In      onlyUnmarshals
	List    readList
	Map     readMap
	Time    embedsTime
}

type foreign struct {
	Addr  netip.AddrPort
	URL   url.URL
	URLs  []*url.URL
	Int2  big.Int
	Int3  *big.Int
	Ints  []big.Int
	Float *big.Float
}

type quoted struct {
	Int    int         `json:",string"`
	Uint   uint8       `json:"uint,string,omitempty"`
	Float  float64     `json:",string"`
	Bool   bool        `json:",string"`
	String string      `json:",string"`
	Ptr    *int        `json:",string"`
	PtrStr *string     `json:",string,omitempty"`
	Named  named       `json:",string"`
	List   []int       `json:",string"` //nolint:staticcheck // no effect
	Struct inner       `json:",string"` //nolint:staticcheck // no effect
	Twice  **int       `json:",string"` //nolint:staticcheck // no effect
	Took   interval    `json:",string"`
	Number json.Number `json:",string"`
}

type zeroByValue struct{ X int }

func (z zeroByValue) IsZero() bool { return z.X == 7 }

type zeroByPointer struct{ X int }

func (z *zeroByPointer) IsZero() bool { return z.X == 7 }

type omitting struct {
	String   string         `json:",omitempty"`
	Int      int            `json:",omitempty"`
	Float    float64        `json:",omitempty"`
	Bool     bool           `json:",omitempty"`
	List     []int          `json:",omitempty"`
	Map      map[string]int `json:",omitempty"`
	Array    [2]int         `json:",omitempty"`
	Empty    [0]int         `json:",omitempty"`
	Struct   inner          `json:",omitempty"`
	Any      any            `json:",omitempty"`
	ZStruct  inner          `json:",omitzero"`
	ZList    []int          `json:",omitzero"`
	ZMap     map[string]int `json:",omitzero"`
	ZArray   [2]int         `json:",omitzero"`
	ZTime    time.Time      `json:",omitzero"`
	ZValue   zeroByValue    `json:",omitzero"`
	ZPointer zeroByPointer  `json:",omitzero"`
	ZPtr     *zeroByPointer `json:",omitzero"`
	ZPtrVal  *zeroByValue   `json:",omitzero"`
	Both     *inner         `json:",omitempty,omitzero"`
}

// fixtures are the types that are held against encoding/json.
func fixtures() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[basics](), reflect.TypeFor[namedBasics](), reflect.TypeFor[pointers](), reflect.TypeFor[lists](),
		reflect.TypeFor[bytesAll](), reflect.TypeFor[mapsAll](), reflect.TypeFor[embedding](),
		reflect.TypeFor[genericEmbedding](),
		reflect.TypeFor[renamedEmbedding](), reflect.TypeFor[aliasUser](), reflect.TypeFor[tree](), reflect.TypeFor[dict](),
		reflect.TypeFor[forest](), reflect.TypeFor[node](), reflect.TypeFor[ping](), reflect.TypeFor[unnamed](),
		reflect.TypeFor[times](), reflect.TypeFor[dynamics](), reflect.TypeFor[ownText](), reflect.TypeFor[ownJSON](),
		reflect.TypeFor[foreign](), reflect.TypeFor[quoted](), reflect.TypeFor[omitting](),
		reflect.TypeFor[map[string]omitting](),
		reflect.TypeFor[map[string]*ownText](), reflect.TypeFor[[]ownJSON](), reflect.TypeFor[*any](),
		reflect.TypeFor[[]*[2]*int](),
		reflect.TypeFor[map[uuid]tree](), reflect.TypeFor[Generic[Generic[[]string]]](), reflect.TypeFor[Page[Page[uint8]]](),
	}
}
