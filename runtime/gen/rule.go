package gen

// Rules are what a Field requires of its values, and what else is rarely said of one. They are a list, and not members
// of Field, so that a program holds only those that are set.
type Rules []Rule

// Rule is one of the rules below.
type Rule interface{ apply(*Param) }

// The rules, in the words of the aql tag.
//
//nolint:revive // each says what it is behind its name
type (
	Default    string   // the value of an absent parameter, as JSON
	Enum       []string // the allowed values of a string, where they are not those of an enum type
	Min        string   // the least number, as JSON
	Max        string   // the greatest number, as JSON
	MinLen     int      // the least number of characters of a string
	MaxLen     int      // the greatest number of characters of a string
	MinItems   int      // the least number of elements of an array
	MaxItems   int      // the greatest number of elements of an array
	Pattern    string   // the regular expression that a string has to match
	Format     string   // the format of a string, such as date-time
	Presets    []string // the field-selection presets that a result's field belongs to, or that a selection may name
	Aliases    []string // other names of a parameter
	Deprecated string   // what to know about the deprecation
)

func (r Default) apply(p *Param)    { p.Default = string(r) }
func (r Enum) apply(p *Param)       { p.Enum = r }
func (r Min) apply(p *Param)        { p.Minimum = string(r) }
func (r Max) apply(p *Param)        { p.Maximum = string(r) }
func (r MinLen) apply(p *Param)     { p.MinLength = int(r) }
func (r MaxLen) apply(p *Param)     { p.MaxLength = int(r) }
func (r MinItems) apply(p *Param)   { p.MinItems = int(r) }
func (r MaxItems) apply(p *Param)   { p.MaxItems = int(r) }
func (r Pattern) apply(p *Param)    { p.Pattern = string(r) }
func (r Format) apply(p *Param)     { p.Format = string(r) }
func (r Presets) apply(p *Param)    { p.Presets = r }
func (r Aliases) apply(p *Param)    { p.Aliases = r }
func (r Deprecated) apply(p *Param) { p.Deprecated = string(r) }
