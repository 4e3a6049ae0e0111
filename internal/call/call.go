// Package call calls operations of live MCP-AQL servers for a person at a terminal: it reads what a command line asks
// for, asks the person before what needs a confirmation, and prints what the server answers.
package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/runtime/gen"
)

// ErrUnconfirmed means that an operation needs a confirmation, and got none.
var ErrUnconfirmed = errors.New("the operation was not confirmed")

// Caller calls operations of a server.
type Caller struct {
	Surface *conform.Surface
	// Say receives what the person reads: questions, and what the server said to them.
	Say io.Writer
	// Ask returns a line that the person types behind a prompt; nil: nobody can be asked.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Patient, if not nil, is the server of the surface; what the person takes to answer does not count as its time.
	Patient *Patient
	// Yes confirms in place of the person what is destructive or less, and YesDangerous everything.
	Yes, YesDangerous bool

	mu       sync.Mutex
	calling  *conform.Operation // whose answer is awaited; nil: none
	waiting  context.Context    // ends when the answer is there
	asked    int                // questions of the server meanwhile
	declined bool               // one of them was not answered with yes
	untyped  bool               // a person was to type, and nobody was there
	doubted  bool               // a flag did not confirm a question, since it may be about something else
}

// mostQuestions is how often a server may ask while it runs one operation.
const mostQuestions = 10

// confirmations are the codes of failures that ask for a confirmation, with the parameter that takes the token (MCP-AQL
// gatekeeper §4.2, rate limiting §4.4).
var confirmations = map[string]string{
	"CONFIRMATION_REQUIRED":  "_confirmation",
	"RATE_LIMIT_QUOTA_PAUSE": "_quota_continue",
}

// Call calls an operation, and calls it again with the token if the server asks for a confirmation and the person gives
// it. Where the server does not say that it asks, the person is asked before an operation that is destructive or worse.
// It returns ErrUnconfirmed, with the last answer if there is one, if there is no confirmation. Another error says what
// is known of the operation.
func (c *Caller) Call(ctx context.Context, o conform.Operation, params json.RawMessage) (*conform.Answer, error) {
	if levelOf(o.Danger) >= gen.Destructive.Level() && !c.Surface.Asks(o) {
		question := "The server does not say that it asks before it does this."
		if !o.DangerReported {
			question = "The server does not report how dangerous this is."
		}
		if err := c.confirm(ctx, o, o.Danger, []string{question}, ""); err != nil {
			return nil, unlessUnconfirmed(err, "%w; nothing was sent")
		}
	}
	sent := map[string]bool{}
	for {
		answer, declined, err := c.callOnce(ctx, o, params)
		if err != nil {
			return nil, fmt.Errorf("%w; whether %s was carried out is not known", err, o.Name)
		}
		if declined && answer.Failed {
			return answer, ErrUnconfirmed
		}
		parameter, asks := tokenParameter(o, answer.Code)
		token := textOf(answer.Details["confirmation_token"])
		if !answer.Failed || !asks || token == "" || sent[parameter] {
			return answer, nil
		}
		sent[parameter] = true
		about := textOf(answer.Details["operation"])
		doubt := ""
		if about != "" && about != o.Name {
			doubt = "The server asks about " + about + "."
		}
		if err := c.confirm(ctx, o, dangerOf(o, answer), questionOf(answer), doubt); err != nil {
			return answer, unlessUnconfirmed(err, "%w; the confirmation was not sent")
		}
		if params, err = withMember(params, parameter, token); err != nil {
			return nil, err
		}
	}
}

// unlessUnconfirmed adds what is known to an error, but for one that only says that nobody confirmed.
func unlessUnconfirmed(err error, format string) error {
	if errors.Is(err, ErrUnconfirmed) {
		return err
	}
	return fmt.Errorf(format, err)
}

// AsksForConfirmation reports whether a failure only asks for a confirmation.
func AsksForConfirmation(answer *conform.Answer) bool {
	_, asks := confirmations[answer.Code]
	return answer.Failed && asks
}

