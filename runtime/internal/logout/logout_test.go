package logout_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/logout"
	"github.com/aqltag/aqltag/runtime/store"
)

// Each end begins an era that was not there before, of that person alone.
func TestErasAreOfOnePerson(t *testing.T) {
	book := logout.Book{Store: new(store.Memory)}
	eve, other := identity.User("eve"), identity.Caller{Subject: "eve", Issuer: "https://login.example"}
	seen := map[string]bool{}
	for range 3 {
		era, err := book.Era(t.Context(), eve)
		if err != nil || seen[era] {
			t.Errorf("the era %q, %v", era, err)
		}
		seen[era] = true
		if err := book.End(t.Context(), eve); err != nil {
			t.Error(err)
		}
	}
	if era, err := book.Era(t.Context(), other); era != "" || err != nil {
		t.Errorf("somebody of the same name has the era %q, %v", era, err)
	}
}
