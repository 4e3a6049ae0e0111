package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// ErrUnchanged means that a configuration has the server already, with the same entry.
var ErrUnchanged = errors.New("the server is configured already")

// ErrOther means that a configuration has another entry of that name.
var ErrOther = errors.New("there is another server of that name")

// Merge returns a configuration with the server in it. All else in the text stays as it is: members, order, comments,
// indentation, line ends. It fails with ErrUnchanged or ErrOther if the configuration has an entry of that name, where
// replace does not say to replace it, and with another error if it cannot be read.
func (c *Client) Merge(text string, s Server, replace bool) (string, error) {
	entry, err := c.entry(s)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) == "" {
		return c.Snippet(s)
	}
	if c.TOML {
		return mergeTOML(text, c.Root, s.Name, entry, replace)
	}
	changed, err := mergeJSON(text, c.Root, s.Name, entry, replace)
	if err != nil {
		return "", err
	}
	if err := checkMerged(text, changed, c.Root, s.Name, entry); err != nil {
		return "", fmt.Errorf("the merged configuration is not right, so it is not used: %w", err)
	}
	return changed, nil
}

func mergeJSON(text, root, name string, entry []member, replace bool) (string, error) {
	top, err := readJSONC(text)
	if err != nil {
		return "", err
	}
	style := styleOf(text, top)
	servers := top.find(root)
	if servers == nil {
		return style.insert(text, top, root, []member{{name, entry}}), nil
	}
	if servers.object == nil {
		return "", fmt.Errorf("member %q is not an object", root)
	}
	old := servers.object.find(name)
	if old == nil {
		return style.insert(text, servers.object, name, entry), nil
	}
	var had, wanted any
	if err := json.Unmarshal(plain(text[old.value:old.end]), &had); err != nil {
		return "", err
	}
	if err := json.Unmarshal([]byte(jsonText(entry, "", "", "")), &wanted); err != nil {
		return "", err
	}
	if reflect.DeepEqual(had, wanted) {
		return "", ErrUnchanged
	}
	if !replace {
		return "", ErrOther
	}
	indent := indentation(text, old.start)
	return text[:old.value] + jsonText(entry, indent, style.unit, style.newline) + text[old.end:], nil
}

// style is how a text is laid out.
type style struct{ unit, newline string }

// styleOf returns the layout of a text: its line ends, and the indentation of its first member.
func styleOf(text string, top *object) style {
	s := style{unit: "  ", newline: "\n"}
	if strings.Contains(text, "\r\n") {
		s.newline = "\r\n"
	}
	if len(top.members) > 0 {
		if unit := indentation(text, top.members[0].start); unit != "" {
			s.unit = unit
		}
	}
	return s
}

// indentation returns the blanks at the start of the line of an offset; empty also if something else is before it.
func indentation(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// insert adds a member at the end of an object.
func (s style) insert(text string, o *object, name string, value []member) string {
	base := indentation(text, o.closing)
	if text[strings.LastIndexByte(text[:o.closing], '\n')+1:o.closing] != base {
		base = indentation(text, o.open)
	}
	indent := base + s.unit
	if n := len(o.members); n > 0 {
		if i := indentation(text, o.members[n-1].start); i != "" {
			indent = i
		}
	}
	head, tail := text[:o.closing], text[o.closing:]
	if n := len(o.members); n > 0 && !o.comma {
		end := o.members[n-1].end
		head = head[:end] + "," + head[end:]
	}
	head = strings.TrimRight(head, " \t\r\n")
	added := indent + quote(name) + ": " + jsonText(value, indent, s.unit, s.newline)
	return head + s.newline + added + s.newline + base + tail
}

// checkMerged fails unless the changed configuration is the old one with the entry.
func checkMerged(before, after, root, name string, entry []member) error {
	if _, err := readJSONC(after); err != nil {
		return err
	}
	var old, changed, wanted map[string]any
	if err := json.Unmarshal(plain(before), &old); err != nil {
		return err
	}
	if err := json.Unmarshal(plain(after), &changed); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(jsonText(entry, "", "", "")), &wanted); err != nil {
		return err
	}
	servers, ok := old[root].(map[string]any)
	if !ok {
		servers = map[string]any{}
		old[root] = servers
	}
	servers[name] = wanted
	if !reflect.DeepEqual(old, changed) {
		return errors.New("it differs in more than the server")
	}
	return nil
}
