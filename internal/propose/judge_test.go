package propose_test

import (
	"strings"
	"testing"
)

// B1: what may change something is not proposed as READ, whatever its name or a glance at its body says.
func TestWhatMayChangeSomethingIsNotRead(t *testing.T) {
	tests := []struct{ name, function string }{
		{"the object of a list may be a verb",
			"// F.\nfunc (s *Store) ListTrash(listID string) (*Item, error) { return s.item(listID), nil }"},
		{"what an object stands in front of is looked at too",
			"// F.\nfunc (s *Store) ItemGet(id string) (*Item, error) { s.driver.Delete(id); return nil, nil }\n" +
				"func (s *Store) ItemPut(id string) error { return nil }\n" +
				"func (s *Store) ItemList() ([]Item, error) { return nil, nil }"},
		{"a WITH that deletes",
			"// F.\nfunc (s *Store) ListExpired(ctx context.Context) ([]Item, error) {\n" +
				"\t_, err := s.db.QueryContext(ctx, `WITH d AS (DELETE FROM items RETURNING *) SELECT * FROM d`)\n" +
				"\treturn nil, err\n}"},
		{"a procedure that is called",
			"// F.\nfunc (s *Store) ListDue(ctx context.Context) ([]Item, error) {\n" +
				"\t_, err := s.db.QueryContext(ctx, `CALL settle()`)\n\treturn nil, err\n}"},
		{"a second verb that is not known",
			"// F.\nfunc (s *Store) GetItemAndFulfil(id string) (*Item, error) { return nil, nil }"},
		{"a method Format of a driver",
			"// F.\nfunc (s *Store) Format(id string) (string, error) { return s.driver.Format(id), nil }"},
		{"a method Unlock that opens something",
			"// F.\nfunc (s *Store) Sesame(id string) (Item, error) { s.doors[id].Unlock(); return Item{}, nil }"},
		{"a SELECT of a function that writes",
			"// F.\nfunc (s *Store) Fulfil(ctx context.Context, id string) (Item, error) {\n\tvar item Item\n" +
				"\terr := s.db.QueryRowContext(ctx, `SELECT fulfil_order($1)`, id).Scan(&item.ID)\n\treturn item, err\n}"},
	}
	var functions []string
	for _, tt := range tests {
		functions = append(functions, tt.function)
	}
	packages, _ := shops(t, functions...)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if len(packages[i].Candidates) == 0 {
				t.Fatalf("no candidate: %+v", packages[i].Rejected)
			}
			c := packages[i].Candidates[0]
			if strings.Contains(c.Directives[0], "category=READ") {
				t.Errorf("%s: %s", c.Function, c.Directives[0])
			}
		})
	}
}

// A statement is found where it is kept in a constant or in a local that has no other value, and only there.
func TestStatementsAreFollowed(t *testing.T) {
	const items = "SELECT id, title FROM items WHERE shop = $1"
	tests := []struct {
		name, statement, query string // what stands in front of the query, and its statement
		outside                string // of the function
		reads                  bool
	}{
		{"written out", "", "`" + items + "`", "", true},
		{"in a local", "query := `" + items + "`", "query", "", true},
		{"in a variable that is declared", "var query string = `" + items + "`", "query", "", true},
		{"in a constant of the function", "const query = `" + items + "`", "query", "", true},
		{"in a constant of the package", "", "query", "const query = `" + items + "`", true},
		{"in parts that are constants", "query := columns + ` WHERE shop = $1`", "query",
			"const columns = `SELECT id, title FROM items`", true},
		{"in locals made of locals", "from := `SELECT id FROM items`\nquery := (from + ` WHERE id = 1`)", "query", "", true},
		{"that writes", "query := `DELETE FROM items RETURNING id, title`", "query", "", false},
		{"that writes at its end", "query := `" + items + "` + `; DELETE FROM items`", "query", "", false},
		{"with a part that varies", "query := `" + items + " ` + shop", "query", "", false},
		{"assigned twice", "query := `" + items + "`\nif shop != `` {\n\tquery = s.drop\n}", "query", "", false},
		{"added to", "query := `" + items + "`\nquery += s.drop", "query", "", false},
		{"declared, then assigned", "var query string\nquery = `" + items + "`", "query", "", false},
		{"declared again in a block", "query := `" + items + "`\nif query := s.drop; query != `` {\n}", "query", "", false},
		{"whose address is taken", "query := `" + items + "`\np := &query\n*p = shop", "query", "", false},
		{"assigned by a closure", "query := `" + items + "`\nf := func() { query = s.drop }\nf()", "query", "", false},
		{"of a range", "query := `" + items + "`\nfor _, query = range s.drops {\n}", "query", "", false},
		{"of a parameter", "func(shop string) {}(`" + items + "`)", "shop", "", false},
		{"of a variable of the package", "", "query", "var query = `" + items + "`", false},
		{"of another block", "{\n\tquery := `" + items + "`\n\t_ = query\n}", "query", "var query string", false},
		{"of one of several results", "query, err := pick(`" + items + "`)", "query", "", false},
		{"behind a context", "", "ctx, `" + items + "`", "", true},
		{"that is an argument of another", "", "`DELETE FROM items`, `" + items + "`", "", false},
	}
	var functions []string
	for _, tt := range tests {
		functions = append(functions, tt.outside+`

// Inventory finds the items of a shop.
func (s *Store) Inventory(ctx context.Context, shop string) ([]Item, error) {
	`+tt.statement+`
	rows, err := s.db.Query(`+tt.query+`, shop)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Item
	for rows.Next() {
		var item Item
		if err := rows.Scan(&item.ID, &item.Title); err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, rows.Err()
}
`)
	}
	packages, _ := shops(t, functions...)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := packages[i].Candidates[0].Directives[0]
			if reads := strings.Contains(got, "category=READ,danger=safe"); reads != tt.reads {
				t.Errorf("%s, want READ: %v", got, tt.reads)
			}
			if guessed := strings.Contains(got, ",guessed"); guessed == tt.reads {
				t.Errorf("%s, want guessed: %v", got, !tt.reads)
			}
		})
	}
}

// A list of the rows of a user, a team or a tenant is worth a look where agents would say whose rows they are.
func TestWhoseRowsIsWorthALook(t *testing.T) {
	tests := []struct {
		name, function, asked string
	}{
		{"an argument", "func (s *Store) ListItems(ctx context.Context, userID int64) ([]Item, error)", "user_id"},
		{"another tenant", "func (s *Store) ListItems(ctx context.Context, teamID string) ([]*Item, error)", "team_id"},
		{"a field of a request", "func (s *Store) ListItems(req ListRequest) ([]Item, error)", "tenant_id"},
		{"of what may list", "func (s *Store) Inventory(accountID string) ([]Item, error)", "account_id"},
		{"another id", "func (s *Store) ListItems(shelfID string) ([]Item, error)", ""},
		{"no list", "func (s *Store) GetItem(userID string) (*Item, error)", ""},
	}
	var functions []string
	for _, tt := range tests {
		functions = append(functions,
			"type ListRequest struct{ TenantID string }\n\n// F.\n"+tt.function+" { return nil, nil }")
	}
	packages, _ := shops(t, functions...)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := ""
			for _, check := range packages[i].Candidates[0].Checks {
				if name, ok := strings.CutPrefix(check, "agents choose "); ok {
					asked, _, _ = strings.Cut(name, ",")
				}
			}
			if asked != tt.asked {
				t.Errorf("asks about %q, want %q: %q", asked, tt.asked, packages[i].Candidates[0].Checks)
			}
		})
	}
}