// callOnce calls an operation, and tells whether the person declined what the server asked meanwhile.
func (c *Caller) callOnce(
	ctx context.Context, o conform.Operation, params json.RawMessage,
) (answer *conform.Answer, declined bool, err error) {
	waiting, done := context.WithCancel(ctx)
	defer done()
	c.mu.Lock()
	c.calling, c.waiting, c.asked, c.declined = &o, waiting, 0, false
	c.mu.Unlock()
	answer, err = c.Surface.Call(ctx, o, params)
	done() // a question that is still open has no use any more
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calling = nil
	return answer, c.declined, err
}

// The texts in the question of an adapter that have the danger level, and the operation with it.
var (
	levelInText     = regexp.MustCompile(`\(danger: ([a-z]+)\)`)
	operationInText = regexp.MustCompile(`operation '([^']*)' \(danger: [a-z]+\)`)
)

// doubtAbout returns why a question may not be about the confirmation of an operation; empty: it says that it is.
func doubtAbout(question, operation string) string {
	asked := operationInText.FindAllStringSubmatch(question, -1)
	for _, m := range asked { // the text may have values of parameters
		if m[1] != operation {
			return "The question is about " + m[1] + " too."
		}
	}
	if len(asked) == 0 {
		return "The question does not say which operation it is about, and how dangerous that is."
	}
	return ""
}

// Doubted reports whether there was a question that flags did not confirm, since it does not say that it is about the
// operation.
func (c *Caller) Doubted() bool { return c.doubted }

// Untyped reports whether the server asked a person to type, and nobody could be asked.
func (c *Caller) Untyped() bool { return c.untyped }

// CanApprove reports whether questions of the server can be answered at all.
func (c *Caller) CanApprove() bool { return c.Ask != nil || c.Yes || c.YesDangerous }

// Approve answers a question that the server asks while an operation is called (MCP elicitation).
func (c *Caller) Approve(_ context.Context, question string) (bool, error) {
	if c.Patient != nil {
		defer c.Patient.pause()()
	}
	c.mu.Lock() // one question after the other
	defer c.mu.Unlock()
	if c.asked++; c.calling == nil || c.asked > mostQuestions {
		return false, nil
	}
	lines := strings.Split(strings.TrimSpace(question), "\n")
	err := c.confirm(c.waiting, *c.calling, c.dangerIn(question), lines, doubtAbout(question, c.calling.Name))
	if errors.Is(err, ErrUnconfirmed) {
		c.declined = true
		return false, nil
	}
	return err == nil, err
}

// tokenParameter returns the parameter that takes the token after a failure; false: the failure asks for none. An
// operation may describe a parameter for it.
func tokenParameter(o conform.Operation, code string) (string, bool) {
	described := func(p conform.Parameter) bool { return p.Name == "confirmation_token" }
	if code == "CONFIRMATION_REQUIRED" && slices.ContainsFunc(o.Parameters, described) {
		return "confirmation_token", true
	}
	parameter, asks := confirmations[code]
	return parameter, asks
}

// levelOf returns the number of a danger level; one that is not known is dangerous.
func levelOf(danger string) int {
	if level := gen.Danger(danger).Level(); level >= 0 {
		return level
	}
	return gen.Dangerous.Level()
}

// dangerOf returns the worse of the levels that introspection and the failure report.
func dangerOf(o conform.Operation, answer *conform.Answer) string {
	if said := textOf(answer.Details["danger_level"]); said != "" && levelOf(said) > levelOf(o.Danger) {
		return said
	}
	return o.Danger
}

// questionOf returns the lines with which a server asks for a confirmation.
func questionOf(answer *conform.Answer) []string {
	var lines []string
	var reasons []string
	if json.Unmarshal(answer.Details["reasons"], &reasons) == nil {
		lines = append(lines, reasons...)
	}
	if metric := textOf(answer.Details["metric"]); metric != "" {
		lines = append(lines, fmt.Sprintf("%s: %s is at %s of %s", answer.Message, metric, answer.Details["current"],
			answer.Details["pause_threshold"]))
	}
	if message := textOf(answer.Details["confirmation_message"]); message != "" {
		return append(lines, message)
	}
	return append(lines, answer.Message)
}

