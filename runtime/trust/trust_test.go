package trust

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// REQ-TR-04, REQ-TR-05: all 25 cells.
func TestGatingMatrix(t *testing.T) {
	const table = `
             untested        generated validated community_reviewed certified
safe         introspect_only allow     allow     allow              allow
reversible   deny            deny      allow     allow              allow
destructive  deny            deny      confirm   allow              allow
dangerous    deny            deny      deny      confirm            allow
forbidden    deny            deny      deny      deny               confirm`
	lines := strings.Split(strings.TrimSpace(table), "\n")
	cells := 0
	for _, line := range lines[1:] {
		row := strings.Fields(line)
		for i, level := range strings.Fields(lines[0]) {
			cells++
			if got := Gating(gen.Danger(row[0]), Level(level)); got.String() != row[i+1] {
				t.Errorf("%s, %s: %s, want %s", row[0], level, got, row[i+1])
			}
		}
	}
	if cells != 25 {
		t.Errorf("%d cells", cells)
	}
	for _, got := range []Verdict{Gating("mild", Certified), Gating(gen.Safe, "perfect"), Gating("", Certified)} {
		if got != Deny {
			t.Errorf("a level that does not exist: %s", got)
		}
	}
}

// T-31: the lowest level whose cell is not deny.
func TestMinimum(t *testing.T) {
	want := map[gen.Danger]Level{
		gen.Safe: Generated, gen.Reversible: Validated, gen.Destructive: Validated,
		gen.Dangerous: CommunityReviewed, gen.Forbidden: Certified,
	}
	got := map[gen.Danger]Level{}
	for danger := range want {
		got[danger] = Minimum(danger)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// REQ-TR-06, REQ-TR-07, T-51: minimums and overrides are demanded on top of the matrix, and never soften it.
func TestJudge(t *testing.T) {
	operation := func(category gen.Category, danger gen.Danger) *gen.Operation {
		return &gen.Operation{Category: category, Danger: danger}
	}
	read, create, remove := operation(gen.Read, gen.Safe), operation(gen.Create, gen.Reversible),
		operation(gen.Delete, gen.Destructive)
	purge := operation(gen.Delete, gen.Dangerous)
	at := func(level Level) Standing { return Standing{Level: level} }
	for _, tt := range []struct {
		name      string
		options   Options
		operation *gen.Operation
		want      Ruling
	}{
		{"the matrix alone", Options{Standing: at(Validated)}, remove, Ruling{Verdict: Confirm}},
		{
			"the matrix denies and names what is missing", Options{Standing: at(Generated)}, remove,
			Ruling{Verdict: Deny, Required: Validated},
		},
		{"no standing is untested", Options{}, read, Ruling{Verdict: IntrospectOnly, Required: Generated}},
		{
			"minimums: delete", Options{Standing: at(Validated), CategoryMinimums: true}, remove,
			Ruling{Verdict: Deny, Required: CommunityReviewed, ByMinimum: true},
		},
		{
			"minimums: dangerous", Options{Standing: at(CommunityReviewed), CategoryMinimums: true}, purge,
			Ruling{Verdict: Deny, Required: Certified, ByMinimum: true},
		},
		{"minimums: create", Options{Standing: at(Validated), CategoryMinimums: true}, create, Ruling{Verdict: Allow}},
		{"minimums: read", Options{Standing: at(Generated), CategoryMinimums: true}, read, Ruling{Verdict: Allow}},
		{
			"the matrix is named where both deny", Options{Standing: at(Generated), CategoryMinimums: true}, remove,
			Ruling{Verdict: Deny, Required: Validated},
		},
		{
			"writes", Options{Standing: at(Validated), MinimumForWrites: Certified}, create,
			Ruling{Verdict: Deny, Required: Certified, ByMinimum: true},
		},
		{
			"writes leave reads alone", Options{Standing: at(Validated), MinimumForWrites: Certified}, read,
			Ruling{Verdict: Allow},
		},
		{
			"deletes", Options{Standing: at(Validated), MinimumForDeletes: CommunityReviewed}, remove,
			Ruling{Verdict: Deny, Required: CommunityReviewed, ByMinimum: true},
		},
		{
			"a minimum cannot lower the matrix", Options{Standing: at(Generated), MinimumForDeletes: Generated}, remove,
			Ruling{Verdict: Deny, Required: Validated},
		},
		{
			"confirmation below a level", Options{Standing: at(Validated), ConfirmBelow: Certified}, create,
			Ruling{Verdict: Confirm},
		},
		{"which reads do not need", Options{Standing: at(Validated), ConfirmBelow: Certified}, read, Ruling{Verdict: Allow}},
		{
			"nor those who have reached it", Options{Standing: at(Certified), ConfirmBelow: Certified}, create,
			Ruling{Verdict: Allow},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.options.Rule(tt.operation)); diff != "" {
				t.Error(diff)
			}
			if err := tt.options.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

var day = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// REQ-TR-08, REQ-TR-09, REQ-TR-10, REQ-TR-11.
func TestPromotion(t *testing.T) {
	s := Standing{}
	var err error
	for i, to := range []Level{Generated, Validated, CommunityReviewed, Certified} {
		if s, err = s.Promote(to, day.AddDate(0, 0, i), "ann"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Promote(Certified, day, "ann"); err == nil {
		t.Error("promoted beyond the highest level")
	}
	s, err = s.Demote(Generated, day.AddDate(0, 1, 0), "bob", "an incident")
	if err != nil {
		t.Fatal(err)
	}
	if s.Level != Generated || !s.ValidatedAt.Equal(day.AddDate(0, 0, 1)) || s.ValidatedBy != "ann" ||
		s.PromotedFrom != "" {
		t.Errorf("after a demotion: %+v", s)
	}
	last := s.PromotionHistory[len(s.PromotionHistory)-1]
	if diff := cmp.Diff(
		Promotion{From: Certified, To: Generated, At: day.AddDate(0, 1, 0), By: "bob", Reason: "an incident"}, last,
	); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Standing
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back); diff != "" {
		t.Error(diff)
	}
	for name, try := range map[string]func() (Standing, error){
		"a level is skipped":     func() (Standing, error) { return s.Promote(Certified, day, "ann") },
		"downwards":              func() (Standing, error) { return s.Promote(Untested, day, "ann") },
		"no one is named":        func() (Standing, error) { return s.Promote(Validated, day, "") },
		"an unknown level":       func() (Standing, error) { return s.Promote("perfect", day, "ann") },
		"demoted upwards":        func() (Standing, error) { return s.Demote(Validated, day, "ann", "x") },
		"demoted without reason": func() (Standing, error) { return s.Demote(Untested, day, "ann", "") },
		"demoted to nothing":     func() (Standing, error) { return s.Demote("bad", day, "ann", "x") },
	} {
		if after, err := try(); err == nil || len(after.PromotionHistory) != len(s.PromotionHistory) {
			t.Errorf("%s: %+v, %v", name, after, err)
		}
	}
}

// REQ-TR-01, REQ-TR-02.
func TestReadingAStanding(t *testing.T) {
	for text, want := range map[string]Level{
		`{}`: Untested, `{"level":""}`: Untested, `{"level":"validated"}`: Validated,
	} {
		var s Standing
		if err := json.Unmarshal([]byte(text), &s); err != nil || s.Level != want {
			t.Errorf("%s: %q, %v", text, s.Level, err)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{
			`{"level":"verified"}`,
			`trust level "verified" is none of untested, generated, validated, community_reviewed, certified`,
		},
		{
			`{"level":"certified","promotion_history":[{"from":"untested","to":"certified"}]}`,
			`promotion 1, from "untested" to "certified": promotion goes one level at a time`,
		},
		{
			`{"level":"certified","promotion_history":[{"from":"untested","to":"generated"}]}`,
			`the level is "certified", and the promotions end with "generated"`,
		},
		{
			`{"level":"validated","promotion_history":[{"from":"untested","to":"generated"},` +
				`{"from":"validated","to":"untested"}]}`,
			`promotion 2 begins with "validated", and the one before it ended with "generated"`,
		},
	} {
		var s Standing
		if err := json.Unmarshal([]byte(tt.text), &s); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
	if err := (&Options{MinimumForWrites: "high"}).Check(); err == nil {
		t.Error("a minimum that does not exist")
	}
}

// REQ-TR-12.
func TestDue(t *testing.T) {
	for level, want := range map[Level]time.Time{
		Untested: day, Generated: day, Validated: day.AddDate(0, 0, 7), CommunityReviewed: day.AddDate(0, 1, 0),
		Certified: day.AddDate(0, 1, 0),
	} {
		if got := (Standing{Level: level, ValidatedAt: day}).Due(); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", level, got, want)
		}
	}
	if got := (Standing{Level: Generated}).Due(); !got.IsZero() {
		t.Errorf("never validated: %v", got)
	}
}
