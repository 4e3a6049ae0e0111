package aql

import (
	"encoding/json"

	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// Optional is a value that a request may leave out, set to null, or give. It distinguishes the three. It is meant for
// the fields of the struct input of an UPDATE operation, where absent means unchanged and null means removed. The zero
// value is absent.
type Optional[T any] struct {
	presence codec.Presence
	value    T
}

// Some returns an Optional that holds value.
func Some[T any](value T) Optional[T] { return Optional[T]{presence: codec.Present, value: value} }

// Null returns an Optional that is null.
func Null[T any]() Optional[T] { return Optional[T]{presence: codec.Null} }

// Get returns the value; ok is false when it is absent or null.
func (o Optional[T]) Get() (value T, ok bool) { return o.value, o.presence == codec.Present }

// IsNull reports whether the value is null.
func (o Optional[T]) IsNull() bool { return o.presence == codec.Null }

// IsZero reports whether the value is absent, so that encoding/json's omitzero leaves it out.
func (o Optional[T]) IsZero() bool { return o.presence == codec.Absent }

// Apply updates *field: it stays as it is if the value is absent, and becomes zero if the value is null.
func (o Optional[T]) Apply(field *T) {
	switch o.presence {
	case codec.Null:
		*field = *new(T)
	case codec.Present:
		*field = o.value
	}
}

// MarshalJSON writes the value, or null, for users that store requests with encoding/json.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.presence != codec.Present {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value or null.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*o = Null[T]()
		return nil
	}
	o.presence = codec.Present
	return json.Unmarshal(data, &o.value)
}
