// Package spellings has elements whose fields are spelled in other ways than agents see them.
package spellings

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// Case is identified by a field in camelCase.
type Case struct {
	CaseID  string `json:"caseId" db:"case_id"`
	Subject string `aql:"filter,sort" db:"subject"`
}

// Claim is identified by a field without a name in JSON.
type Claim struct {
	ClaimID  string `db:"claim_id"`
	PolicyID string `json:"policyID" db:"policy_id" aql:"filter"`
	OpenedAt int64  `json:"opened-at" db:"opened_at" aql:"filter,sort"`
}

// Note is identified by a bare ID, which comes behind what it is about.
type Note struct {
	CaseID string `json:"caseId" db:"case_id"`
	ID     string `db:"id"`
	Count  int    `db:"count"`
}

// Reply has a name in JSON of which nothing can be left.
type Reply struct {
	ReplyID string `json:"#" db:"reply_id"`
	Score   int    `json:"+1" db:"score" aql:"sort"`
}

// Label is identified by the name that its tag gives it.
type Label struct {
	Key  string `json:"labelKey" aql:"name=label_id" db:"label_id"`
	Text string `json:"Text" aql:"sort" db:"text"`
}

// Seal is identified by what its tag says, whatever is called an id.
type Seal struct {
	SealID string `json:"sealId" db:"seal_id"`
	Number int    `json:"sealNumber" aql:"id" db:"number"`
	Series string `json:"sealSeries" aql:"id,sort" db:"series"`
}

// Letter is identified by a field of the struct that it embeds.
type Letter struct {
	Base
	Sent Sending `json:"lastSending"`
}

// Base is what all have.
type Base struct {
	Ident string `json:"ID" db:"id"`
}

// Sending is how a letter was sent.
type Sending struct {
	ViaPost bool `json:"viaPost" aql:"filter,sort" db:"via_post"`
}

// Desk lists what its functions answer.
type Desk struct {
	Cases   func(*aql.Query[Case]) (*aql.Page[Case], error)
	Claims  func(*aql.Query[Claim]) (*aql.Page[Claim], error)
	Notes   func(*aql.Query[Note]) (*aql.Page[Note], error)
	Replies func(*aql.Query[Reply]) (*aql.Page[Reply], error)
	Labels  func(*aql.Query[Label]) (*aql.Page[Label], error)
	Seals   func(*aql.Query[Seal]) (*aql.Page[Seal], error)
	Letters func(*aql.Query[Letter]) (*aql.Page[Letter], error)
}

// ListCasesRequest selects cases.
type ListCasesRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Case]
}

// ListCases lists cases.
func (d *Desk) ListCases(_ context.Context, req ListCasesRequest) (*aql.Page[Case], error) {
	return d.Cases(&req.Query)
}

// ListClaimsRequest selects claims.
type ListClaimsRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Claim]
}

// ListClaims lists claims.
func (d *Desk) ListClaims(_ context.Context, req ListClaimsRequest) (*aql.Page[Claim], error) {
	return d.Claims(&req.Query)
}

// ListNotesRequest selects notes.
type ListNotesRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Note]
}

// ListNotes lists notes.
func (d *Desk) ListNotes(_ context.Context, req ListNotesRequest) (*aql.Page[Note], error) {
	return d.Notes(&req.Query)
}

// ListRepliesRequest selects replies.
type ListRepliesRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Reply]
}

// ListReplies lists replies.
func (d *Desk) ListReplies(_ context.Context, req ListRepliesRequest) (*aql.Page[Reply], error) {
	return d.Replies(&req.Query)
}

// ListLabelsRequest selects labels.
type ListLabelsRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Label]
}

// ListLabels lists labels.
func (d *Desk) ListLabels(_ context.Context, req ListLabelsRequest) (*aql.Page[Label], error) {
	return d.Labels(&req.Query)
}

// ListSealsRequest selects seals.
type ListSealsRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Seal]
}

// ListSeals lists seals.
func (d *Desk) ListSeals(_ context.Context, req ListSealsRequest) (*aql.Page[Seal], error) {
	return d.Seals(&req.Query)
}

// ListLettersRequest selects letters.
type ListLettersRequest struct {
	_ struct{} `aql:"category=READ"`
	aql.Query[Letter]
}

// ListLetters lists letters.
func (d *Desk) ListLetters(_ context.Context, req ListLettersRequest) (*aql.Page[Letter], error) {
	return d.Letters(&req.Query)
}
