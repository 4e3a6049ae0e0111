// Package describe renders definitions into everything that is read rather than run: the MCP tools an agent sees and the
// answers of introspect. It decides which endpoint family and which tool an operation belongs to, once, for the runtime
// and for every rendering.
package describe

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Mode is which tools an adapter registers (endpoint modes §3.1).
type Mode string

// The endpoint modes.
const (
	Semantic Mode = "semantic" // one tool for each endpoint family
	Single   Mode = "single"   // one tool for everything
	All      Mode = "all"      // both
)

// ParseMode reads the name of a mode. Empty means semantic, and crude is another name for it (CRUDE pattern §4.3).
func ParseMode(name string) (Mode, error) {
	switch mode := Mode(name); mode {
	case "", "crude":
		return Semantic, nil
	case Semantic, Single, All:
		return mode, nil
	default:
		return "", fmt.Errorf("endpoint mode %q is none of semantic, single, all", name)
	}
}

// Surface is how an adapter's operations are spread over MCP tools.
type Surface struct {
	Mode              Mode
	Profile           Profile
	Prefix            string // in front of every tool name, such as "github_"
	OmitEmptyFamilies bool   // leaves out the tool of a family that has no operations
	GetManifest       bool   // answers get_manifest beside introspect
}

const unifiedTool = "mcp_aql"

var prefixRule = regexp.MustCompile(`^[a-z0-9_]*_$`)

// Validate reports everything that is wrong with the mode, the prefix (MCP integration §6.4) and the profile.
func (s Surface) Validate() error {
	var faults []error
	switch s.Mode {
	case Semantic, Single, All:
	default:
		faults = append(faults, fmt.Errorf("endpoint mode %q is none of semantic, single, all", s.Mode))
	}
	if s.Prefix != "" && !prefixRule.MatchString(s.Prefix) {
		faults = append(faults, fmt.Errorf("tool prefix %q must hold only lowercase letters, digits and underscores and end with an underscore", s.Prefix))
	}
	faults = append(faults, s.Profile.Validate())
	return errors.Join(faults...)
}

// Lengths from which on some clients cut or refuse tool names (MCP integration §6.4).
const (
	prefixLength = 20
	nameLength   = 40
)

// Warnings lists what is allowed but can fail with some MCP clients: a prefix of 20 characters or more and tool names
// longer than 40, because many clients put the server's name in front and cap the whole.
func (s Surface) Warnings() []string {
	var warnings []string
	if len(s.Prefix) >= prefixLength {
		warnings = append(warnings, fmt.Sprintf("tool prefix %q has %d characters; keep it below %d", s.Prefix, len(s.Prefix), prefixLength))
	}
	for _, family := range s.toolFamilies() {
		if name := s.toolName(family); len(name) > nameLength {
			warnings = append(warnings, fmt.Sprintf("tool name %q has %d characters; some clients refuse names longer than %d", name, len(name), nameLength))
		}
	}
	return warnings
}

// Family is the endpoint family of an operation: the one its definition asks for where the profile has it, else the one
// the profile has for its category. A family called after a category, such as "read", holds that category alone, so an
// operation of another category cannot ask for it. The result is empty only for an unknown category.
func (s Surface) Family(o *gen.Operation) string {
	if s.isBuiltIn(o.Name) {
		return s.Profile.introspectFamily()
	}
	if o.Family != "" && !isCategoryFamily(o.Family) && s.Profile.has(o.Family) {
		return o.Family
	}
	return s.Profile.familyOf(o.Category)
}

// Tool is the full name of the MCP tool through which an operation is called. Where both surfaces exist it is the tool of
// the operation's family.
func (s Surface) Tool(o *gen.Operation) string {
	if s.Mode == Single {
		return s.toolName("")
	}
	return s.toolName(s.Family(o))
}

// toolName is the tool of a family; the empty family is the unified tool.
func (s Surface) toolName(family string) string {
	if family == "" {
		return s.Prefix + unifiedTool
	}
	return s.Prefix + unifiedTool + "_" + family
}

// toolFamilies lists the families that have a tool, in the order of the tools; the empty one is the unified tool.
func (s Surface) toolFamilies() []string {
	var families []string
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

// isCategoryFamily reports whether a family is called after a semantic category.
func isCategoryFamily(name string) bool {
	for _, category := range gen.Categories() {
		if name == categoryFamily(category) {
			return true
		}
	}
	return false
}

func categoryFamily(category gen.Category) string { return strings.ToLower(string(category)) }
