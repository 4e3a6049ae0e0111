package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Any writes a value of any type, maps in the order of their keys. A nil map is null, and a nil slice an empty array.
// Types that the switch below does not name are left to encoding/json.
func (w *Writer) Any(v any) {
	switch v := v.(type) {
	case nil:
		w.Null()
	case bool:
		w.Bool(v)
	case string:
		w.String(v)
	case float64:
		w.Float(v, 64)
	case int:
		w.Int(int64(v))
	case int64:
		w.Int(v)
	case uint64:
		w.Uint(v)
	case json.Number:
		w.number(string(v))
	case time.Time:
		w.Time(v)
	case []byte:
		if v == nil {
			w.Null()
			return
		}
		w.Base64(v)
	case []any:
		anyArray(w, v, (*Writer).Any)
	case []string:
		anyArray(w, v, (*Writer).String)
	case []map[string]any:
		anyArray(w, v, anyObject)
	case map[string]any:
		anyObject(w, v)
	default:
		w.reflected(v)
	}
}

// anyArray writes elements with the function write.
func anyArray[T any](w *Writer, elements []T, write func(*Writer, T)) {
	if w.TooDeep() {
		w.Null()
		return
	}
	w.BeginArray()
	for _, element := range elements {
		if w.Element(); w.err != nil {
			break
		}
		write(w, element)
	}
	w.EndArray()
}

// anyObject writes an object.
func anyObject(w *Writer, members map[string]any) {
	if members == nil || w.TooDeep() {
		w.Null()
		return
	}
	w.BeginObject()
	for _, name := range sortedKeys(members) {
		if w.KeyEscaped(name); w.err != nil {
			break
		}
		w.Any(members[name])
	}
	w.EndObject()
}

// number writes the text of a json.Number, which need not be a number.
func (w *Writer) number(text string) {
	if w.Refuses(len(text)) {
		w.Null()
		return
	}
	r := Reader{data: text, retained: text}
	if _, ok := r.number(); !ok || r.pos != len(text) {
		w.Fail(errors.New("wire: a json.Number is not a number"))
		text = "null"
	}
	w.Raw(text)
}

// reflected writes a value with encoding/json.
func (w *Writer) reflected(v any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		w.Fail(fmt.Errorf("wire: writing a value of dynamic type: %w", err))
		w.Null()
		return
	}
	if w.Refuses(text.Len()) {
		w.Null()
		return
	}
	if err := w.Checked(strings.TrimSuffix(text.String(), "\n")); err != nil {
		w.Fail(fmt.Errorf("wire: writing a value of dynamic type: %w", err))
		w.Null()
	}
}
