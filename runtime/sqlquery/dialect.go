package sqlquery

import (
	"strconv"
	"strings"
)

// Dialect is the language of a database.
type Dialect uint8

// The dialects.
const (
	SQLite     Dialect = iota + 1 // 3.30 or later
	PostgreSQL                    // with the encoding UTF-8
	// MySQL is MySQL 8, not tested, and MariaDB 10.6 or later, with connections in utf8mb4 and without
	// interpolateParams, which would round what is kept as FLOAT. It orders texts by their first max_sort_length
	// bytes, which are 1024 unless that is set: leave orders by longer texts to the runtime, or set it.
	MySQL
)

// String returns the name of the database.
func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "SQLite"
	case PostgreSQL:
		return "PostgreSQL"
	case MySQL:
		return "MySQL"
	}
	return "no dialect"
}

func (d Dialect) known() bool { return d >= SQLite && d <= MySQL }

// placeholder returns that of the nth value.
func (d Dialect) placeholder(n int) string {
	if d == PostgreSQL {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// quote quotes the name of a column. SQLite takes a name between double quotes for a text if there is no such column.
func (d Dialect) quote(name string) string {
	if d == PostgreSQL {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// bytes returns an expression that is compared by the bytes of a text. Collations of MySQL ignore blanks at the end of
// texts, but for some that MariaDB calls by other names.
func (d Dialect) bytes(text string) string {
	switch d {
	case PostgreSQL:
		return text + ` COLLATE "C"`
	case MySQL:
		return "CAST(CONVERT(" + text + " USING utf8mb4) AS BINARY)"
	default:
		return text + " COLLATE BINARY"
	}
}

// comparesRows says whether the database finds rows that are greater than others in an index.
func (d Dialect) comparesRows() bool { return d != MySQL }

// lower returns an expression that is a text with its ASCII letters small, and no other.
func (d Dialect) lower(text string) string {
	switch d {
	case PostgreSQL:
		return "lower(" + d.bytes(text) + ")"
	case MySQL: // LOWER changes other letters too
		var out strings.Builder
		out.WriteString(strings.Repeat("REPLACE(", 26))
		out.WriteString("CONVERT(" + text + " USING utf8mb4) COLLATE utf8mb4_bin")
		for letter := 'A'; letter <= 'Z'; letter++ {
			out.WriteString(",'" + string(letter) + "','" + string(letter+'a'-'A') + "')")
		}
		return out.String()
	default:
		return "lower(" + text + ")"
	}
}

// position returns an expression that is the place of a value in a text, from 1 on, or 0.
func (d Dialect) position(text, value string) string {
	if d == PostgreSQL {
		return "strpos(" + text + ", " + value + ")"
	}
	return "instr(" + text + ", " + value + ")"
}

// sums returns expressions whose sums together are the exact sum of an expression of integers.
func (d Dialect) sums(integer string) []string {
	switch d {
	case SQLite: // which adds up in 64 bits: the sum of the upper halves, and that of the lower ones
		return []string{"SUM(" + integer + " >> 32)", "SUM(" + integer + " & 4294967295)"}
	case PostgreSQL:
		return []string{"SUM(" + integer + ")::text"}
	}
	return []string{"SUM(" + integer + ")"}
}
