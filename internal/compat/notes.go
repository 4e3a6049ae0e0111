package compat

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// The introspection schema is closed, so package describe writes what has no member of its own into descriptions. These
// notes are read back here. Descriptions of other servers have none.

// valueNotes holds the text and the notes in the description of a parameter or field.
type valueNotes struct {
	text       string
	presets    []string
	aliases    []string
	excludes   []string
	only       []string // operators of a field of a filter; nil: the usual ones
	orNull     bool     // and null
	readOnly   bool
	appendOnly bool
	nullable   bool
	names      *value // of the entries of a map; nil: any texts
	dryRun     bool
	deprecated string
}

const sentence = `(?s)^(.*[.!?:\]] |)`

var (
	deprecatedNote = regexp.MustCompile(`(?s)^(.*?[.!?:\]] |)Deprecated: (.*)$`)
	aliasNote      = regexp.MustCompile(sentence + `Also accepted as ([^.]+)\.?$`)
	appendOnlyNote = regexp.MustCompile(sentence + `Append-only()\.?$`)
	readOnlyNote   = regexp.MustCompile(sentence + `Read-only()\.?$`)
	dryRunNote     = regexp.MustCompile(sentence + `A dry run if true: nothing changes()\.?$`)
	presetNote     = regexp.MustCompile(sentence + `Preset ([a-z0-9_]+(?:, [a-z0-9_]+)*)\.?$`)
	excludesNote   = regexp.MustCompile(sentence + `Not together with ([a-z0-9_]+(?:, [a-z0-9_]+)*)\.?$`)
	nullNote       = regexp.MustCompile(sentence + `May be null(?: in results)?()\.?$`)
	namesNote      = regexp.MustCompile(sentence + `Names (are integers(?: from -?\d+ to -?\d+)?(?: \(.*\))?|` +
		`have the format \S+?|are in a form that the service checks)\.?$`)
	integerNames = regexp.MustCompile(`(?s)^are integers(?: from (-?\d+) to (-?\d+))?(?: \((.*)\))?$`)
	mostNote     = regexp.MustCompile(sentence + `Up to (\d{1,9}) items?\.?$`)
	leastNote    = regexp.MustCompile(sentence + `(\d{1,9}) items? or more\.?$`)
	exactNote    = regexp.MustCompile(sentence + `Exactly (\d{1,9}) items?\.?$`)
	onlyNote     = regexp.MustCompile(sentence + `Only ([a-z]+(?:, [a-z]+)*)\.?$`)
	orNullNote   = regexp.MustCompile(sentence + `Also null()\.?$`)
	rangeNote    = regexp.MustCompile(sentence + `(\d{1,9} to \d{1,9}) items?\.?$`)
)

// cutNote removes a note from the end of a text and returns what it says.
func cutNote(text *string, note *regexp.Regexp) (string, bool) {
	found := note.FindStringSubmatch(*text)
	if found == nil {
		return "", false
	}
	*text = strings.TrimSpace(found[1])
	return found[2], true
}

// readNotes reads the notes from last to first, in the order in which package describe writes them.
func (v *value) readNotes() {
	n := &v.notes
	n.text = strings.TrimSpace(v.Description)
	n.deprecated, _ = cutNote(&n.text, deprecatedNote)
	if aliases, ok := cutNote(&n.text, aliasNote); ok {
		n.aliases = strings.Split(aliases, ", ")
	}
	_, n.appendOnly = cutNote(&n.text, appendOnlyNote)
	_, n.readOnly = cutNote(&n.text, readOnlyNote)
	_, n.dryRun = cutNote(&n.text, dryRunNote)
	if presets, ok := cutNote(&n.text, presetNote); ok {
		n.presets = strings.Split(presets, ", ")
	}
	if excludes, ok := cutNote(&n.text, excludesNote); ok {
		n.excludes = strings.Split(excludes, ", ")
	}
	if only, ok := cutNote(&n.text, onlyNote); ok {
		n.only = strings.Split(only, ", ")
	}
	_, n.orNull = cutNote(&n.text, orNullNote)
	_, n.nullable = cutNote(&n.text, nullNote)
	if v.MinItems == nil && v.MaxItems == nil {
		if most, ok := cutNote(&n.text, mostNote); ok {
			v.MaxItems = number(most)
		} else if least, ok := cutNote(&n.text, leastNote); ok {
			v.MinItems = number(least)
		} else if exact, ok := cutNote(&n.text, exactNote); ok {
			v.MinItems, v.MaxItems = number(exact), number(exact)
		} else if both, ok := cutNote(&n.text, rangeNote); ok {
			least, most, _ := strings.Cut(both, " to ")
			v.MinItems, v.MaxItems = number(least), number(most)
		}
	}
	if names, ok := cutNote(&n.text, namesNote); ok {
		n.names = readNames(names)
	}
	n.text = strings.TrimSuffix(n.text, ".")
}

