package wire

import (
	"fmt"
	"strings"
)

// Checked writes the text of a JSON value that the code of a handler or of its types made. Invalid UTF-8 becomes
// U+FFFD, as in strings. It writes nothing, and returns an error, where the text is not one JSON value, where a name
// stands twice in one object, and where the value is nested too deeply.
func (w *Writer) Checked(text string) error {
	text = strings.ToValidUTF8(text, "\ufffd")
	if w.checker == nil {
		w.checker = new(Reader)
	}
	r, left := w.checker, w.levels-w.depth
	r.Reset(text, Limits{MaxDepth: max(left, 1)})
	defer r.Reset("", Limits{}) // the text is not to be kept
	r.tolerant = true
	composite := r.Kind() == "object" || r.Kind() == "array"
	r.Skip()
	r.End()
	switch f := r.fault; {
	case f != nil && f.Kind == DuplicateName:
		return fmt.Errorf("the name %q stands twice in one object", f.Name)
	case f != nil && f.Kind == TooDeep, composite && left < 1:
		return fmt.Errorf("%w: the limit is %d levels", ErrTooDeep, w.levels)
	case f != nil:
		return f
	}
	w.Raw(text)
	return nil
}
