package describe

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// REQ-EP-02, REQ-EP-09, REQ-EP-11, T-74, T-94.
func TestParseMode(t *testing.T) {
	for name, want := range map[string]Mode{
		"": Semantic, "semantic": Semantic, "crude": Semantic, "single": Single, "all": All,
	} {
		if got, err := ParseMode(name); err != nil || got != want {
			t.Errorf("ParseMode(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	if mode, err := ParseMode("Semantic"); err == nil || mode != "" {
		t.Errorf("ParseMode(Semantic) = %q, %v; want an error", mode, err)
	}
}

// REQ-EP-03, REQ-EP-06, REQ-EP-07, T-75.
func TestShippedProfilesAreValid(t *testing.T) {
	var names []string
	for _, profile := range Profiles() {
		names = append(names, profile.Name)
		if err := profile.validate(); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"crude", "crude_authorize", "semantic"}, names); diff != "" {
		t.Error(diff)
	}
}

// database is a custom profile of the kind that EPM §4 shows.
func database() Profile {
	return Profile{Name: "database", Introspect: "inspect", Families: []Family{
		{Name: "inspect"},
		{Name: "query", Categories: []gen.Category{gen.Read}},
		{Name: "mutate", Categories: []gen.Category{gen.Create, gen.Update, gen.Delete}},
		{Name: "administer", Categories: []gen.Category{gen.Execute}},
	}}
}

func TestFindProfile(t *testing.T) {
	custom := []Profile{database()}
	for name, want := range map[string]string{
		"": "crude", "crude": "crude", "semantic": "semantic", "database": "database",
	} {
		if got, err := FindProfile(name, custom); err != nil || got.Name != want {
			t.Errorf("FindProfile(%q) = %q, %v; want %q", name, got.Name, err, want)
		}
	}
	for name, test := range map[string]struct {
		profile string
		custom  []Profile
		want    string
	}{
		"an unknown name lists those there are": {"databse", custom,
			`"databse" is none of crude, crude_authorize, semantic, database`},
		"a shipped name cannot be taken": {"crude", []Profile{{Name: "crude"}},
			`two endpoint profiles are called "crude"`},
		"an invalid profile cannot be used": {"x", []Profile{{Name: "x"}},
			`endpoint profile "x": category CREATE has no family`},
		"two custom profiles cannot share a name": {"", []Profile{database(), database()},
			`two endpoint profiles are called "database"`},
	} {
		if _, err := FindProfile(test.profile, test.custom); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v; want one with %s", name, err, test.want)
		}
	}
}

