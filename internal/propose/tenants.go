package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// tenants are parameters that say whose rows a function lists.
var tenants = strings.Fields("user_id tenant_id account_id team_id owner_id org_id organization_id workspace_id")

// asksWhoseRows adds to the checks of a candidate that lists something that agents would choose whose it is.
func (c *Candidate) asksWhoseRows(result *shapes.Shape) {
	if c.Category != gen.Read && !c.Guessed || result == nil || shapes.Indirect(result).Kind != shapes.Slice {
		return
	}
	for _, name := range c.Params {
		if slices.Contains(tenants, name) {
			c.Checks = append(c.Checks, fmt.Sprintf("agents choose %s, and see the rows of whomever they name; "+
				"where the caller decides that, write a function that takes it from the context", name))
		}
	}
}
