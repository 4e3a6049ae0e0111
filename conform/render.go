package conform

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the report as plain text. Verbose adds the checks that passed, and all evidence uncut.
func (r *Report) Text(w io.Writer, verbose bool) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: MCP-AQL %s, mode %s, judged by level %d\n", r.name(), r.SpecVersion, r.Mode, r.RequestedLevel)
	for _, c := range r.Categories {
		fmt.Fprintf(&s, "\n%s: %s\n", c.Name, c.Status)
		for _, check := range c.Checks {
			if !verbose && check.Verdict == Pass {
				continue
			}
			fmt.Fprintf(&s, "  %-4s %-28s %s\n", check.Verdict, check.Name, check.Title)
			if check.Reason != "" && (verbose || check.Verdict != Skip) {
				fmt.Fprintf(&s, "       %s\n", check.Reason)
			} else if check.Reason != "" {
				fmt.Fprintf(&s, "       skipped: %s\n", check.Reason)
			}
			if len(check.Findings) > 0 {
				fmt.Fprintf(&s, "       %s %s\n", check.Level, strings.Join(check.Requirements, ", "))
			}
			for _, f := range check.Findings {
				fmt.Fprintf(&s, "       - %s\n", f.Message)
				for _, e := range f.Evidence {
					e.text(&s, "           ", verbose)
				}
			}
			if verbose && check.Evidence != nil {
				check.Evidence.text(&s, "         ", false)
			}
		}
	}
	fmt.Fprintf(&s, "\n%d checks: %d passed, %d failed, %d warnings, %d skipped; %d calls. %s\n", r.Summary.Total,
		r.Summary.Passed, r.Summary.Failed, r.Summary.Warnings, r.Summary.Skipped, r.Calls, r.conclusion())
	_, err := io.WriteString(w, s.String())
	return err
}

// conclusion returns the outcome as a sentence.
func (r *Report) conclusion() string {
	switch r.ExitCode() {
	case 1:
		return fmt.Sprintf("Conformance level: %d. It does not conform to level %d.", r.ConformanceLevel, r.RequestedLevel)
	case 2:
		return fmt.Sprintf("Conformance level: %d, with warnings.", r.ConformanceLevel)
	}
	return fmt.Sprintf("Conformance level: %d.", r.ConformanceLevel)
}

func (r *Report) name() string {
	name := strings.TrimSpace(r.Implementation + " " + r.Version)
	if name == "" {
		return "A server without a name"
	}
	return name
}

// text writes an exchange on two lines, each cut after 240 characters unless uncut is set.
func (e *Exchange) text(s *strings.Builder, indent string, uncut bool) {
	cut := func(text string) string {
		const most = 240
		if runes := []rune(text); !uncut && len(runes) > most {
			return string(runes[:most]) + "…"
		}
		return text
	}
	fmt.Fprintf(s, "%s> %s %s\n", indent, e.Tool, cut(printable(string(e.Request))))
	answer := string(e.Response)
	if e.Fault != "" {
		answer = e.Fault
	}
	if e.IsError {
		answer = "[isError] " + answer
	}
	fmt.Fprintf(s, "%s< %s\n", indent, cut(printable(answer)))
}

// printable replaces control characters, so that what a server sends cannot move the cursor of a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e {
			return ' '
		}
		return r
	}, text)
}

// Markdown writes the report as a page of GitHub Flavored Markdown.
func (r *Report) Markdown(w io.Writer) error {
	var s strings.Builder
	fmt.Fprintf(&s, "# MCP-AQL conformance of %s\n\n", inline(r.name()))
	fmt.Fprintf(&s, "MCP-AQL %s, mode %s, judged by level %d, seed %d. %s\n\n", inline(r.SpecVersion), r.Mode,
		r.RequestedLevel, r.Seed, r.conclusion())
	s.WriteString("| checks | passed | failed | warnings | skipped | calls |\n")
	s.WriteString("| ---: | ---: | ---: | ---: | ---: | ---: |\n")
	fmt.Fprintf(&s, "| %d | %d | %d | %d | %d | %d |\n", r.Summary.Total, r.Summary.Passed, r.Summary.Failed,
		r.Summary.Warnings, r.Summary.Skipped, r.Calls)
	for _, c := range r.Categories {
		fmt.Fprintf(&s,
			"\n## %s: %s\n\n| verdict | check | level | what it is about | requirements |\n| --- | --- | --- | --- | --- |\n",
			c.Name, c.Status)
		for _, check := range c.Checks {
			fmt.Fprintf(&s, "| %s | `%s` | %s | %s | %s |\n", check.Verdict, check.Name, check.Level, inline(check.Title),
				strings.Join(check.Requirements, " "))
		}
		for _, check := range c.Checks {
			if len(check.Findings) == 0 {
				continue
			}
			fmt.Fprintf(&s, "\n### %s: %s\n\n", check.Name, check.Verdict)
			for i, f := range check.Findings {
				if i > 0 {
					s.WriteString("\n")
				}
				fmt.Fprintf(&s, "- %s\n", inline(f.Message))
				for _, e := range f.Evidence {
					s.WriteString("\n  ```text\n")
					var text strings.Builder
					e.text(&text, "  ", false)
					s.WriteString(strings.ReplaceAll(text.String(), "```", "'''"))
					s.WriteString("  ```\n")
				}
			}
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// inline escapes text for a line of Markdown.
func inline(text string) string {
	return strings.NewReplacer("|",
		`\|`, "*", `\*`, "_", `\_`, "`", "'", "<", "&lt;", "[", `\[`, "]", `\]`).Replace(printable(text))
}
