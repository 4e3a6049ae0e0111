package wire

import (
	"encoding/base64"
	"strings"
	"time"
)

// String reads a string. ok is false when the value is something else, which is then a problem and skipped.
func (r *Reader) String() (s string, ok bool) {
	if r.peek() != '"' {
		r.mismatch("string")
		return "", false
	}
	return r.text(retains)
}

// mostStrings is the number of strings for which Strings keeps its room.
const maxReusedStrings = 1024

// Strings reads an array of strings. Elements that are something else are problems, and left out. ok is false when the
// value is no array, which is then a problem and skipped. It takes no more memory than the strings need, whatever number
// of them there is.
func (r *Reader) Strings() (list []string, ok bool) {
	if !r.Array() {
		return nil, false
	}
	room := r.strings
	for r.NextElement() {
		if s, ok := r.String(); ok {
			room = append(room, s)
		}
	}
	list = make([]string, len(room))
	copy(list, room)
	clear(room)
	if cap(room) <= maxReusedStrings {
		r.strings = room[:0]
	}
	return list, r.fault == nil
}

// Bool reads true or false. ok is false when the value is something else, which is then a problem and skipped.
func (r *Reader) Bool() (v, ok bool) {
	switch r.peek() {
	case 't':
		ok = r.literal("true")
		return ok, ok
	case 'f':
		return false, r.literal("false")
	default:
		r.mismatch("boolean")
		return false, false
	}
}

// Time reads an RFC 3339 date-time with its zone (MCP-AQL core §4.7.2). A string that is none is a problem of type, and
// so is a time that falls outside the years 0 to 9999 in UTC, which no response could spell.
func (r *Reader) Time() (t time.Time, ok bool) {
	if r.peek() != '"' {
		r.mismatch("date-time")
		return time.Time{}, false
	}
	s, ok := r.text(borrows)
	if !ok {
		return time.Time{}, false
	}
	t, ok = dateTime(s)
	if !ok {
		r.wrongType("date-time", "string")
	}
	return t, ok
}

// utcTime parses an RFC 3339 time in UTC, which is how times are mostly sent. ok is false for every other text, be it a
// time or not.
func utcTime(s string) (t time.Time, ok bool) {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(s) < shortest || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[len(s)-1] != 'Z' {
		return t, false
	}
	century, year, month, day := twoDigits(s, 0), twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)
	hour, minute, second, nanosecond := twoDigits(s, 11), twoDigits(s, 14), twoDigits(s, 17), 0
	if (century|year|month|day|hour|minute|second)&notDigits != 0 || month-1 > 11 || day-1 > 27 || hour > 23 || minute > 59 || second > 59 {
		return t, false // the days behind the 28th are left to the library
	}
	if len(s) > shortest {
		fraction := s[20 : len(s)-1]
		if s[19] != '.' || len(fraction) == 0 || len(fraction) > 9 || digits(fraction, 0) < len(fraction) {
			return t, false
		}
		for i := range 9 {
			nanosecond *= 10
			if i < len(fraction) {
				nanosecond += int(fraction[i] - '0')
			}
		}
	}
	seconds := daysBefore(int64(century*100+year), int64(month))*86400 + int64((day-1)*86400+hour*3600+minute*60+second)
	return time.Unix(seconds, int64(nanosecond)).UTC(), true
}

// daysBefore counts the days from the first of January 1970 to the first day of a month. Years are counted from March on, so that
// the day that some have more is their last, and in cycles of 400.
func daysBefore(year, month int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	year += 400 // so that the year before 0 is none below it
	const cycle, before = 146097, 719468 + 146097
	return year/400*cycle + year%400*365 + year%400/4 - year%400/100 + (153*(month-3)+2)/5 - before
}

// noPair is a bit that no number of two digits has.
const notDigits = 128

// pair returns the number of two digits at i, or noPair.
func twoDigits(s string, i int) uint {
	tens, ones := uint(s[i]-'0'), uint(s[i+1]-'0')
	if tens > 9 || ones > 9 {
		return notDigits
	}
	return tens*10 + ones
}

// dateTime parses RFC 3339 without the liberties that time.Parse takes: hours of one digit, a comma before the fraction,
// zones of a day and more.
func dateTime(s string) (time.Time, bool) {
	if t, ok := utcTime(s); ok {
		return t, true
	}
	const shortest = len("2006-01-02T15:04:05Z")
	if len(s) < shortest || s[len("2006-01-02T15")] != ':' || s[len("2006-01-02T15:04:05")] == ',' {
		return time.Time{}, false
	}
	if zone := s[len(s)-len("+00:00"):]; s[len(s)-1] != 'Z' && (zone[1:3] > "23" || zone[4:] > "59") {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, false
	}
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// Bytes reads binary data in standard base64 with padding (MCP-AQL core §4.7.4).
func (r *Reader) Bytes() (b []byte, ok bool) {
	if r.peek() != '"' {
		r.mismatch("base64")
		return nil, false
	}
	s, ok := r.text(borrows)
	if !ok {
		return nil, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		r.wrongType("base64", "string")
		return nil, false
	}
	return b, true
}
