package call

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/conform"
)

// Request is what the words of a command line ask for.
type Request struct {
	Command   []string // the command of the server; nil: there is a URL
	Operation string   // empty: list the operations
	Describe  bool     // show the operation, or all of them, and call nothing
	Params    []string // the words with the parameters
}

// operationName matches what may be the name of an operation of some server.
var operationName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:/-]*$`)

// Split reads the words behind the flags. In front of what is asked for stands the command, if there is one: the first
// word or, for a command with arguments, all up to the last "--". exists reports whether a word names a file: such a
// word is never taken for an operation, because it is likely an argument of the command.
func Split(words []string, hasCommand bool, exists func(word string) bool) (Request, error) {
	var r Request
	if hasCommand {
		if len(words) == 0 {
			return r, errors.New("say what to call: -- COMMAND OPERATION, or -url URL OPERATION")
		}
		ended := slices.Index(words, "--") >= 0
		end := 1
		if ended {
			end = len(words) - 1 - slices.Index(reversed(words), "--")
		}
		if r.Command = words[:end]; end == 0 {
			return r, errors.New("there is no command in front of the second '--'")
		}
		words = words[end:]
		if ended {
			words = words[1:]
		} else if err := checkOneWord(r.Command[0], words, exists); err != nil {
			return r, err
		}
	}
	if len(words) == 0 {
		r.Describe = true
		return r, nil
	}
	if words[0] == "help" && len(words) <= 2 && (len(words) == 1 || operationName.MatchString(words[1])) {
		r.Describe = true
		if len(words) == 2 {
			r.Operation = words[1]
		}
		return r, nil
	}
	r.Operation, r.Params = words[0], words[1:]
	if strings.HasPrefix(r.Operation, "-") {
		return r, fmt.Errorf("%q is not the name of an operation; flags go before the first '--' or the URL's operation",
			r.Operation)
	}
	return r, checkParams(r.Params)
}

func reversed(words []string) []string {
	words = slices.Clone(words)
	slices.Reverse(words)
	return words
}

// checkOneWord refuses words that belong to a command rather than to a request.
func checkOneWord(command string, words []string, exists func(word string) bool) error {
	if len(words) == 0 || words[0] == "help" {
		return nil
	}
	unlike := func(word string) bool { return strings.HasPrefix(word, "-") && word != "-" }
	if !operationName.MatchString(words[0]) || strings.Contains(words[0], "/") || exists(words[0]) ||
		slices.ContainsFunc(words, unlike) || checkParams(words[1:]) != nil {
		return fmt.Errorf("a command with arguments ends with a second '--', behind which the operation stands: -- %s -- "+
			"OPERATION", Quote(append([]string{command}, words...)))
	}
	return nil
}

// checkParams refuses words that are in none of the forms of parameters.
func checkParams(words []string) error {
	for _, word := range words {
		_, _, pair := cutPair(word)
		single := len(words) == 1 && (word == "-" || strings.HasPrefix(word, "@") && len(word) > 1 ||
			strings.HasPrefix(strings.TrimSpace(word), "{"))
		if !pair && !single {
			return fmt.Errorf("the parameters are one JSON object, '-' for standard input, @FILE, or NAME=VALUE pairs, not %q",
				word)
		}
	}
	return nil
}

var pairPattern = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)=`)

// cutPair cuts a word such as title=Milk.
func cutPair(word string) (name, value string, ok bool) {
	m := pairPattern.FindStringSubmatch(word)
	if m == nil {
		return "", "", false
	}
	return m[1], word[len(m[0]):], true
}

// Quote returns words as a command line of a POSIX shell that a terminal shows as it is.
func Quote(words []string) string {
	plain := regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !plain.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		if shown := conform.Printable(word); shown != word {
			quoted[i] = "$'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(word) + "'"
			quoted[i] = conform.Printable(quoted[i])
		}
	}
	return strings.Join(quoted, " ")
}

// maxParams is the greatest length of the parameters in bytes.
const maxParams = 16 << 20

// readAll reads the parameters from a file or standard input.
func readAll(r io.Reader, from string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxParams+1))
	if err != nil {
		return nil, fmt.Errorf("reading the parameters from %s: %w", from, err)
	}
	if len(text) > maxParams {
		return nil, fmt.Errorf("reading the parameters from %s: they are longer than %d bytes", from, maxParams)
	}
	return text, nil
}
