package call

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/aqltag/aqltag/conform"
)

// Type has the person answer a question that the server asks while an operation is called, by typing a text (MCP
// elicitation). title is what the server calls the text. No flag types it. An empty text declines.
func (c *Caller) Type(_ context.Context, question, title string) (string, error) {
	if c.Patient != nil {
		defer c.Patient.pause()()
	}
	c.mu.Lock() // one question after the other
	defer c.mu.Unlock()
	if c.asked++; c.calling == nil || c.asked > mostQuestions {
		return "", nil
	}
	lines := strings.Split(strings.TrimSpace(question), "\n")
	if c.Ask == nil {
		c.untyped = true
		lines = append(lines, "A person has to type this at a terminal; no flag does.")
	}
	text := shown(*c.calling, c.dangerIn(question), lines)
	if _, err := io.WriteString(c.Say, text); err != nil {
		return "", err
	}
	typed := ""
	if c.Ask != nil {
		prompt := "Your answer: "
		if title != "" {
			prompt = conform.Printable(title) + ": "
		}
		var err error
		if typed, err = c.Ask(c.waiting, prompt); err != nil {
			return "", err
		}
	}
	typed = strings.TrimSpace(typed)
	c.declined = c.declined || typed == ""
	return typed, nil
}

// dangerIn returns the worst danger level of the operation that is called and of those in a question: the text may have
// values of parameters.
func (c *Caller) dangerIn(question string) string {
	danger := c.calling.Danger
	for _, m := range levelInText.FindAllStringSubmatch(question, -1) {
		if levelOf(m[1]) > levelOf(danger) {
			danger = m[1]
		}
	}
	return danger
}

// shown returns what a person is shown of an operation that is to be confirmed.
func shown(o conform.Operation, danger string, question []string) string {
	var s strings.Builder
	category := o.Category
	if category == "" {
		category = "of an unknown category"
	}
	fmt.Fprintf(&s, "%s is %s, %s.\n", conform.Printable(o.Name), conform.Printable(category), conform.Printable(danger))
	for _, line := range question {
		fmt.Fprintf(&s, "  %s\n", conform.Printable(line))
	}
	return s.String()
}
