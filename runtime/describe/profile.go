package describe

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Profile is a set of endpoint families (MCP-AQL core §3.3). Every semantic category belongs to exactly one of them.
type Profile struct {
	Name     string
	Families []Family // in the order of their tools
	// Introspect is the family of introspect and get_manifest; empty: the family of READ.
	Introspect string
}

// Family is an endpoint family. In semantic mode it has a tool of its own.
type Family struct {
	Name        string
	Description string // one sentence about its purpose; empty: one that follows from the categories
	// Categories are the categories whose operations belong to the family unless their definitions choose another one.
	// Without any, the family has only operations that choose it.
	Categories []gen.Category
}

// Profiles returns the shipped profiles: crude, crude_authorize and semantic (MCP-AQL CRUDE pattern §4).
func Profiles() []Profile {
	crude := Profile{Name: "crude"}
	for _, category := range gen.Categories() {
		crude.Families = append(crude.Families, Family{Name: categoryFamily(category), Categories: []gen.Category{category}})
	}
	authorize := Profile{Name: "crude_authorize", Families: append(slices.Clone(crude.Families),
		Family{Name: "authorize", Description: "Grants, checks and revokes permissions."})}
	semantic := Profile{Name: "semantic", Introspect: "discover", Families: []Family{
		{Name: "discover", Description: "Find out which operations and types exist."},
		{Name: "query", Description: "Read-only queries.", Categories: []gen.Category{gen.Read}},
		{Name: "manage", Description: "Adds and changes data.", Categories: []gen.Category{gen.Create, gen.Update}},
		{
			Name: "operate", Description: "Removes data and runs things; potentially destructive.",
			Categories: []gen.Category{gen.Delete, gen.Execute},
		},
	}}
	return []Profile{crude, authorize, semantic}
}

// FindProfile returns the profile of a name, which can be a custom or a shipped one. An empty name means crude. It
// fails if there is no such profile, if the profile is not valid, and if two profiles have the same name.
func FindProfile(name string, custom []Profile) (Profile, error) {
	if name == "" {
		name = "crude"
	}
	var names []string
	var found *Profile
	for _, profile := range append(Profiles(), custom...) {
		if slices.Contains(names, profile.Name) {
			return Profile{}, fmt.Errorf("two endpoint profiles are called %q", profile.Name)
		}
		names = append(names, profile.Name)
		if profile.Name == name {
			found = &profile
		}
	}
	if found == nil {
		return Profile{}, fmt.Errorf("endpoint profile %q is none of %s", name, strings.Join(names, ", "))
	}
	return *found, found.validate()
}

var nameRule = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// validate returns an error for everything that is wrong with the profile: names that are not lowercase words with
// underscores, a family or a category that occurs twice, a category without a family, and introspect in a family that
// does not exist.
func (p Profile) validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("endpoint profile %q: "+format, append([]any{p.Name}, args...)...))
	}
	if !nameRule.MatchString(p.Name) {
		fault("its name must match %s", nameRule)
	}
	families := make(map[string]bool)
	owner := make(map[gen.Category]string)
	for _, family := range p.Families {
		if !nameRule.MatchString(family.Name) {
			fault("family name %q must match %s", family.Name, nameRule)
		}
		if families[family.Name] {
			fault("family %q occurs twice", family.Name)
		}
		families[family.Name] = true
		for _, category := range family.Categories {
			switch first, taken := owner[category]; {
			case !slices.Contains(gen.Categories(), category):
				fault("family %q: category %q is none of CREATE, READ, UPDATE, DELETE, EXECUTE", family.Name, category)
			case taken:
				fault("category %s belongs to family %q and again to %q", category, first, family.Name)
			case isCategoryFamily(family.Name) && categoryFamily(category) != family.Name:
				fault("family %q is called after a category and cannot hold category %s", family.Name, category)
			default:
				owner[category] = family.Name
			}
		}
	}
	for _, category := range gen.Categories() {
		if _, has := owner[category]; !has {
			fault("category %s has no family", category)
		}
	}
	if p.Introspect != "" && !families[p.Introspect] {
		fault("introspect belongs to family %q, which does not exist", p.Introspect)
	}
	return errors.Join(faults...)
}

func (p Profile) has(family string) bool {
	return slices.ContainsFunc(p.Families, func(f Family) bool { return f.Name == family })
}

func (p Profile) familyOf(category gen.Category) string {
	for _, family := range p.Families {
		if slices.Contains(family.Categories, category) {
			return family.Name
		}
	}
	return ""
}

func (p Profile) introspectFamily() string {
	if p.Introspect != "" {
		return p.Introspect
	}
	return p.familyOf(gen.Read)
}