func TestProfileFaultsAreAllReported(t *testing.T) {
	profile := Profile{Name: "My Profile", Introspect: "nowhere", Families: []Family{
		{Name: "Query", Categories: []gen.Category{gen.Read, "AUTHORIZE"}},
		{Name: "change", Categories: []gen.Category{gen.Create, gen.Read}},
		{Name: "change"},
		{Name: "read", Categories: []gen.Category{gen.Delete}},
	}}
	err := profile.validate()
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`endpoint profile "My Profile": its name must match ^[a-z][a-z0-9_]*$`,
		`endpoint profile "My Profile": family name "Query" must match ^[a-z][a-z0-9_]*$`,
		`endpoint profile "My Profile": family "Query": category "AUTHORIZE" is none of ` +
			`CREATE, READ, UPDATE, DELETE, EXECUTE`,
		`endpoint profile "My Profile": category READ belongs to family "Query" and again to "change"`,
		`endpoint profile "My Profile": family "change" occurs twice`,
		`endpoint profile "My Profile": family "read" is called after a category and cannot hold category DELETE`,
		`endpoint profile "My Profile": category UPDATE has no family`,
		`endpoint profile "My Profile": category DELETE has no family`,
		`endpoint profile "My Profile": category EXECUTE has no family`,
		`endpoint profile "My Profile": introspect belongs to family "nowhere", which does not exist`,
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// REQ-EP-04, REQ-EP-07, REQ-IN-01, T-75.
func TestFamilyOfAnOperation(t *testing.T) {
	for _, test := range []struct {
		name, profile, family string
		category              gen.Category
		operation, want       string
	}{
		{"crude goes by category", "crude", "", gen.Update, "x", "update"},
		{"a family the profile lacks is ignored", "crude", "operate", gen.Delete, "x", "delete"},
		{"a family called after another category is ignored", "crude", "read", gen.Delete, "x", "delete"},
		{"a family the profile has is honoured", "crude_authorize", "authorize", gen.Execute, "x", "authorize"},
		{"semantic groups categories", "semantic", "", gen.Create, "x", "manage"},
		{"semantic reads by query", "semantic", "", gen.Read, "x", "query"},
		{"semantic operates", "semantic", "", gen.Delete, "x", "operate"},
		{"an operation can ask for discover", "semantic", "discover", gen.Read, "x", "discover"},
		{"introspect reads", "crude", "", gen.Read, "introspect", "read"},
		{"introspect has its own family", "semantic", "", gen.Read, "introspect", "discover"},
		{"an unknown category has no family", "crude", "", "AUTHORIZE", "x", ""},
	} {
		s := surfaceOf(t, Semantic, test.profile)
		o := gen.Operation{Name: test.operation, Category: test.category, Family: test.family}
		if got := s.Family(&o); got != test.want {
			t.Errorf("%s: family %q, want %q", test.name, got, test.want)
		}
	}
}

// REQ-TL-05, REQ-TL-06, REQ-TL-08, T-05.
func TestToolOfAnOperation(t *testing.T) {
	o := gen.Operation{Name: "x", Category: gen.Read}
	for mode, want := range map[Mode]string{
		Semantic: "github_mcp_aql_read", Single: "github_mcp_aql", All: "github_mcp_aql_read",
	} {
		s := surfaceOf(t, mode, "crude")
		s.Prefix = "github_"
		if got := s.Tool(&o); got != want {
			t.Errorf("%s: tool %q, want %q", mode, got, want)
		}
	}
}

// REQ-TL-07.
func TestPrefixRules(t *testing.T) {
	for prefix, valid := range map[string]bool{
		"": true, "github_": true, "a1_b_": true, "_": true,
		"github": false, "Git_": false, "git-hub_": false, "gît_": false, "git_\n": false,
	} {
		s := surfaceOf(t, Semantic, "crude")
		s.Prefix = prefix
		if err := s.Validate(); (err == nil) != valid {
			t.Errorf("prefix %q: error %v, want valid %t", prefix, err, valid)
		}
	}
}

func TestAnInvalidSurfaceRendersNothing(t *testing.T) {
	s := Surface{Mode: "crude", Prefix: "X", Profile: Profile{Name: "x"}}
	_, toolsErr := s.Tools(todoAdapter(), Protocol{})
	_, introspectErr := Introspect(todoAdapter(), s, Protocol{})
	for _, err := range []error{toolsErr, introspectErr} {
		for _, want := range []string{`endpoint mode "crude"`, `tool prefix "X"`, `endpoint profile "x"`} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v; want one with %s", err, want)
			}
		}
	}
}

// REQ-TL-07 (SHOULD), T-38.
func TestWarningsAboutLongNames(t *testing.T) {
	s := surfaceOf(t, All, "crude")
	s.Prefix = "nineteen_character_"
	if got := s.Warnings(); got != nil {
		t.Errorf("warnings %q for a prefix of 19 characters, want none", got)
	}
	s.Prefix = "a_prefix_of_twenty_six_ch_"
	want := []string{
		`tool prefix "a_prefix_of_twenty_six_ch_" has 26 characters; keep it below 20`,
		`tool name "a_prefix_of_twenty_six_ch_mcp_aql_execute" has 41 characters; some clients refuse names longer than 40`,
	}
	if diff := cmp.Diff(want, s.Warnings()); diff != "" {
		t.Error(diff)
	}
}
