// Package verbatim has elements whose names agents see as JSON spells them.
//
//aql:names verbatim
package verbatim

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// Case is identified by what its tag says: its name is none of an identifier.
type Case struct {
	CaseID   string `json:"caseId" db:"case_id" aql:"id"`
	Subject  string `aql:"filter,sort" db:"subject"`
	OpenedAt int64  `json:"opened-at" db:"opened_at" aql:"filter,sort"`
	Score    int    `json:"+1" db:"score" aql:"sort"`
}

// Claim has another field than the one that identifies it, whose name would be that of an identifier in snake_case.
type Claim struct {
	CaseID  string `json:"caseId" db:"case_id"`
	ClaimID string `json:"claim_id" db:"claim_id"`
	Title   string `json:"title" db:"title" aql:"sort"`
}

// Desk lists what its functions answer.
type Desk struct {
	Cases  func(*aql.Query[Case]) (*aql.Page[Case], error)
	Claims func(*aql.Query[Claim]) (*aql.Page[Claim], error)
}

// ListCasesRequest selects cases.
type ListCasesRequest struct {
	_ struct{} `aql:"category=READ,op=list_kept_cases"`
	aql.Query[Case]
}

// ListCases lists cases.
func (d *Desk) ListCases(_ context.Context, req ListCasesRequest) (*aql.Page[Case], error) {
	return d.Cases(&req.Query)
}

// ListClaimsRequest selects claims.
type ListClaimsRequest struct {
	_ struct{} `aql:"category=READ,op=list_kept_claims"`
	aql.Query[Claim]
}

// ListClaims lists claims.
func (d *Desk) ListClaims(_ context.Context, req ListClaimsRequest) (*aql.Page[Claim], error) {
	return d.Claims(&req.Query)
}
