package identity_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/identity"
)

// Each role may do what those before it may, and what is no role may nothing.
func TestRoles(t *testing.T) {
	none := identity.Role("")
	for _, tt := range []struct {
		role, other identity.Role
		includes    bool
	}{
		{identity.Viewer, identity.Viewer, true}, {identity.Viewer, identity.Approver, false},
		{identity.Approver, identity.Viewer, true}, {identity.Approver, identity.Admin, false},
		{identity.Admin, identity.Approver, true}, {identity.Admin, identity.Viewer, true},
		{none, identity.Viewer, false}, {none, none, false}, {identity.Admin, none, false},
		{"root", identity.Viewer, false}, {"Admin", identity.Viewer, false}, {identity.Admin, "root", false},
	} {
		if got := tt.role.Includes(tt.other); got != tt.includes {
			t.Errorf("%q includes %q: %t, want %t", tt.role, tt.other, got, tt.includes)
		}
	}
	for _, name := range []string{"", "Admin", "root", "viewer "} {
		if role, err := identity.ParseRole(name); err == nil || role != "" {
			t.Errorf("%q is the role %q", name, role)
		}
	}
	for _, role := range identity.Roles() {
		if got, err := identity.ParseRole(string(role)); got != role || err != nil {
			t.Errorf("%q is the role %q, %v", role, got, err)
		}
	}
}
