// Package describe renders definitions into what agents read: the MCP tools of an adapter and the answers of
// introspect. It also decides, once for the runtime and for all exports, to which endpoint family and which tool an
// operation belongs.
//
// The runtime and the aql-tag command use it. A service needs only its types Profile, Family and Tool, for a profile of
// its own and for a transport of its own:
//
//	aql.Options{
//		Profile: "library",
//		Profiles: []describe.Profile{{Name: "library", Families: []describe.Family{
//			{Name: "catalog", Categories: []gen.Category{gen.Read}},
//			{Name: "desk", Categories: []gen.Category{gen.Create, gen.Update, gen.Delete, gen.Execute}},
//		}}},
//	}
package describe

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Mode is an endpoint mode: which tools an adapter registers (MCP-AQL endpoint modes §3.1).
type Mode string

// The endpoint modes.
const (
	Semantic Mode = "semantic" // one tool for each endpoint family
	Single   Mode = "single"   // one tool for everything
	All      Mode = "all"      // both
	Discrete Mode = "discrete" // one tool for each operation; not a mode of the protocol
)

// ParseMode returns the mode of a name. An empty name means semantic, and so does "crude" (MCP-AQL CRUDE pattern §4.3).
// It fails on any other name.
func ParseMode(name string) (Mode, error) {
	switch mode := Mode(name); mode {
	case "", "crude":
		return Semantic, nil
	case Semantic, Single, All, Discrete:
		return mode, nil
	default:
		return "", fmt.Errorf("endpoint mode %q is none of semantic, single, all, discrete", name)
	}
}

// Surface determines how the operations of an adapter are distributed over MCP tools.
type Surface struct {
	Mode              Mode
	Profile           Profile
	Prefix            string // in front of every tool name, such as "github_"
	OmitEmptyFamilies bool   // leaves out the tool of a family that has no operations
	GetManifest       bool   // adds the built-in operation get_manifest
	ReadOnly          bool   // all operations are of the category READ, which the annotations of tools say then
	// OperationEnum is up to how many operations a tool has their names in its input schema, as the values of operation;
	// zero: none has (MCP-AQL MCP integration §3.4).
	OperationEnum int
}

const unifiedTool = "mcp_aql"

var prefixRule = regexp.MustCompile(`^[a-z0-9_]*_$`)

// Validate returns an error for everything that is wrong with the mode, the prefix (MCP-AQL MCP integration §6.4) and
// the profile.
func (s Surface) Validate() error {
	var faults []error
	switch s.Mode {
	case Semantic, Single, All, Discrete:
	default:
		faults = append(faults, fmt.Errorf("endpoint mode %q is none of semantic, single, all, discrete", s.Mode))
	}
	if s.Prefix != "" && !prefixRule.MatchString(s.Prefix) {
		faults = append(faults, fmt.Errorf("tool prefix %q must hold only lowercase letters, digits and underscores "+
			"and end with an underscore", s.Prefix))
	}
	faults = append(faults, s.Profile.validate())
	return errors.Join(faults...)
}

// Lengths from which on some clients cut or refuse tool names (MCP-AQL MCP integration §6.4).
const (
	prefixLength = 20
	nameLength   = 40
)

// Warnings returns a sentence about everything that is allowed but can fail with some MCP clients: a prefix of 20
// characters or more, and tool names of more than 40 characters. Many clients put the server's name in front of a tool
// name and limit the length of the result (MCP-AQL MCP integration §6.4).
func (s Surface) Warnings() []string {
	var warnings []string
	if len(s.Prefix) >= prefixLength {
		warnings = append(warnings,
			fmt.Sprintf("tool prefix %q has %d characters; keep it below %d", s.Prefix, len(s.Prefix), prefixLength))
	}
	for _, family := range s.toolFamilies() {
		if name := s.toolName(family); len(name) > nameLength {
			warnings = append(warnings, fmt.Sprintf("tool name %q has %d characters; some clients refuse names longer than %d",
				name, len(name), nameLength))
		}
	}
	return warnings
}

// Family returns the endpoint family of an operation: the one in its definition if the profile has it, else the family
// of its category (MCP-AQL core §3.3). A family with the name of a category, such as "read", has the operations of that
// category only, so a definition cannot choose it. The result is empty if the category is unknown.
func (s Surface) Family(o *gen.Operation) string {
	if s.isBuiltIn(o.Name) {
		return s.Profile.introspectFamily()
	}
	if o.Family != "" && !isCategoryFamily(o.Family) && s.Profile.has(o.Family) {
		return o.Family
	}
	return s.Profile.familyOf(o.Category)
}

// Tool returns the full name of the MCP tool through which an operation is called. In the mode all, this is the tool of
// its family.
func (s Surface) Tool(o *gen.Operation) string {
	switch s.Mode {
	case Single:
		return s.toolName("")
	case Discrete:
		return s.Prefix + o.Name
	default:
		return s.toolName(s.Family(o))
	}
}

// toolName returns the name of the tool of a family, or of the unified tool if the family is empty.
func (s Surface) toolName(family string) string {
	if family == "" {
		return s.Prefix + unifiedTool
	}
	return s.Prefix + unifiedTool + "_" + family
}

// toolFamilies returns the families that have a tool, in the order of the tools; the empty one is the unified tool.
func (s Surface) toolFamilies() []string {
	var families []string
	if s.Mode == Discrete {
		return nil
	}
	if s.Mode != Single {
		for _, family := range s.Profile.Families {
			families = append(families, family.Name)
		}
	}
	if s.Mode != Semantic {
		families = append(families, "")
	}
	return families
}

// isCategoryFamily reports whether a family has the name of a semantic category.
func isCategoryFamily(name string) bool {
	for _, category := range gen.Categories() {
		if name == categoryFamily(category) {
			return true
		}
	}
	return false
}

func categoryFamily(category gen.Category) string { return strings.ToLower(string(category)) }
