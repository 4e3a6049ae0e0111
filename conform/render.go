package conform

import (
	"io"
	"strings"
)

// Text writes the report as plain text. Verbose adds the checks that passed, and all evidence uncut.
func (r *Report) Text(w io.Writer, verbose bool) error {
	s := &page{escape: Printable}
	s.printf("%s: MCP-AQL %s, mode %s, judged by level %d\n", r.name(), r.spec(), r.Mode, r.RequestedLevel)
	if len(r.Deviations) > 0 {
		s.printf("\nDeviations, by which the rest is judged:\n")
	}
	for _, d := range r.Deviations {
		s.printf("  %s (%d): %s\n", d.Name, d.Count, d.Message)
		if verbose && d.Evidence != nil {
			d.Evidence.text(s, "         ", false)
		}
	}
	if len(r.NotCalled) > 0 {
		s.printf("\nNot called:\n")
	}
	for _, why := range r.NotCalled {
		s.printf("  %s\n", why)
	}
	for _, c := range r.Categories {
		s.printf("\n%s: %s\n", c.Name, c.Status)
		for _, check := range c.Checks {
			if !verbose && check.Verdict == Pass && len(check.NotJudged) == 0 {
				continue
			}
			s.printf("  %-10s %-28s %s\n", check.Verdict, check.Name, check.Title)
			switch check.Verdict {
			case Skip:
				s.printf("       skipped: %s\n", check.Reason)
			case NotJudged:
				s.printf("       not judged because %s\n", check.Reason)
			}
			if len(check.Findings) > 0 {
				s.printf("       %s %s\n", check.Level, strings.Join(check.Requirements, ", "))
			}
			for _, f := range check.Findings {
				s.printf("       - %s\n", f.Message)
				for _, e := range f.Evidence {
					e.text(s, "           ", verbose)
				}
			}
			for _, why := range check.NotJudged {
				s.printf("       also not judged, because %s\n", why)
			}
			if verbose && check.Evidence != nil {
				check.Evidence.text(s, "         ", false)
			}
		}
	}
	s.printf(
		"\n%d checks: %d passed, %d failed, %d warnings, %d skipped, %d not judged, %d judged in part; %d calls. %s\n",
		r.Summary.Total, r.Summary.Passed, r.Summary.Failed, r.Summary.Warnings, r.Summary.Skipped, r.Summary.NotJudged,
		r.Summary.PartlyJudged, r.Calls, r.conclusion())
	_, err := io.WriteString(w, s.String())
	return err
}

// conclusion returns the outcome in a sentence or two.
func (r *Report) conclusion() string {
	s := &page{escape: Printable}
	s.printf("Conformance level: %d", r.ConformanceLevel)
	switch r.ExitCode() {
	case 1:
		s.printf(". It does not conform to level %d.", r.RequestedLevel)
	case 2:
		s.printf(", with warnings.")
	case 5:
		s.printf(". Nothing is known to be broken.")
	default:
		s.printf(".")
	}
	if r.ExitCode() != 1 && r.ConformanceLevel < r.RequestedLevel {
		s.printf(" Whether it conforms to level %d is open: checks of a MUST were not judged.", r.RequestedLevel)
	}
	return s.String()
}

func (r *Report) name() string {
	name := strings.TrimSpace(r.Implementation + " " + r.Version)
	if name == "" {
		return "A server without a name"
	}
	return name
}

// spec returns the version of the protocol that the server tells.
func (r *Report) spec() string {
	if r.SpecVersion == "" {
		return "of an unknown version"
	}
	return r.SpecVersion
}

// text writes an exchange on two lines, each cut after 240 characters unless uncut is set.
func (e *Exchange) text(s *page, indent string, uncut bool) {
	cut := func(text string) string {
		if uncut {
			return text
		}
		return clip(text, 240)
	}
	s.printf(indent+"> %s %s\n", e.Tool, cut(string(e.Request)))
	answer := string(e.Response)
	if e.Fault != "" {
		answer = e.Fault
	}
	if e.IsError {
		answer = "[isError] " + answer
	}
	s.printf(indent+"< %s\n", cut(answer))
}

// Markdown writes the report as a page of GitHub Flavored Markdown.
func (r *Report) Markdown(w io.Writer) error {
	s := &page{escape: inline}
	s.printf("# MCP-AQL conformance of %s\n\n", r.name())
	s.printf("MCP-AQL %s, mode %s, judged by level %d, seed %d. %s\n\n", r.spec(), r.Mode, r.RequestedLevel, r.Seed,
		r.conclusion())
	s.WriteString("| checks | passed | failed | warnings | skipped | not judged | judged in part | calls |\n")
	s.WriteString("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	s.printf("| %d | %d | %d | %d | %d | %d | %d | %d |\n", r.Summary.Total, r.Summary.Passed, r.Summary.Failed,
		r.Summary.Warnings, r.Summary.Skipped, r.Summary.NotJudged, r.Summary.PartlyJudged, r.Calls)
	if len(r.Deviations) > 0 {
		s.printf(
			"\n## Deviations, by which the rest is judged\n\n| deviation | met | what the server does |\n| --- | ---: | --- |\n",
		)
	}
	for _, d := range r.Deviations {
		s.printf("| `%s` | %d | %s |\n", d.Name, d.Count, d.Message)
	}
	if len(r.NotCalled) > 0 {
		s.printf("\n## Not called\n\n")
	}
	for _, why := range r.NotCalled {
		s.printf("- %s\n", why)
	}
	for _, c := range r.Categories {
		s.printf(
			"\n## %s: %s\n\n| verdict | check | level | what it is about | requirements |\n| --- | --- | --- | --- | --- |\n",
			c.Name, c.Status)
		for _, check := range c.Checks {
			s.printf("| %s | `%s` | %s | %s | %s |\n", check.Verdict, check.Name, check.Level, check.Title,
				strings.Join(check.Requirements, " "))
		}
		for _, check := range c.Checks {
			check.markdown(s)
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// markdown writes what was found, or why it was not judged; nothing if all passed.
func (check *Result) markdown(s *page) {
	if len(check.Findings) == 0 && len(check.NotJudged) == 0 && check.Verdict != NotJudged {
		return
	}
	s.printf("\n### %s: %s\n", check.Name, check.Verdict)
	for _, f := range check.Findings {
		s.printf("\n- %s\n", f.Message)
		for _, e := range f.Evidence {
			text := &page{escape: Printable}
			e.text(text, "  ", false)
			s.WriteString("\n  ```text\n" + strings.ReplaceAll(text.String(), "```", "'''") + "  ```\n")
		}
	}
	if check.Verdict == NotJudged {
		s.printf("\n- not judged because %s\n", check.Reason)
	}
	for _, why := range check.NotJudged {
		s.printf("\n- also not judged, because %s\n", why)
	}
}

// inline escapes text for a line of Markdown.
func inline(text string) string {
	return strings.NewReplacer("|",
		`\|`, "*", `\*`, "_", `\_`, "`", "'", "<", "&lt;", "[", `\[`, "]", `\]`).Replace(Printable(text))
}
