package wire

import "time"

// Time reads an RFC 3339 date-time with its zone (MCP-AQL core §4.7.2). Any other value is a problem of type, and so
// is a time outside of the years 0 to 9999 in UTC, which no response could spell.
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

// dateTime parses RFC 3339. Unlike time.Parse it refuses what IsDateTime refuses.
func dateTime(s string) (time.Time, bool) {
	if t, ok := utcTime(s); ok {
		return t, true
	}
	if !IsDateTime(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// IsDateTime reports whether s is a date-time of RFC 3339 with its zone, in the years 0 to 9999 in UTC. T and Z are
// capital letters, and there are no leap seconds.
func IsDateTime(s string) bool {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(s) < shortest || !IsDate(s[:10]) || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return false
	}
	hour, minute, second := twoDigits(s, 11), twoDigits(s, 14), twoDigits(s, 17)
	if hour > 23 || minute > 59 || second > 59 {
		return false
	}
	zone := s[19:]
	if zone[0] == '.' {
		n := digits(zone, 1)
		if zone = zone[1+n:]; n == 0 {
			return false
		}
	}
	if zone == "Z" {
		return true
	}
	if len(zone) != len("+00:00") || zone[0] != '+' && zone[0] != '-' || zone[3] != ':' {
		return false
	}
	hours, minutes := twoDigits(zone, 1), twoDigits(zone, 4)
	if hours > 23 || minutes > 59 {
		return false
	}
	const day = 24 * 60
	at, offset := hour*60+minute, hours*60+minutes
	switch {
	case zone[0] == '+' && offset > at:
		return s[:10] != "0000-01-01"
	case zone[0] == '-' && at+offset >= day:
		return s[:10] != "9999-12-31"
	}
	return true
}

// IsDate reports whether s is a date of RFC 3339, such as 2006-01-02.
func IsDate(s string) bool {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return false
	}
	century, year, month, day := twoDigits(s, 0), twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)
	if (century|year)&notDigits != 0 || month-1 > 11 || day-1 > 30 {
		return false
	}
	switch month {
	case 4, 6, 9, 11:
		return day <= 30
	case 2:
		leap := year%4 == 0 && (year != 0 || century%4 == 0)
		return day <= 28 || leap && day == 29
	}
	return true
}

// utcTime parses an RFC 3339 time in UTC on one of the first 28 days of a month, as most times are. ok is false for
// every other text, even if it is a time.
func utcTime(s string) (t time.Time, ok bool) {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(s) < shortest || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' ||
		s[len(s)-1] != 'Z' {
		return t, false
	}
	century, year, month, day := twoDigits(s, 0), twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)
	hour, minute, second, nanosecond := twoDigits(s, 11), twoDigits(s, 14), twoDigits(s, 17), 0
	if (century|year|month|day|hour|minute|second)&notDigits != 0 || month-1 > 11 || day-1 > 27 || hour > 23 ||
		minute > 59 || second > 59 {
		return t, false
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

// daysBefore returns the number of days from the first of January 1970 to the first day of a month. It counts years
// from March on, so that the leap day is the last day of a year, and in cycles of 400.
func daysBefore(year, month int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	year += 400 // January of the year 0 belongs to the year before, which must not be negative
	const cycle, before = 146097, 719468 + 146097
	return year/400*cycle + year%400*365 + year%400/4 - year%400/100 + (153*(month-3)+2)/5 - before
}

// notDigits is a bit that no number of two digits has.
const notDigits = 128

// twoDigits returns the number that the two digits at i spell, or notDigits.
func twoDigits(s string, i int) uint {
	tens, ones := uint(s[i]-'0'), uint(s[i+1]-'0')
	if tens > 9 || ones > 9 {
		return notDigits
	}
	return tens*10 + ones
}

// appendTime appends a time in RFC 3339, in quotes, with as many fractional digits as it needs. The time must be in
// UTC and in the years 0 to 9999.
func appendTime(buf []byte, t time.Time) []byte {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	buf = append(buf, '"', digit(year/1000), digit(year/100), digit(year/10), digit(year), '-',
		digit(int(month)/10), digit(int(month)), '-', digit(day/10), digit(day), 'T',
		digit(hour/10), digit(hour), ':', digit(minute/10), digit(minute), ':', digit(second/10), digit(second))
	if fraction := t.Nanosecond(); fraction > 0 {
		width := 9
		for ; fraction%10 == 0; fraction /= 10 {
			width--
		}
		buf = append(buf, ".000000000"[:width+1]...)
		for i := len(buf) - 1; fraction > 0; i, fraction = i-1, fraction/10 {
			buf[i] = digit(fraction)
		}
	}
	return append(buf, 'Z', '"')
}

// digit returns the last digit of n.
func digit(n int) byte { return byte('0' + n%10) }