// confirm shows what is asked, and fails with ErrUnconfirmed unless flags or the person confirm it. doubt is why it may
// be about something else, which flags do not confirm; empty: it is about the operation.
func (c *Caller) confirm(
	ctx context.Context, o conform.Operation, danger string, question []string, doubt string,
) error {
	text := shown(o, danger, question)
	dangerous := levelOf(danger) > gen.Destructive.Level()
	flag := c.YesDangerous || c.Yes && !dangerous
	if flag && doubt != "" {
		c.doubted = true
		text += fmt.Sprintf("  %s A flag confirms only %s.\n", conform.Printable(doubt), conform.Printable(o.Name))
	}
	if _, err := io.WriteString(c.Say, text); err != nil {
		return err
	}
	if flag && doubt == "" {
		return nil
	}
	if c.Ask == nil {
		return ErrUnconfirmed
	}
	prompt, wanted := "Go ahead? [y/N] ", []string{"y", "yes"}
	if dangerous {
		prompt, wanted = fmt.Sprintf("Type %s to go ahead: ", conform.Printable(o.Name)), []string{o.Name}
	}
	line, err := c.Ask(ctx, prompt)
	if err != nil {
		return err
	}
	line = strings.TrimSpace(line)
	if !dangerous {
		line = strings.ToLower(line)
	}
	if !slices.Contains(wanted, line) {
		return ErrUnconfirmed
	}
	return nil
}

// withMember returns a JSON object with one more member.
func withMember(object json.RawMessage, name, value string) (json.RawMessage, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	inner := bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(object), []byte("}")))
	if len(inner) > 1 {
		inner = append(slices.Clip(inner), ',')
	}
	return json.RawMessage(string(inner) + strconv.Quote(name) + ":" + string(encoded) + "}"), nil
}

// textOf returns a JSON text; empty: it is none.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// WriteData writes the result of a success: JSON with line breaks, or a text with its lines. What a terminal would not
// show as it is, is escaped.
func WriteData(w io.Writer, answer *conform.Answer) error {
	if answer.Data == nil {
		var s strings.Builder
		for line := range strings.Lines(answer.Text) {
			s.WriteString(conform.Printable(strings.TrimRight(line, "\r\n")) + "\n")
		}
		_, err := io.WriteString(w, s.String())
		return err
	}
	return WriteJSON(w, answer.Data)
}

// WriteJSON writes a JSON document with line breaks.
func WriteJSON(w io.Writer, document []byte) error {
	var text bytes.Buffer
	if err := json.Indent(&text, document, "", "  "); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	text.WriteByte('\n')
	_, err := w.Write(conform.PrintableJSON(text.Bytes()))
	return err
}

// WriteWarnings writes a line for each warning of a success.
func WriteWarnings(w io.Writer, answer *conform.Answer) error {
	for _, warning := range answer.Warnings {
		var known struct{ Code, Message string }
		line := string(warning)
		if json.Unmarshal(warning, &known) == nil && known.Message != "" {
			line = known.Code + ": " + known.Message
		}
		if _, err := fmt.Fprintf(w, "warning: %s\n", conform.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// WriteFailure writes the code, the message and the details of a failure. A confirmation token is not shown.
func WriteFailure(w io.Writer, answer *conform.Answer) error {
	var s strings.Builder
	message := answer.Message
	if answer.Code != "" {
		message = answer.Code + ": " + message
	}
	if !answer.Failed {
		message = "the answer is not one of MCP-AQL: " + strings.TrimSpace(answer.Reply.Fault+" "+answer.Text)
	}
	s.WriteString(conform.Printable(message) + "\n")
	for _, name := range slices.Sorted(maps.Keys(answer.Details)) {
		value := string(answer.Details[name])
		if text := textOf(answer.Details[name]); text != "" {
			value = text
		}
		if name == "confirmation_token" {
			continue
		}
		var compact bytes.Buffer
		if json.Compact(&compact, answer.Details[name]) == nil && strings.HasPrefix(value, "{") {
			value = compact.String()
		}
		fmt.Fprintf(&s, "  %s: %s\n", conform.Printable(name), conform.Printable(value))
	}
	_, err := io.WriteString(w, s.String())
	return err
}
