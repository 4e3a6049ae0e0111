package collections_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/sqlquery"
)

// Placeholders in conditions of authors are found between texts and comments. A condition that cannot be judged is
// never run.
func TestConditionsOfAuthors(t *testing.T) {
	const lite, postgres, my = sqlquery.SQLite, sqlquery.PostgreSQL, sqlquery.MySQL
	for _, tt := range []struct {
		dialect   sqlquery.Dialect
		condition string
		want      string // what stands behind WHERE; empty: it is refused
	}{
		{lite, "x = ?", "(x = ?)"},
		{lite, "/* whose? */ x = ? -- mine?", "(/* whose? */ x = ? -- mine?\n)"},
		{postgres, "/* whose? */ x = ? -- mine?", "(/* whose? */ x = $1 -- mine?\n)"},
		{my, "x = ? # mine?", "(x = ? # mine?\n)"},
		{my, "x = 5--?", "(x = 5--?\n)"},
		{postgres, "tags ?? 'a' AND tags ??| ?", "(tags ? 'a' AND tags ?| $1)"},
		{postgres, `x LIKE '?\' AND y = ?`, `(x LIKE '?\' AND y = $1)`},
		{lite, "x = 'it''s ?' AND `?` = ?", "(x = 'it''s ?' AND `?` = ?)"},
		{lite, "tags ?? 'a' AND x = ?", ""},
		{postgres, `x = E'it\'s ?' AND y = ?`, ""},
		{postgres, "x = $$?$$ AND y = ?", ""},
		{postgres, "/* /* */ ? */ x = ?", ""},
		{my, `x = 'it\'s ?' AND y = ?`, ""},
		{my, "x = 1 /*! AND y = ? */", ""},
		{lite, "x = 'y AND z = ?", ""},
		{lite, "x = ? /* y", ""},
		{lite, "x = ? AND y = ?", ""},
	} {
		tags := sqlquery.JSON
		s, r := recording(t, tt.dialect, tags, sqlquery.Where(tt.condition, 1))
		answer := send(t, s, "list_taken", `{}`)
		if refused := answer["success"] != true; refused != (tt.want == "") || refused && r.statements != nil {
			t.Errorf("%s: %s is refused: %t, %q", tt.dialect, tt.condition, refused, r.statements)
		} else if !refused && !strings.Contains(r.statements[0], " WHERE "+tt.want+" ORDER BY") {
			t.Errorf("%s: %s is written as %s", tt.dialect, tt.condition, r.statements[0])
		}
	}
}
