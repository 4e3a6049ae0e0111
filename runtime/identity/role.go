package identity

import (
	"fmt"
	"slices"
)

// Role is what a person may do who looks at what waits for a decision. The zero value is none of them, and may nothing.
type Role string

const (
	// Viewer sees what waits, and decides nothing.
	Viewer Role = "viewer"
	// Approver decides about what others have asked, where that lets the person, and sees codes.
	Approver Role = "approver"
	// Admin decides about everything that lets the person, also without a code about agents that are held, and says who
	// has which role.
	Admin Role = "admin"
)

// Roles returns all roles. Each may do what the ones before it may.
func Roles() []Role { return []Role{Viewer, Approver, Admin} }

// ParseRole returns the role with a name.
func ParseRole(name string) (Role, error) {
	if role := Role(name); role.rank() >= 0 {
		return role, nil
	}
	return "", fmt.Errorf("there is no role %q: it is one of %v", name, Roles())
}

// Includes reports whether the role may do what another one may. What is no role includes none, and none includes it.
func (r Role) Includes(other Role) bool { return other.rank() >= 0 && r.rank() >= other.rank() }

// rank is greater for roles that may do more; less than zero: it is none.
func (r Role) rank() int { return slices.Index(Roles(), r) }
