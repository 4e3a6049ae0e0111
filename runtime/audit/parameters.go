package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Cut describes a text or a number in the parameters that was too long to be recorded whole.
type Cut struct {
	// Path is where the value stands in the parameters: a JSON pointer (RFC 6901).
	Path string
	// Bytes and SHA256 are the length and the digest of the value: of a text in UTF-8, without quotes and escapes.
	Bytes  int
	SHA256 [sha256.Size]byte
}

// Digest describes parameters of which nothing else can be recorded.
type Digest struct {
	Bytes  int
	SHA256 [sha256.Size]byte
}

// bounds say how much of parameters is recorded, in bytes.
type bounds struct {
	whole      int // parameters up to here are recorded as they are
	value      int // in longer ones, a text or number up to here is
	head, tail int // what remains of a longer one
	most       int // of all; beyond it, only a digest is recorded
}

var (
	// A record of what may run holds every value that could say what it is about. The most is above the longest request
	// that an adapter can accept, so that such parameters never become a digest.
	ofAllowed = bounds{whole: 64 << 10, value: 4 << 10, head: 2 << 10, tail: 1 << 10, most: 12 << 20}
	// Nothing has come of what was refused.
	ofRefused = bounds{whole: 2 << 10, value: 256, head: 128, tail: 64, most: 4 << 10}
)

// longestPath bounds the path of a value that was cut, in bytes.
const longestPath = 512

// condense cuts long values in the parameters, so that records stay small.
func (r *Record) condense() {
	b := ofAllowed
	if r.Outcome == Denied {
		b, r.Identifiers = ofRefused, nil
	}
	if r.Cuts != nil || len(r.Parameters) <= b.whole {
		return
	}
	c := cutter{bounds: b, identifiers: r.Identifiers}
	if text, ok := c.cut(r.Parameters); ok && len(text) <= b.most {
		r.Parameters, r.Cuts = text, c.cuts
		return
	}
	r.Digest, r.Parameters = digestOf(r.Parameters), nil
}

func digestOf(parameters []byte) *Digest {
	return &Digest{Bytes: len(parameters), SHA256: sha256.Sum256(parameters)}
}

// cutter copies parameters without their long values.
type cutter struct {
	bounds
	identifiers []string
	in          wire.Reader
	text        []byte // of what is read
	copied      int    // offset in text up to which out has it
	out         []byte
	path        []byte // of the value that is read
	cuts        []Cut
}

// cut returns a JSON text with shorter values; false: it is no JSON.
func (c *cutter) cut(text []byte) ([]byte, bool) {
	c.in.ResetBytes(text, wire.Limits{})
	c.text = text
	c.value(false)
	c.in.End()
	if c.in.Fault() != nil {
		return nil, false
	}
	return append(c.out, text[c.copied:]...), true
}

// value reads a value. whole says that nothing of it is cut.
func (c *cutter) value(whole bool) {
	depth := len(c.path)
	switch c.in.Kind() {
	case "object":
		c.in.Object()
		for c.in.Next() {
			name := c.in.Name()
			c.path = appendPointer(c.path, name)
			c.value(whole || depth == 0 && slices.Contains(c.identifiers, name))
			c.path = c.path[:depth]
		}
	case "array":
		c.in.Array()
		for i := 0; c.in.NextElement(); i++ {
			c.path = strconv.AppendInt(append(c.path, '/'), int64(i), 10)
			c.value(whole)
			c.path = c.path[:depth]
		}
	default:
		from := c.in.Offset()
		if text := c.in.Raw(); !whole && len(text) > c.bounds.value {
			c.shorten(text, from)
		}
	}
}

// shorten replaces the text of a string or number, which begins at an offset, by its beginning and its end.
func (c *cutter) shorten(text string, from int) {
	value := text
	if text[0] == '"' {
		value, _ = wire.NewReader(text, wire.Limits{}).String()
		if len(value) <= c.bounds.value { // it has escapes
			return
		}
	}
	c.cuts = append(c.cuts, Cut{
		Path: clip(string(c.path), longestPath), Bytes: len(value), SHA256: sha256.Sum256([]byte(value)),
	})
	end := len(value) - c.tail
	for !utf8.RuneStart(value[end]) {
		end++
	}
	w := wire.NewWriter(append(c.out, c.text[c.copied:from]...))
	w.String(clip(value, c.head) + value[end:])
	c.out, c.copied = w.Bytes(), from+len(text)
}

// appendPointer appends a name to a JSON pointer.
func appendPointer(path []byte, name string) []byte {
	path = append(path, '/')
	for i := range len(name) {
		switch name[i] {
		case '~':
			path = append(path, "~0"...)
		case '/':
			path = append(path, "~1"...)
		default:
			path = append(path, name[i])
		}
	}
	return path
}

// clip cuts off a long text, which is UTF-8, and marks the place.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// writeParameters writes the parameters. If they are not JSON, or nothing but a digest of them is known, it writes
// their length and digest.
func (r *Record) writeParameters(w *recordWriter) {
	if r.Digest == nil && len(r.Parameters) > ofRefused.whole {
		condensed := Record{Outcome: r.Outcome, Parameters: r.Parameters, Identifiers: r.Identifiers, Cuts: r.Cuts}
		condensed.condense()
		r = &condensed
	}
	digest := r.Digest
	if len(r.Parameters) == 0 && digest == nil {
		return
	}
	if digest == nil && valid(r.Parameters) {
		before := w.Mark()
		w.Key("parameters")
		line := bytes.NewBuffer(w.Bytes())
		if err := json.Compact(line, r.Parameters); err == nil {
			w.Reset(line.Bytes())
			r.writeCuts(w)
			return
		}
		w.Rewind(before)
	}
	if digest == nil {
		digest = digestOf(r.Parameters)
	}
	w.Key("parameters_bytes")
	w.Int(int64(digest.Bytes))
	w.text("parameters_sha256", hex.EncodeToString(digest.SHA256[:]))
}

// writeCuts writes which values were cut.
func (r *Record) writeCuts(w *recordWriter) {
	if len(r.Cuts) == 0 {
		return
	}
	w.Key("parameters_cut")
	w.BeginArray()
	for i := range r.Cuts {
		c := &r.Cuts[i]
		w.Element()
		w.BeginObject()
		w.text("path", c.Path)
		w.Key("bytes")
		w.Int(int64(c.Bytes))
		w.text("sha256", hex.EncodeToString(c.SHA256[:]))
		w.EndObject()
	}
	w.EndArray()
}

// valid reports whether text is one JSON value that every reader understands alike: in UTF-8 and without duplicate
// names.
func valid(text []byte) bool {
	var r wire.Reader
	r.ResetBytes(text, wire.Limits{})
	r.Skip()
	r.End()
	return r.Fault() == nil
}
