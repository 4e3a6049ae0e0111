// Package fields has a field for each rule of go-playground/validator that means something in MCP-AQL, on each kind of
// value that it is about.
package fields

import "time"

// Request has one rule a field, or some that work together.
type Request struct {
	_ struct{} `aql:"category=READ"`

	Required   string  `json:"required" validate:"required"`
	Min        string  `json:"min" validate:"min=2"`
	Max        string  `json:"max" validate:"max=3"`
	Len        string  `json:"len" validate:"len=2"`
	Gt         string  `json:"gt" validate:"gt=1"`
	Gte        string  `json:"gte" validate:"gte=0x2"`
	Lt         string  `json:"lt" validate:"lt=3"`
	Lte        string  `json:"lte" validate:"lte=3"`
	Eq         string  `json:"eq" validate:"eq=ab"`
	EqOr       string  `json:"eq_or" validate:"eq=ab|eq=a|oneof=b c"`
	OneOf      string  `json:"one_of" validate:"oneof=a 'b c' ab"`
	Range      string  `json:"range" validate:"required,min=2,gte=1,max=4,lt=4"`
	Listed     string  `json:"listed" validate:"required,oneof=a b"`
	Pointer    *string `json:"pointer" validate:"required,max=2"`
	PointerLow *string `json:"pointer_low" validate:"min=2"`
	Named      Name    `json:"named" validate:"required,max=2"`
	Bound      string  `json:"bound" binding:"max=2"`
	Both       string  `json:"both" binding:"min=1" validate:"max=2"`

	Alpha           string `json:"alpha" validate:"alpha"`
	AlphaSpace      string `json:"alpha_space" validate:"alphaspace"`
	Alphanum        string `json:"alphanum" validate:"alphanum"`
	AlphanumSpace   string `json:"alphanum_space" validate:"alphanumspace"`
	AlphaUnicode    string `json:"alpha_unicode" validate:"alphaunicode"`
	AlphanumUnicode string `json:"alphanum_unicode" validate:"alphanumunicode"`
	Numeric         string `json:"numeric" validate:"numeric"`
	Number          string `json:"number" validate:"number"`
	Boolean         string `json:"boolean" validate:"boolean"`
	Hexadecimal     string `json:"hexadecimal" validate:"hexadecimal"`
	HexColor        string `json:"hex_color" validate:"hexcolor"`
	E164            string `json:"e164" validate:"e164"`
	ASCII           string `json:"ascii" validate:"ascii"`
	PrintASCII      string `json:"print_ascii" validate:"printascii"`
	Multibyte       string `json:"multibyte" validate:"multibyte"`
	MD5             string `json:"md5" validate:"md5"`
	SHA256          string `json:"sha256" validate:"sha256"`
	SHA384          string `json:"sha384" validate:"sha384"`
	SHA512          string `json:"sha512" validate:"sha512"`
	MongoDB         string `json:"mongodb" validate:"mongodb"`
	ULID            string `json:"ulid" validate:"ulid"`
	DNSLabel        string `json:"dns_label" validate:"dns_rfc1035_label"`
	LatitudeText    string `json:"latitude_text" validate:"latitude"`
	LongitudeText   string `json:"longitude_text" validate:"longitude"`
	StartsWith      string `json:"starts_with" validate:"startswith=a.0x2C"`
	EndsWith        string `json:"ends_with" validate:"endswith=b$"`
	Contains        string `json:"contains" validate:"contains=a0x7Cb"`
	ContainsRune    string `json:"contains_rune" validate:"containsrune=^"`
	ContainsAny     string `json:"contains_any" validate:"containsany=]^-a\\"`
	Excludes        string `json:"excludes" validate:"excludes=é"`
	ExcludesAll     string `json:"excludes_all" validate:"excludesall=^-]a"`
	ExcludesRune    string `json:"excludes_rune" validate:"excludesrune=-"`
	EitherAlphabet  string `json:"either_alphabet" validate:"alpha|number"`

	Int         int           `json:"int" validate:"min=-2,max=3"`
	IntRequired int           `json:"int_required" validate:"required,max=3"`
	IntGt       int8          `json:"int_gt" validate:"gt=-2,lt=2"`
	IntLen      int16         `json:"int_len" validate:"len=2"`
	IntEq       int32         `json:"int_eq" validate:"eq=-1"`
	IntOneOf    int64         `json:"int_one_of" validate:"oneof=1 2 3"`
	IntGaps     int64         `json:"int_gaps" validate:"oneof=1 3"`
	IntNumeric  int           `json:"int_numeric" validate:"numeric,number"`
	IntWide     int8          `json:"int_wide" validate:"gte=-200,lte=200"`
	Port        int           `json:"port" validate:"port"`
	Uint        uint          `json:"uint" validate:"gt=0,lte=0x3"`
	UintPort    uint16        `json:"uint_port" validate:"port"`
	Float       float64       `json:"float" validate:"min=-0.5,max=1.5"`
	Float32     float32       `json:"float32" validate:"gte=-0.5,lte=1.5"`
	FloatEq     float64       `json:"float_eq" validate:"eq=1.5"`
	Latitude    float64       `json:"latitude" validate:"latitude"`
	Longitude   float64       `json:"longitude" validate:"longitude"`
	Duration    time.Duration `json:"duration" validate:"min=1ns,max=3ns"`
	Bool        bool          `json:"bool" validate:"boolean"`
	Day         string        `json:"day" validate:"datetime=2006-01-02"`
	Moment      string        `json:"moment" validate:"datetime=2006-01-02T15:04:05Z07:00"`
	Days        []string      `json:"days" validate:"max=2,dive,datetime=2006-01-02"`
	IntPointer  *int          `json:"int_pointer" validate:"required,gt=-1"`

	List        []string          `json:"list" validate:"required"`
	ListMin     []string          `json:"list_min" validate:"min=1,max=2"`
	ListLen     []string          `json:"list_len" validate:"len=2"`
	ListGt      []int             `json:"list_gt" validate:"gt=0,lt=3"`
	ListDive    []string          `json:"list_dive" validate:"max=2,dive,min=1,max=2"`
	ListNeeded  []string          `json:"list_needed" validate:"dive,required"`
	ListPattern []string          `json:"list_pattern" validate:"dive,alphanum"`
	ListNumbers []int             `json:"list_numbers" validate:"dive,gte=0,lte=2"`
	ListDeep    [][]string        `json:"list_deep" validate:"max=2,dive,max=2,dive,oneof=a b"`
	ListPointer []*string         `json:"list_pointer" validate:"dive,max=1"`
	Array       [2]string         `json:"array" validate:"dive,max=1"`
	Map         map[string]string `json:"map" validate:"min=1,max=2,dive,max=1"`
	MapNumbers  map[string]int    `json:"map_numbers" validate:"dive,eq=1"`

	OmitEmpty    string   `json:"omit_empty" validate:"omitempty,min=2"`
	OmitInt      int      `json:"omit_int" validate:"omitempty,min=2"`
	OmitPointer  *string  `json:"omit_pointer" validate:"omitempty,min=2"`
	OmitNil      *string  `json:"omit_nil" validate:"omitnil,min=2"`
	OmitList     []string `json:"omit_list" validate:"omitempty,min=1"`
	OmitElements []string `json:"omit_elements" validate:"dive,omitempty,min=2"`
}

// Name is a text.
type Name string

// Check takes a request.
func Check(Request) error { return nil }
