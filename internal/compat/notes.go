package compat

import (
	"regexp"
	"strconv"
	"strings"
)

// The introspection schema is closed (requirements T-11), so package project says in descriptions what has no member of its
// own. Here it is read back; descriptions of other servers simply say none of it.

// valueNotes is what the description of a parameter or field says beside its text.
type valueNotes struct {
	text       string
	presets    []string
	aliases    []string
	readOnly   bool
	appendOnly bool
	deprecated string
}

const sentence = `(?s)^(.*[.!?:\]] |)`

var (
	deprecatedNote = regexp.MustCompile(`(?s)^(.*?[.!?:\]] |)Deprecated: (.*)$`)
	aliasNote      = regexp.MustCompile(sentence + `Also accepted as ([^.]+)\.?$`)
	appendOnlyNote = regexp.MustCompile(sentence + `Append-only()\.?$`)
	readOnlyNote   = regexp.MustCompile(sentence + `Read-only()\.?$`)
	presetNote     = regexp.MustCompile(sentence + `Preset ([a-z0-9_]+(?:, [a-z0-9_]+)*)\.?$`)
	mostNote       = regexp.MustCompile(sentence + `Up to (\d{1,9}) items?\.?$`)
	leastNote      = regexp.MustCompile(sentence + `(\d{1,9}) items? or more\.?$`)
	exactNote      = regexp.MustCompile(sentence + `Exactly (\d{1,9}) items?\.?$`)
	rangeNote      = regexp.MustCompile(sentence + `(\d{1,9} to \d{1,9}) items?\.?$`)
)

// cut takes a note off the end of a text.
func cut(text *string, note *regexp.Regexp) (string, bool) {
	found := note.FindStringSubmatch(*text)
	if found == nil {
		return "", false
	}
	*text = strings.TrimSpace(found[1])
	return found[2], true
}

// readNotes reads the notes from last to first, as package project writes them.
func (v *value) readNotes() {
	n := &v.notes
	n.text = strings.TrimSpace(v.Description)
	n.deprecated, _ = cut(&n.text, deprecatedNote)
	if aliases, ok := cut(&n.text, aliasNote); ok {
		n.aliases = strings.Split(aliases, ", ")
	}
	_, n.appendOnly = cut(&n.text, appendOnlyNote)
	_, n.readOnly = cut(&n.text, readOnlyNote)
	if presets, ok := cut(&n.text, presetNote); ok {
		n.presets = strings.Split(presets, ", ")
	}
	if v.MinItems == nil && v.MaxItems == nil {
		if most, ok := cut(&n.text, mostNote); ok {
			v.MaxItems = number(most)
		} else if least, ok := cut(&n.text, leastNote); ok {
			v.MinItems = number(least)
		} else if exact, ok := cut(&n.text, exactNote); ok {
			v.MinItems, v.MaxItems = number(exact), number(exact)
		} else if both, ok := cut(&n.text, rangeNote); ok {
			least, most, _ := strings.Cut(both, " to ")
			v.MinItems, v.MaxItems = number(least), number(most)
		}
	}
	n.text = strings.TrimSuffix(n.text, ".")
}

func number(digits string) *int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return nil
	}
	return &n
}

// gating is what stands between an operation and its handler, in rising order.
type gating int

const (
	ungated gating = iota
	sometimesConfirmed
	confirmed
	denied
)

func (g gating) String() string {
	return [...]string{"", "confirmation may be required", "confirmation required", "denied for this adapter's trust level"}[g]
}

// operationNotes is what the description of an operation says beside its text, and what the metadata say of it.
type operationNotes struct {
	text       string
	danger     string // empty: the adapter does not tell
	gating     gating
	deprecated string
}

var (
	bracketNote = regexp.MustCompile(sentence + `\[([^\[\]]*)\]$`)
	reasonsNote = regexp.MustCompile(`(?s)^(.*?\] |)Reasons: (.*)$`)
)

// tokenName is the parameter of operations that ask for confirmation. It comes and goes with the asking, and is not
// compared as a parameter.
const tokenName = "confirmation_token"

func (o *operation) readNotes(protocol *metadata) {
	n := &o.notes
	n.text = strings.TrimSpace(o.Description)
	n.deprecated, _ = cut(&n.text, deprecatedNote)
	reasons, _ := cut(&n.text, reasonsNote)
	before := n.text
	if bracket, ok := cut(&n.text, bracketNote); ok && !n.readBracket(bracket) {
		n.text = before
	}
	if level, known := protocol.DangerLevels[o.Name]; known {
		n.danger = level
	}
	// Who tells of danger tells of none by saying nothing.
	if n.danger == "" && (len(protocol.DangerLevels) > 0 || string(protocol.Capabilities["dangerous_operations"]) == "true") {
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

// readBracket reads a note such as "danger: destructive; confirmation required". It reports whether it is one.
func (n *operationNotes) readBracket(text string) bool {
	danger, gate := "", ungated
	for part := range strings.SplitSeq(text, "; ") {
		level, isDanger := strings.CutPrefix(part, "danger: ")
		switch {
		case isDanger:
			danger = level
		case part == sometimesConfirmed.String():
			gate = sometimesConfirmed
		case part == confirmed.String():
			gate = confirmed
		case part == denied.String():
			gate = denied
		default:
			return false
		}
	}
	n.danger, n.gating = danger, gate
	return true
}
