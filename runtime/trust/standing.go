package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Standing is the trust level of an adapter with its history (MCP-AQL trust levels §3). Its JSON form is the
// protocol's. Promote and Demote return a new Standing.
type Standing struct {
	Level            Level            `json:"level"`
	GeneratedAt      time.Time        `json:"generated_at,omitzero"`
	GeneratedBy      string           `json:"generated_by,omitempty"`
	ValidatedAt      time.Time        `json:"validated_at,omitzero"` // demotions do not change it
	ValidatedBy      string           `json:"validated_by,omitempty"`
	ValidationReport ValidationReport `json:"validation_report,omitzero"`
	PromotedFrom     Level            `json:"promoted_from,omitempty"`
	PromotionHistory []Promotion      `json:"promotion_history,omitempty"`
	Certification    *Certification   `json:"certification,omitempty"`
}

// ValidationReport is the result of a validation.
type ValidationReport struct {
	TestsPassed       int      `json:"tests_passed"`
	TestsTotal        int      `json:"tests_total"`
	EndpointsVerified []string `json:"endpoints_verified,omitempty"`
	CoveragePercent   float64  `json:"coverage_percent,omitempty"`
	LastAPIResponse   string   `json:"last_api_response,omitempty"`
}

// Promotion is a change of the level, up or down.
type Promotion struct {
	From   Level     `json:"from"`
	To     Level     `json:"to"`
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
}

// Certification is the certificate of an adapter.
type Certification struct {
	Authority     string    `json:"authority"`
	Signature     string    `json:"signature"`
	CertificateID string    `json:"certificate_id"`
	IssuedAt      time.Time `json:"issued_at"`
	ExpiresAt     time.Time `json:"expires_at"`
	Scope         []string  `json:"scope,omitempty"`
}

// UnmarshalJSON reads a standing. Without a level it is untested. A level that does not exist is an error (MCP-AQL
// trust levels §2).
func (s *Standing) UnmarshalJSON(text []byte) error {
	type plain Standing
	var read plain
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	var err error
	if read.Level, err = Parse(string(read.Level)); err != nil {
		return err
	}
	*s = Standing(read)
	return s.check()
}

// Promote raises the level by one. No level can be skipped (MCP-AQL trust levels §4.1).
func (s Standing) Promote(to Level, at time.Time, by string) (Standing, error) {
	levels := Levels()
	from := s.Level.rank()
	if from < 0 || from+1 >= len(levels) || levels[from+1] != to {
		return s, fmt.Errorf("promoting from %s to %q: promotion goes one level at a time", levels[max(from, 0)], to)
	}
	return s.change(to, at, by, "")
}

// Demote lowers the level by one or more, and records why. It does not change when the adapter was validated (MCP-AQL
// trust levels §4.3).
func (s Standing) Demote(to Level, at time.Time, by, reason string) (Standing, error) {
	switch {
	case to.rank() < 0 || !to.Below(s.Level):
		return s, fmt.Errorf("demoting from %s to %q: that is no lower level", s.Level, to)
	case reason == "":
		return s, errors.New("demoting: say why")
	}
	return s.change(to, at, by, reason)
}

func (s Standing) change(to Level, at time.Time, by, reason string) (Standing, error) {
	if by == "" {
		return s, errors.New("changing the trust level: say who does it")
	}
	from := Levels()[s.Level.rank()]
	change := Promotion{From: from, To: to, At: at.UTC(), By: by, Reason: reason}
	s.PromotionHistory = append(slices.Clip(s.PromotionHistory), change)
	s.Level, s.PromotedFrom = to, ""
	if from.Below(to) {
		s.PromotedFrom = from
		switch to {
		case Generated:
			s.GeneratedAt, s.GeneratedBy = change.At, by
		case Validated:
			s.ValidatedAt, s.ValidatedBy = change.At, by
		}
	}
	return s, nil
}

// check fails if the history does not lead to the level.
func (s Standing) check() error {
	if s.Level.rank() < 0 {
		_, err := Parse(string(s.Level))
		return err
	}
	at := Level("")
	for i, change := range s.PromotionHistory {
		from, to := change.From.rank(), change.To.rank()
		switch {
		case from < 0 || to < 0 || from == to || to > from+1:
			return fmt.Errorf("promotion %d, from %q to %q: promotion goes one level at a time", i+1, change.From, change.To)
		case i > 0 && change.From != at:
			return fmt.Errorf("promotion %d begins with %q, and the one before it ended with %q", i+1, change.From, at)
		}
		at = change.To
	}
	if at != "" && at.rank() != s.Level.rank() {
		return fmt.Errorf("the level is %q, and the promotions end with %q", s.Level, at)
	}
	return nil
}

// Due returns when the adapter must be validated again: weekly if it is validated, monthly if it is reviewed or
// certified, and otherwise at each use (MCP-AQL trust levels §4.4). It returns the zero time if the adapter was never
// validated.
func (s Standing) Due() time.Time {
	switch {
	case s.ValidatedAt.IsZero():
		return time.Time{}
	case s.Level == Validated:
		return s.ValidatedAt.AddDate(0, 0, 7)
	case s.Level == CommunityReviewed || s.Level == Certified:
		return s.ValidatedAt.AddDate(0, 1, 0)
	default:
		return s.ValidatedAt
	}
}
