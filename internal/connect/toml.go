package connect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// mergeTOML adds the table of a server at the end of a text of TOML.
func mergeTOML(text, root, name string, entry []member, replace bool) (string, error) {
	keys, err := readTOML(text)
	if err != nil {
		return "", err
	}
	added := tomlEntry(root, name, entry)
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
		added = strings.ReplaceAll(added, "\n", newline)
	}
	for _, key := range keys {
		if len(key.path) == 0 || key.path[0] != root {
			continue
		}
		if len(key.path) == 1 && !key.header {
			return "", fmt.Errorf("%s is no table to which a server can be added; write it as tables [%s.…]", root, root)
		}
		if len(key.path) > 1 && key.path[1] == name {
			if strings.Contains("\n"+strings.ReplaceAll(text, "\r\n", "\n")+"\n[", "\n"+tomlEntry(root, name, entry)) {
				return "", ErrUnchanged
			}
			if replace {
				return "", fmt.Errorf("%w, and an entry of TOML is not replaced; remove it first", ErrOther)
			}
			return "", ErrOther
		}
	}
	changed := strings.TrimRight(text, " \t\r\n") + newline + newline + added
	if _, err := readTOML(changed); err != nil {
		return "", fmt.Errorf("the merged configuration is not right, so it is not used: %w", err)
	}
	return changed, nil
}

// tomlName is a key in a text of TOML, with the keys of the table that it stands in.
type tomlName struct {
	path   []string
	header bool // it is the header of a table, and not of an array of tables
}

// toml reads TOML as far as it takes to know its keys.
type toml struct {
	text string
	at   int
}

// readTOML returns the keys of a text. It fails if the text is not TOML; it does not find each mistake in a value.
func readTOML(text string) ([]tomlName, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	r := &toml{text: strings.TrimPrefix(text, "\ufeff")}
	keys, err := r.statements()
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", 1+strings.Count(r.text[:min(r.at, len(r.text))], "\n"), err)
	}
	return keys, nil
}

func (r *toml) statements() ([]tomlName, error) {
	var keys []tomlName
	var table []string
	for {
		r.blanks(true)
		if r.at == len(r.text) {
			return keys, nil
		}
		if r.text[r.at] == '[' {
			brackets := "]"
			if strings.HasPrefix(r.text[r.at:], "[[") {
				brackets = "]]"
			}
			r.at += len(brackets)
			key, err := r.key()
			if err != nil {
				return nil, err
			}
			if !strings.HasPrefix(r.text[r.at:], brackets) {
				return nil, errors.New("the header of a table does not end")
			}
			r.at += len(brackets)
			table = key
			defined := func(k tomlName) bool { return k.header && slices.Equal(k.path, key) }
			if brackets == "]" && slices.ContainsFunc(keys, defined) {
				return nil, fmt.Errorf("the table %s stands twice", strings.Join(key, "."))
			}
			keys = append(keys, tomlName{key, brackets == "]"})
		} else {
			key, err := r.pair()
			if err != nil {
				return nil, err
			}
			keys = append(keys, tomlName{slices.Concat(table, key), false})
		}
		r.blanks(false)
		if r.at < len(r.text) && r.text[r.at] != '\n' && r.text[r.at] != '\r' {
			return nil, errors.New("there is more behind the value")
		}
	}
}

// blanks skips blanks and comments, and line ends too if lines is set.
func (r *toml) blanks(lines bool) {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == '\r'):
			r.at++
		case c == '#':
			end := strings.IndexByte(r.text[r.at:], '\n')
			if end < 0 {
				end = len(r.text) - r.at
			}
			r.at += end
		default:
			return
		}
	}
}

// pair reads "key = value", and returns the key.
func (r *toml) pair() ([]string, error) {
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	if r.at == len(r.text) || r.text[r.at] != '=' {
		return nil, errors.New("a '=' is missing")
	}
	r.at++
	return key, r.value(0)
}

var bareKeyStart = regexp.MustCompile(`^[A-Za-z0-9_-]+`)

// key reads a key with dots, and the blanks behind it.
func (r *toml) key() ([]string, error) {
	var all []string
	for {
		r.blanks(false)
		start := r.at
		if bare := bareKeyStart.FindString(r.text[r.at:]); bare != "" {
			r.at += len(bare)
			all = append(all, bare)
		} else if r.at < len(r.text) && (r.text[r.at] == '"' || r.text[r.at] == '\'') {
			if err := r.string(); err != nil {
				return nil, err
			}
			name, err := unquoteTOML(r.text[start:r.at])
			if err != nil {
				return nil, err
			}
			all = append(all, name)
		} else {
			return nil, errors.New("a key is missing")
		}
		r.blanks(false)
		if r.at == len(r.text) || r.text[r.at] != '.' {
			return all, nil
		}
		r.at++
	}
}

// unquoteTOML returns the name in a quoted key.
func unquoteTOML(quoted string) (string, error) {
	if strings.HasPrefix(quoted, "'") {
		return quoted[1 : len(quoted)-1], nil
	}
	r := &jsonc{text: quoted}
	return r.string()
}

// string reads a string of one of the four kinds.
func (r *toml) string() error {
	mark := r.text[r.at : r.at+1]
	long := strings.HasPrefix(r.text[r.at:], strings.Repeat(mark, 3))
	if long {
		mark = strings.Repeat(mark, 3)
	}
	for r.at += len(mark); r.at < len(r.text); r.at++ {
		switch rest := r.text[r.at:]; {
		case strings.HasPrefix(rest, mark):
			r.at += len(mark)
			for extra := 0; long && extra < 2 && r.at < len(r.text) && r.text[r.at] == mark[0]; extra++ {
				r.at++ // quotes before the end belong to the text
			}
			return nil
		case rest[0] == '\\' && mark[0] == '"':
			r.at++
		case rest[0] == '\n' && !long:
			return errors.New("a string does not end")
		}
	}
	return errors.New("a string does not end")
}

var tomlScalar = regexp.MustCompile(
	`^(?:true|false|[+-]?(?:inf|nan)|[+-]?[0-9][0-9A-Za-z_:.+-]*(?: [0-9][0-9:.+Z-]*)?)`)

// value reads a value.
func (r *toml) value(depth int) error {
	r.blanks(depth > 0)
	switch {
	case depth > maxDepth:
		return errors.New("it is nested too deeply")
	case r.at == len(r.text):
		return errors.New("a value is missing")
	}
	switch c := r.text[r.at]; c {
	case '"', '\'':
		return r.string()
	case '[':
		return r.sequence(']', func() error { return r.value(depth + 1) })
	case '{':
		return r.sequence('}', func() error {
			_, err := r.pair()
			return err
		})
	}
	scalar := tomlScalar.FindString(r.text[r.at:])
	if scalar == "" {
		return errors.New("a value is missing")
	}
	r.at += len(scalar)
	return nil
}

// sequence reads what stands between brackets, with commas between.
func (r *toml) sequence(end byte, one func() error) error {
	r.at++
	for first := true; ; first = false {
		r.blanks(true)
		if r.at < len(r.text) && r.text[r.at] == ',' && !first {
			r.at++
			r.blanks(true)
		} else if !first && (r.at == len(r.text) || r.text[r.at] != end) {
			return fmt.Errorf("a comma or '%c' is missing", end)
		}
		if r.at < len(r.text) && r.text[r.at] == end {
			r.at++
			return nil
		}
		if err := one(); err != nil {
			return err
		}
	}
}
