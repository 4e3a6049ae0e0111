package gate

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// tokenRecord is the state of a token in the store (MCP-AQL confirmation tokens §2.3).
type tokenRecord struct {
	Binding
	level    gen.Danger
	issued   time.Time
	expires  time.Time
	ready    time.Time
	consumed time.Time // of the last use; zero: never
	uses     int
	mostUses int
}

// recordForm is the version of the record's encoding.
const recordForm = 1

// encode returns the record's encoding: texts with their lengths, then numbers, then the digest.
func (r *tokenRecord) encode() []byte {
	to := []byte{recordForm}
	for _, text := range []string{string(r.Kind), r.Adapter, r.Caller, r.Session, r.Operation, string(r.level)} {
		to = binary.AppendUvarint(to, uint64(len(text)))
		to = append(to, text...)
	}
	for _, at := range []time.Time{r.issued, r.expires, r.ready, r.consumed} {
		to = binary.AppendVarint(to, millis(at))
	}
	to = binary.AppendVarint(to, int64(r.uses))
	to = binary.AppendVarint(to, int64(r.mostUses))
	return append(to, r.Params[:]...)
}

var errDamaged = errors.New("what the store holds is damaged, or was written by a later version")

// parseToken decodes what encode has written.
func parseToken(data []byte) (tokenRecord, error) {
	var r tokenRecord
	if len(data) == 0 || data[0] != recordForm {
		return r, errDamaged
	}
	data = data[1:]
	sound := true
	text := func() string {
		n, read := binary.Uvarint(data)
		if read <= 0 || n > uint64(len(data)-read) {
			sound, data = false, nil
			return ""
		}
		value := string(data[read : read+int(n)])
		data = data[read+int(n):]
		return value
	}
	number := func() int64 {
		n, read := binary.Varint(data)
		if read <= 0 {
			sound, data = false, nil
			return 0
		}
		data = data[read:]
		return n
	}
	r.Kind, r.Adapter, r.Caller, r.Session = Kind(text()), text(), text(), text()
	r.Operation, r.level = text(), gen.Danger(text())
	r.issued, r.expires, r.ready, r.consumed = moment(number()), moment(number()), moment(number()), moment(number())
	uses, mostUses := number(), number()
	if !sound || len(data) != len(r.Params) || uses < 0 || mostUses < 1 || mostUses > math.MaxInt32 || uses > mostUses {
		return tokenRecord{}, errDamaged
	}
	r.uses, r.mostUses = int(uses), int(mostUses)
	copy(r.Params[:], data)
	if !r.plausible() {
		return tokenRecord{}, errDamaged
	}
	return r, nil
}

// plausible reports whether Issue can have made the record. Every token expires (MCP-AQL confirmation tokens §5.1).
func (r *tokenRecord) plausible() bool {
	lifetime := r.expires.Sub(r.issued)
	return !r.issued.IsZero() && !r.expires.IsZero() && 0 <= lifetime && lifetime <= longestLifetime &&
		(r.uses == 0) == r.consumed.IsZero() && !r.ready.After(r.expires) &&
		(r.Kind == ConfirmationToken || r.Kind == ContinuationToken) && r.level.Level() >= 0
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
