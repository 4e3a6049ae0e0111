package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// message is how a type with a codec is read and written. Requests are read into its form, a struct that is made of the
// definition, by the rules that hold for every struct; the codec gets what was read. Results are what the codec writes.
type message struct {
	codec  *gen.Codec
	form   reflect.Type
	paths  []string // of the parameters that the fields of a request's form hold
	writer *encoder // writes a form as the codec reads it
	reader *decoder // reads what the codec writes into a form; nil: nothing is merged into the message
}

// messageDecoder compiles the decoder of a type that c reads.
func (s *Set) messageDecoder(n *decoder, c *gen.Codec, p *gen.Param) error {
	form, err := s.forms.elem(p)
	if err != nil {
		return err
	}
	n.kind, n.message = kindMessage, &message{codec: c, form: form}
	if n.elem, err = s.decoder(form, p); err != nil {
		return err
	}
	n.expected = n.elem.expected
	if n.message.writer, err = s.forms.sources.encoder(form, p); err != nil {
		return err
	}
	n.message.reader, err = s.forms.sources.decoder(form, p)
	return err
}

// requestMessage compiles what carries the form of an operation's parameters into a request that c reads.
func (s *Set) requestMessage(c *gen.Codec, o *gen.Operation) (*message, error) {
	fields, paths := s.forms.fields(o.Params, "")
	form, err := s.forms.structOf(fields)
	if err != nil {
		return nil, err
	}
	object := &structEncoder{fields: make([]encodedField, len(fields))}
	for i := range fields {
		if err := s.forms.sources.fillEncodedField(&object.fields[i], form, &fields[i]); err != nil {
			return nil, err
		}
	}
	writer := &encoder{kind: kindStruct, goType: form, size: form.Size(), object: object}
	return &message{codec: c, form: form, paths: paths, writer: writer}, nil
}

// formDecoder compiles the decoder of the form of a message that another one holds.
func (s *Set) formDecoder(n *decoder, p *gen.Param) error {
	form, err := s.forms.elem(p)
	if err != nil {
		return err
	}
	n.kind, n.expected = kindPointer, "object"
	n.elem = &decoder{kind: kindStruct, goType: form, size: form.Size(), expected: n.expected}
	n.elem.object, err = s.structDecoder(form, p.Type)
	return err
}

// messageEncoder compiles the encoder of a type that c writes.
func (s *Set) messageEncoder(n *encoder, c *gen.Codec, p *gen.Param) error {
	form, err := s.forms.elem(p)
	if err != nil {
		return err
	}
	n.kind, n.message = kindMessage, &message{codec: c, form: form}
	n.elem, err = s.encoder(form, p)
	return err
}

// formEncoder compiles the encoder of the form of a message that another one holds.
func (s *Set) formEncoder(n *encoder, p *gen.Param) error {
	form, err := s.forms.elem(p)
	if err != nil {
		return err
	}
	n.kind = kindPointer
	n.elem = &encoder{kind: kindStruct, goType: form, size: form.Size()}
	n.elem.object, err = s.structEncoder(form, p.Type)
	return err
}

// readMessage reads a message into the value at p.
func (n *decoder) readMessage(r *wire.Reader, p unsafe.Pointer, update bool) {
	form := reflect.New(n.message.form).UnsafePointer()
	if n.elem.read(r, form, update); !r.OK() {
		return
	}
	text := n.message.text(form)
	if err := n.message.decode(text, reflect.NewAt(n.goType, p).Interface()); err != nil {
		r.Refused("", n.expected, text, messageReason(err))
	}
}

