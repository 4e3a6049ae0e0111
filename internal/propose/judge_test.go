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
