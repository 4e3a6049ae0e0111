package shapes

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Types with names of their own.
type (
	Flag     bool
	Name     string
	Count    int
	Small    int8
	Big      int64
	Octet    uint8
	Natural  uint
	Ratio    float64
	Single   float32
	Blob     []byte
	Names    []string
	Flags    [4]bool
	Ledger   map[string]int
	Deep     [][]map[string]*int
	Nickname Name
	Same     = string
	Listed   = []Name
	Maybe    = *int
	Raw      json.RawMessage
	Digits   json.Number
)

// Color is an enum.
type Color string

// The colors.
const (
	Red   Color = "red"
	Green Color = "green"
)

// Blank is an enum with an empty value.
type Blank string

// The values of Blank.
const (
	None Blank = ""
	Some Blank = "some"
)

// Size is an enum of integers.
type Size int

// The sizes.
const (
	Tiny Size = iota
	Medium
	Huge
)

// Mode is a set of flags.
type Mode uint8

// The flags.
const (
	Read Mode = 1 << iota
	Write
	Execute
)

// UUID is an identifier that is written as text.
type UUID [16]byte

// MarshalText writes the usual form.
func (u UUID) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]), nil
}

// UnmarshalText reads the usual form.
func (u *UUID) UnmarshalText(text []byte) error {
	digits := strings.ReplaceAll(string(text), "-", "")
	if len(text) != 36 || len(digits) != 32 {
		return errors.New("not 8-4-4-4-12 digits")
	}
	for i := range u {
		b, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		if err != nil {
			return err
		}
		u[i] = byte(b)
	}
	return nil
}

// Hex is an integer that is written as text.
type Hex uint32

// MarshalText writes hexadecimal digits.
func (h Hex) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(h), 16), nil }

// UnmarshalText reads hexadecimal digits.
func (h *Hex) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 32)
	*h = Hex(v)
	return err
}

// Version is a struct that is written as text by methods of its pointer.
type Version struct{ Major, Minor int }

// MarshalText writes MAJOR.MINOR.
func (v *Version) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%d", v.Major, v.Minor), nil
}

// UnmarshalText reads MAJOR.MINOR.
func (v *Version) UnmarshalText(text []byte) error {
	major, minor, ok := strings.Cut(string(text), ".")
	if !ok {
		return errors.New("no period")
	}
	var err, err2 error
	v.Major, err = strconv.Atoi(major)
	v.Minor, err2 = strconv.Atoi(minor)
	return errors.Join(err, err2)
}

// Money writes and reads its own JSON, an object.
type Money struct {
	Amount   int64
	Currency string
}

type money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// MarshalJSON writes an object.
func (m Money) MarshalJSON() ([]byte, error) { return json.Marshal(money(m)) }

// UnmarshalJSON reads an object.
func (m *Money) UnmarshalJSON(data []byte) error {
	var plain money
	err := json.Unmarshal(data, &plain)
	*m = Money(plain)
	return err
}

// Celsius is a number that writes its own JSON by methods of its pointer.
type Celsius float64

// MarshalJSON writes a number with one decimal.
func (c *Celsius) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(*c), 'f', 1, 64), nil
}

// UnmarshalJSON reads a number.
func (c *Celsius) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseFloat(string(data), 64)
	*c = Celsius(v)
	return err
}

// Tags is a list that writes its own JSON, a text with commas.
type Tags []string

// MarshalJSON writes a string.
func (t Tags) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Join(t, ",")) }

// UnmarshalJSON reads a string.
func (t *Tags) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = strings.Split(s, ",")
	return nil
}

// Stamp has the methods of the time that it embeds.
type Stamp struct{ time.Time }

// Grade is a string that reads itself and is written as it is.
type Grade string

// UnmarshalJSON reads one letter.
func (g *Grade) UnmarshalJSON(data []byte) error {
	if len(data) != 3 {
		return errors.New("not one letter")
	}
	*g = Grade(data[1:2])
	return nil
}

// Wrapped has the methods of what it embeds.
type Wrapped struct {
	Money
	Note string
}