// readNames returns the definition of the names of a map's entries. They are texts, also where they spell integers.
func readNames(note string) *value {
	found := integerNames.FindStringSubmatch(note)
	if found == nil {
		return &value{Type: "string", Format: strings.TrimPrefix(note, "have the format ")}
	}
	names := &value{Type: "string", Pattern: "integer", notes: valueNotes{text: found[3]}}
	if found[1] != "" {
		names.Minimum, names.Maximum = json.RawMessage(found[1]), json.RawMessage(found[2])
	}
	return names
}

func number(digits string) *int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return nil
	}
	return &n
}

// gating is what an operation requires besides valid parameters, in rising order. Its values are those of
// describe.Gating.
type gating int

const (
	ungated gating = iota
	sometimesConfirmed
	confirmedUnlessDry
	confirmed
	sometimesApproved
	approvedUnlessDry
	approved
	denied
)

func (g gating) String() string {
	return [...]string{
		"", "confirmation may be required", "confirmation required unless it is a dry run", "confirmation required",
		"confirmation may be required from the user", "confirmation required from the user unless it is a dry run",
		"confirmation required from the user",
		"denied for this adapter's trust level",
	}[g]
}

// byToken returns what is required where a token confirms in place of the user.
func (g gating) byToken() gating {
	if sometimesApproved <= g && g <= approved {
		return g - (sometimesApproved - sometimesConfirmed)
	}
	return g
}

// operationNotes holds the text and the notes in the description of an operation, and its danger level in the metadata.
type operationNotes struct {
	text       string
	danger     string // empty: the adapter does not report danger levels
	gating     gating
	typed      string // the parameter whose value a person types before the operation runs; empty: none
	deprecated string
}

var (
	bracketNote = regexp.MustCompile(sentence + `\[([^\[\]]*)\]$`)
	typedNote   = regexp.MustCompile(sentence + `Before it runs, a person types the value of (\w+)\.?$`)
	reasonsNote = regexp.MustCompile(`(?s)^(.*?\] |)Reasons: (.*)$`)

	originalsNote = regexp.MustCompile(sentence + `Names in camelCase are accepted too: (\w+(?:, \w+)*)\.?$`)
)

// cutOriginals removes the note about camelCase names from a description, and makes them aliases of the parameters or
// fields.
func cutOriginals(description *string, values []*value) {
	names, ok := cutNote(description, originalsNote)
	if !ok {
		return
	}
	for name := range strings.SplitSeq(names, ", ") {
		for _, v := range values {
			if v != nil && strings.EqualFold(strings.ReplaceAll(v.Name, "_", ""), strings.ReplaceAll(name, "_", "")) {
				v.notes.aliases = append(v.notes.aliases, name)
			}
		}
	}
}

// tokenName is the parameter for the confirmation token. It shows that an operation may require confirmation, and is
// not compared as a parameter.
const tokenName = "confirmation_token"

func (o *operation) readNotes(protocol *metadata) {
	n := &o.notes
	n.text = strings.TrimSpace(o.Description)
	n.deprecated, _ = cutNote(&n.text, deprecatedNote)
	cutOriginals(&n.text, o.Parameters)
	reasons, _ := cutNote(&n.text, reasonsNote)
	before := n.text
	if bracket, ok := cutNote(&n.text, bracketNote); ok && !n.readBracket(bracket) {
		n.text = before
	}
	n.typed, _ = cutNote(&n.text, typedNote)
	if level, known := protocol.DangerLevels[o.Name]; known {
		n.danger = level
	}
	// An adapter that reports danger levels leaves out those that are safe.
	reportsDanger := len(protocol.DangerLevels) > 0 || string(protocol.Capabilities["dangerous_operations"]) == "true"
	if n.danger == "" && reportsDanger {
		n.danger = "safe"
	}
	if reasons != "" {
		n.text += " Reasons: " + reasons
	}
	for i, p := range o.Parameters {
		if p != nil && p.Name == tokenName && p.Type == "string" && !p.Required {
			o.Parameters = append(o.Parameters[:i:i], o.Parameters[i+1:]...)
			n.gating = max(n.gating, sometimesConfirmed)
			break
		}
	}
	n.text = strings.TrimSuffix(n.text, ".")
}

// readBracket reads a note such as "danger: destructive; confirmation required" and reports whether the text is one.
func (n *operationNotes) readBracket(text string) bool {
	danger, gate := "", ungated
	for part := range strings.SplitSeq(text, "; ") {
		level, isDanger := strings.CutPrefix(part, "danger: ")
		if isDanger {
			danger = level
			continue
		}
		for gate = denied; gate > ungated && part != gate.String(); gate-- {
		}
		if gate == ungated {
			return false
		}
	}
	n.danger, n.gating = danger, gate
	return true
}
