package gen

// Rules are what a Field requires of its values, and what else is rarely said of one. They are a list, and not members
// of Field, so that a program holds only those that are set.
type Rules []Rule

// Rule is one rule: Default, Enum, Constant, Min, Max, MinLen, MaxLen, MinItems, MaxItems, Pattern, Format, FormatRule,
// Presets, Filter, Search, Aliases, Excludes, DryRun or Deprecated.
type Rule interface{ apply(*Param) }

// The rules, in the words of the aql tag.
type (
	// Default is the value of an absent parameter, as JSON.
	Default string
	// Enum lists the allowed values of a string, where they are not those of an enum type.
	Enum []string
	// Constant is the only value of a string, which the adapter writes itself: how the binary data beside it is encoded,
	// or its media type (MCP-AQL core §4.7.4).
	Constant string
	// Min is the least number, as JSON.
	Min string
	// Max is the greatest number, as JSON.
	Max string
	// MinLen is the least number of characters of a string.
	MinLen int
	// MaxLen is the greatest number of characters of a string.
	MaxLen int
	// MinItems is the least number of elements of an array.
	MinItems int
	// MaxItems is the greatest number of elements of an array.
	MaxItems int
	// Pattern is the regular expression that a string has to match.
	Pattern string
	// Format is the format of a string, such as date-time.
	Format string
	// FormatRule is a format that requests have to have, and that results may lack: that of a text, which may be empty.
	FormatRule string
	// Presets are the field-selection presets that a field of a result belongs to, or that a selection may name.
	Presets []string
	// Filter are the operators by which requests may filter a collection by the field. It comes behind the rules that say
	// what the values are. None: those of its type (Operators).
	Filter []string
	// Search says that searches of a collection look for words in the field.
	Search struct{}
	// Aliases are other names of a parameter.
	Aliases []string
	// Excludes are the fields that an object must not have beside this one.
	Excludes []string
	// DryRun says that the handler changes nothing if the value, a boolean, is true.
	DryRun struct{}
	// Deprecated says what to know about the deprecation.
	Deprecated string
)

func (r Default) apply(p *Param)    { p.Default = string(r) }
func (r Enum) apply(p *Param)       { p.Enum = r }
func (r Constant) apply(p *Param)   { p.Constant, p.Enum = string(r), []string{string(r)} }
func (r Min) apply(p *Param)        { p.Minimum = string(r) }
func (r Max) apply(p *Param)        { p.Maximum = string(r) }
func (r MinLen) apply(p *Param)     { p.MinLength = int(r) }
func (r MaxLen) apply(p *Param)     { p.MaxLength = int(r) }
func (r MinItems) apply(p *Param)   { p.MinItems = int(r) }
func (r MaxItems) apply(p *Param)   { p.MaxItems = int(r) }
func (r Pattern) apply(p *Param)    { p.Pattern = string(r) }
func (r Format) apply(p *Param)     { p.Format = string(r) }
func (r FormatRule) apply(p *Param) { p.Format, p.FormatRule = string(r), true }
func (r Presets) apply(p *Param)    { p.Presets = r }
func (r Filter) apply(p *Param) {
	if p.Filter = r; len(r) == 0 {
		p.Filter = Operators(p)
	}
}
func (Search) apply(p *Param)       { p.Search = true }
func (r Aliases) apply(p *Param)    { p.Aliases = r }
func (r Excludes) apply(p *Param)   { p.Excludes = r }
func (DryRun) apply(p *Param)       { p.DryRun = true }
func (r Deprecated) apply(p *Param) { p.Deprecated = string(r) }
