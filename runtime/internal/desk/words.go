package desk

import (
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/words"
)

// Name returns a caller for people to read.
func Name(c identity.Caller) string {
	switch {
	case c.Anonymous():
		return "an anonymous caller"
	case c.Issuer == "":
		return words.Printable(c.Subject)
	}
	return words.Printable(c.Subject) + " (" + words.Printable(c.Issuer) + ")"
}

// longestName is how much of a person's name is shown, in characters.
const longestName = 100

// CleanName returns the name of a person without characters that mislead, clipped.
func CleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if words.Misleads(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	return words.Clip(strings.TrimSpace(name), longestName)
}

// Called returns the name of a person for people to read, behind what identifies the person; empty: there is none. It
// stands between quotation marks, so that no name looks like another identity.
func Called(name string) string {
	if name == "" {
		return ""
	}
	quoted := words.Quote(name, longestName, '"')
	if !strings.HasPrefix(quoted, "“") {
		quoted = "“" + quoted + "”"
	}
	return " " + quoted
}

// Missing says who must approve still; empty: nobody.
func Missing(item *approve.Item) string { return people(item.Missing()) }

// Needs says who must approve.
func Needs(n *approve.Needs) string {
	factors := n.Factors
	if len(factors) == 0 {
		factors = []approve.Factor{{Count: 1}}
	}
	text := people(factors)
	if n.NotRequester {
		text += ", not who asks"
	}
	if n.Reason {
		text += ", with a reason"
	}
	if n.Reauthenticate {
		text += ", authenticated anew"
	}
	return text
}

// people says how many people factors need, and of which groups.
func people(factors []approve.Factor) string {
	var parts []string
	for _, factor := range factors {
		text := "1 person"
		if factor.Count > 1 {
			text = fmt.Sprintf("%d people", factor.Count)
		}
		if len(factor.Groups) > 0 {
			text += " of " + strings.Join(factor.Groups, " or ")
		}
		parts = append(parts, words.Printable(text))
	}
	return strings.Join(parts, ", and ")
}
