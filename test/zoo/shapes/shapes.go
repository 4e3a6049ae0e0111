// Package shapes has a service that returns what it is sent: a field for each shape that a Go type can have in JSON.
package shapes

import (
	"database/sql"
	"encoding/json"
	"log/slog"
	"math/big"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"time"

	aql "github.com/aqltag/aqltag/runtime"

	"github.com/aqltag/aqltag/test/zoo/other"
)

//go:generate go tool aql-tag

// Basic has the types of the language.
type Basic struct {
	Bool    bool
	String  string
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
	Any     any
	Bytes   []byte
	Rune    rune
}

// Declared has types with names of their own.
type Declared struct {
	Flag    Flag
	Name    Name
	Count   Count
	Small   Small
	Big     Big
	Octet   Octet
	Natural Natural
	Ratio   Ratio
	Single  Single
	Blob    Blob
	Names   Names
	Flags   Flags
	Ledger  Ledger
	Deep    Deep
	Second  Nickname
	Same    Same
	Listed  Listed
	Maybe   Maybe
	Raw     Raw
	Digits  Digits
	Color   Color
	Blank   Blank
	Size    Size
	Mode    Mode
	Suit    other.Suit
	Month   time.Month
}

// Pointing has pointers of every depth.
type Pointing struct {
	Bool      *bool
	String    *string
	Int       *int
	Int64     *int64
	Uint8     *uint8
	Float64   *float64
	Name      *Name
	Color     *Color
	Blank     *Blank
	Size      *Size
	Time      *time.Time
	Plain     *Plain
	Twice     **int
	Thrice    ***string
	List      *[]int
	Map       *map[string]int
	Any       *any
	Bytes     *[]byte
	Raw       *json.RawMessage
	Array     *[3]int
	Big       *big.Int
	Struct    **Plain
	Pointers  *[]*string
	Elsewhere *other.Point
}

// Listing has lists of all kinds.
type Listing struct {
	Bools     []bool
	Strings   []string
	Ints      []int
	Int8s     []int8
	Uint16s   []uint16
	Float32s  []float32
	Anys      []any
	Blobs     [][]byte
	Matrix    [][]int
	Texts     []*string
	Plains    []Plain
	Pointers  []*Plain
	Maps      []map[string]int
	Times     []time.Time
	Colors    []Color
	ColorsTo  []*Color
	Sizes     []Size
	Names     []Name
	Numbers   []json.Number
	Raws      []json.RawMessage
	Bytes     []Blob
	Three     [3]int
	Square    [2][2]int
	Octets    [4]byte
	TwoTo     [2]*string
	ListTo    []*[]int
	Unnamed   []struct{ A int }
	Deepest   [][][]*int
	Durations []time.Duration
	UUIDs     []UUID
	Moneys    []Money
	Versions  []Version
	VersionTo []*Version
	Celsiuses []Celsius
}

// Mapping has maps of all kinds.
type Mapping struct {
	Strings  map[string]string
	Ints     map[string]int
	IntTo    map[string]*int
	Lists    map[string][]int
	Nested   map[string]map[string]int
	Plains   map[string]Plain
	PlainTo  map[string]*Plain
	Anys     map[string]any
	Named    map[Name]int
	Enum     map[Color]int
	Int      map[int]string
	Int8     map[int8]string
	Int16    map[int16]int
	Int32    map[int32]int
	Int64    map[int64]string
	Uint     map[uint]string
	Uint8    map[uint8]string
	Uint16   map[uint16]int
	Uint32   map[uint32]int
	Uint64   map[uint64]string
	Count    map[Count]string
	Hex      map[Hex]int
	UUIDs    map[UUID]string
	Addrs    map[netip.Addr]string
	Blobs    map[string][]byte
	Times    map[string]time.Time
	Colors   map[string]Color
	ColorsTo map[string]*Color
	Raws     map[string]json.RawMessage
	AnyTo    map[string]*any
	Arrays   map[string][2]int
	Versions map[string]Version
	Moneys   map[string]Money
	ListsTo  map[string][]*Plain
	Sizes    map[Size]int
	Moments  map[time.Time]int
}

// Structured has structs.
type Structured struct {
	Plain            Plain
	Nested           Nested
	Shape            Shape
	Other            other.Shape
	Hidden           other.Hidden
	Unnamed          struct{ A, B int }
	Embedding        Embedding
	EmbeddingPointer EmbeddingPointer
	Shadowing        Shadowing
	Grand            Grand
	NamedEmbedding   NamedEmbedding
	EmbeddingName    EmbeddingName
	EmbeddingForeign EmbeddingForeign
	TaggedWins       TaggedWins
	Hiding           Hiding
	Empty            Empty
	Omitting         Omitting
	OmittingZero     OmittingZero
	Quoted           Quoted
	Constrained      Constrained
	Formats          Formats
}

