package call

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/runtime/words"
)

// WriteList writes a line for each operation of a server: name, category, danger level and first sentence.
func WriteList(w io.Writer, s *conform.Surface) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	guessed := false
	for _, o := range s.Operations {
		guessed = guessed || !o.DangerReported
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", conform.Printable(o.Name), categoryOf(o), shownDanger(o),
			conform.Printable(sentence(o.Description)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if guessed {
		_, err := io.WriteString(w, "\n?: the list does not say it; category and name suggest it\n")
		return err
	}
	return nil
}

func categoryOf(o conform.Operation) string {
	if o.Category == "" {
		return "?"
	}
	return conform.Printable(o.Category)
}

func shownDanger(o conform.Operation) string {
	if !o.DangerReported {
		return o.Danger + "?"
	}
	return o.Danger
}

// sentence returns the first sentence of a description, without the danger level that stands behind it.
func sentence(description string) string {
	text, _, _ := strings.Cut(description, " [danger:")
	return words.FirstSentence(strings.Join(strings.Fields(text), " "))
}

// WriteOperation writes all that is known of an operation, with a command line for each example. The command line of a
// call begins with prefix.
func WriteOperation(w io.Writer, o conform.Operation, prefix string) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s, %s\n", conform.Printable(o.Name), categoryOf(o), shownDanger(o))
	if o.Description != "" {
		fmt.Fprintf(&s, "%s\n", conform.Printable(strings.TrimSpace(o.Description)))
	}
	if len(o.Parameters) > 0 {
		s.WriteString("\nParameters (* required):\n\n")
		table := tabwriter.NewWriter(&s, 0, 8, 2, ' ', 0)
		for _, p := range o.Parameters {
			star := ""
			if p.Required {
				star = "*"
			}
			fmt.Fprintf(table, "  %s%s\t%s\t%s\n", conform.Printable(p.Name), star, conform.Printable(p.Type),
				conform.Printable(aboutParameter(p)))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	} else {
		s.WriteString("\nIt has no parameters.\n")
	}
	if o.Returns != "" {
		fmt.Fprintf(&s, "\nReturns %s.\n", conform.Printable(o.Returns))
	}
	if len(o.Examples) > 0 {
		s.WriteString("\nExamples:\n\n")
	}
	for _, e := range o.Examples {
		if e.Description != "" {
			fmt.Fprintf(&s, "  # %s\n", conform.Printable(e.Description))
		}
		fmt.Fprintf(&s, "  %s %s\n", prefix, Quote([]string{o.Name, string(conform.PrintableJSON(e.Params))}))
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// aboutParameter returns the description of a parameter with its values and its default.
func aboutParameter(p conform.Parameter) string {
	var parts []string
	if text := strings.Join(strings.Fields(p.Description), " "); text != "" {
		parts = append(parts, strings.TrimSuffix(text, "."))
	}
	if len(p.Enum) > 0 {
		parts = append(parts, "one of "+strings.Join(p.Enum, ", "))
	}
	parts = append(parts, p.Constraints...)
	if p.Default != "" {
		parts = append(parts, "default "+p.Default)
	}
	return strings.Join(parts, "; ")
}

// Find returns the operation with a name. It fails with an ArgumentError that names the nearest one.
func Find(s *conform.Surface, name string) error {
	var names []string
	for _, o := range s.Operations {
		if o.Name == name {
			return nil
		}
		names = append(names, o.Name)
	}
	return argumentErrorf("the server has no operation '%s'%s", name, meant(name, names))
}