// mergeMessage merges the next value into the message at p. What the definition does not have of the message stays. It
// returns false, and leaves the message as it is, where the value does not fit.
func (n *decoder) mergeMessage(r *wire.Reader, p unsafe.Pointer, mode mergeMode) bool {
	form := reflect.New(n.message.form).UnsafePointer()
	before, partial := "", false
	if mode == applying {
		var err error
		if before, partial, err = n.current(p, form); err != nil {
			r.Skip()
			r.Refused("", n.expected, "{}", "what is to be changed has values that the definition does not have")
			return false
		}
	}
	known := ""
	if partial {
		known = n.message.text(form)
	}
	if n.elem.merge(r, form, mode); !r.OK() {
		return false
	}
	text := n.message.text(form)
	if partial {
		var err error
		if text, err = n.message.retained(before, known, text); err != nil {
			r.Refused("", n.expected, "{}", messageReason(err))
			return false
		}
	}
	err := n.message.decode(text, reflect.New(n.goType).Interface())
	if err == nil {
		err = n.message.decode(text, reflect.NewAt(n.goType, p).Interface())
	}
	if err != nil {
		r.Refused("", n.expected, text, messageReason(err))
	}
	return err == nil
}

// current reads the message at p into a form, and returns its JSON. partial says that the definition does not have all
// of that.
func (n *decoder) current(p, form unsafe.Pointer) (text string, partial bool, err error) {
	if text, err = n.message.encode(reflect.NewAt(n.goType, p).Interface()); err != nil {
		return "", false, err
	}
	known, err := n.message.known(text)
	if err != nil {
		return "", false, err
	}
	r := wire.NewReader(known, wire.Limits{MaxDepth: maxMessageDepth})
	if n.message.reader.read(r, form, false); !r.OK() {
		return "", false, errUndefined
	}
	return text, known != text, nil
}

var errUndefined = errors.New("the message has values that its definition does not have")

// into makes a message what a form says.
func (m *message) into(form unsafe.Pointer, target any) error { return m.decode(m.text(form), target) }

// decode makes a message what a text says.
func (m *message) decode(text string, target any) error {
	return callUser(func() error { return m.codec.Decode([]byte(text), target) })
}

// text spells a form as the codec reads it.
func (m *message) text(form unsafe.Pointer) string {
	w := wire.NewWriter(nil)
	m.writer.write(w, form)
	return string(w.Bytes())
}

// refuse reports the parameter of a request that the codec does not read, for the reason err. target points to the
// request.
func (q *Request) refuse(r *wire.Reader, form unsafe.Pointer, target any, err error) {
	fields := q.message.writer.object.fields
	for i := range fields {
		f := &fields[i]
		p := f.address(form)
		if p == nil {
			continue
		}
		value, alone := wire.NewWriter(nil), wire.NewWriter(nil)
		f.value.write(value, p)
		alone.BeginObject()
		alone.KeyEscaped(f.name)
		alone.Raw(string(value.Bytes()))
		alone.EndObject()
		other := reflect.New(reflect.TypeOf(target).Elem()).Interface()
		if reason := q.message.decode(string(alone.Bytes()), other); reason != nil {
			r.Refused(q.message.paths[i], wellFormed+"value", string(value.Bytes()), messageReason(reason))
			return
		}
	}
	r.Refused("params", wellFormed+"object", "{}", messageReason(err))
}

// place is where a codec says that it found a mistake: a place in a text that no agent has seen.
var place = regexp.MustCompile(`^[a-z]+:[\s\p{Z}]+(\(line \d+:\d+\):[\s\p{Z}]+)?`)

// messageReason is why a codec refused a message, in its own words. Those of a panic are about Go.
func messageReason(err error) string {
	var panicked panicError
	if errors.As(err, &panicked) {
		return ""
	}
	return place.ReplaceAllString(err.Error(), "")
}

// encode returns the JSON that the codec writes of a message, without white space.
func (m *message) encode(value any) (string, error) {
	var text []byte
	var compact bytes.Buffer
	err := callUser(func() (err error) { text, err = m.codec.Encode(value); return err })
	if err == nil {
		err = json.Compact(&compact, text)
	}
	return compact.String(), err
}

// writeMessage writes the part of the message at p that is in subset; nil: all of it.
func (n *encoder) writeMessage(w *wire.Writer, p unsafe.Pointer, subset *Subset) {
	text, err := n.message.encode(reflect.NewAt(n.goType, p).Interface())
	if err == nil {
		r := wire.NewReader(text, wire.Limits{MaxDepth: maxMessageDepth})
		if n.elem.transcribe(r, w, subset); r.Fault() != nil {
			err = r.Fault()
		}
	}
	if err != nil {
		w.Fail(err)
		w.Null()
	}
}