// Recursive has types that contain themselves.
type Recursive struct {
	Node     Node
	NodeTo   *Node
	Tree     Tree
	Forest   Forest
	Husband  Husband
	Lists    Lists
	Maps     Maps
	Pointers Pointers
	MapLists MapLists
	Chain    Chain[string]
	ChainOf  Chain[[]int]
}

// Generic has instances of generic types.
type Generic struct {
	Pair     Pair[string, int]
	PairTo   Pair[Name, *Plain]
	Page     Page[Plain]
	PageOf   Page[[]byte]
	Bag      Bag[int]
	BagTo    Bag[*int]
	Row      Row[Color]
	RowOf    Row[Row[int]]
	Box      other.Box[string]
	BoxOfBox other.Box[other.Box[*Plain]]
	BoxAny   other.Box[any]
	BoxTime  other.Box[time.Time]
}

// Standard has types of the standard library.
type Standard struct {
	Time        time.Time
	Duration    time.Duration
	Weekday     time.Weekday
	Number      json.Number
	Raw         json.RawMessage
	BigInt      big.Int
	BigFloat    big.Float
	BigRat      *big.Rat
	IP          net.IP
	IPNet       net.IPNet
	Hardware    net.HardwareAddr
	Addr        netip.Addr
	AddrPort    netip.AddrPort
	Prefix      netip.Prefix
	URL         url.URL
	URLTo       *url.URL
	Values      url.Values
	Address     mail.Address
	Level       slog.Level
	Regexp      *regexp.Regexp
	NullString  sql.NullString
	NullInt64   sql.NullInt64
	NullInt32   sql.NullInt32
	NullInt16   sql.NullInt16
	NullByte    sql.NullByte
	NullBool    sql.NullBool
	NullFloat64 sql.NullFloat64
	NullTime    sql.NullTime
	NullOf      sql.Null[int]
	BigIntTo    *big.Int
	Names       []netip.Addr
	DurationTo  *time.Duration
}

// Optionals tell absent, null and value apart.
type Optionals struct {
	String aql.Optional[string]
	Int    aql.Optional[int]
	Bool   aql.Optional[bool]
	Float  aql.Optional[float64]
	Time   aql.Optional[time.Time]
	List   aql.Optional[[]string]
	Map    aql.Optional[map[string]int]
	Plain  aql.Optional[Plain]
	Color  aql.Optional[Color]
	Any    aql.Optional[any]
	Bytes  aql.Optional[[]byte]
	Addr   aql.Optional[netip.Addr]
	IntTo  aql.Optional[*int]
	Int8   aql.Optional[int8]
	Money  aql.Optional[Money]
}

// Own has types that write and read themselves.
type Own struct {
	UUID      UUID
	UUIDTo    *UUID
	Hex       Hex
	Version   Version
	VersionTo *Version
	Money     Money
	MoneyTo   *Money
	Celsius   Celsius
	CelsiusTo *Celsius
	Tags      Tags
	Stamp     Stamp
	StampTo   *Stamp
	Grade     Grade
	Wrapped   Wrapped
}

// Tagged has the options of json tags, and rules, at the top.
type Tagged struct {
	IntText     int            `json:"int_text,string"`
	Int64Text   int64          `json:"int64_text,string"`
	UintText    uint64         `json:"uint_text,string"`
	FloatText   float64        `json:"float_text,string"`
	BoolText    bool           `json:"bool_text,string"`
	TextText    string         `json:"text_text,string"`
	TextTo      *int           `json:"text_to,string"`
	Omit        string         `json:"omit,omitempty"`
	OmitInt     int            `json:"omit_int,omitempty"`
	OmitList    []int          `json:"omit_list,omitempty"`
	OmitTo      *string        `json:"omit_to,omitempty"`
	OmitColor   Color          `json:"omit_color,omitempty"`
	OmitBytes   []byte         `json:"omit_bytes,omitempty"`
	ZeroTime    time.Time      `json:"zero_time,omitzero"`
	ZeroPlain   Plain          `json:"zero_plain,omitzero"`
	ZeroList    []int          `json:"zero_list,omitzero"`
	MinMax      int            `json:"min_max" aql:"min=-2,max=5"`
	Length      string         `json:"length" aql:"minlen=1,maxlen=3"`
	Pattern     string         `json:"pattern" aql:"pattern='^x?[0-9]*$'"`
	Items       []string       `json:"items" aql:"maxitems=3"`
	Members     map[string]int `json:"members" aql:"maxitems=2"`
	Enum        string         `json:"enum" aql:"enum=one|two"`
	Default     string         `json:"default" aql:"default=standard"`
	DefaultTo   *int           `json:"default_to" aql:"default=4"`
	DateTime    string         `json:"date_time" aql:"format=date-time"`
	Date        string         `json:"date" aql:"format=date"`
	Renamed     int            `json:"renamedByJSON"`
	Aliased     int            `json:"aliased" aql:"alias=other_name"`
	FloatBounds float32        `json:"float_bounds" aql:"min=0,max=1"`
	ListBounds  []int8         `json:"list_bounds" validate:"dive,min=1"`
}
