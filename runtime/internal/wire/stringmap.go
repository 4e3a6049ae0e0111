package wire

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// StringMap writes a map in the order of its keys. A nil map is empty.
func (w *Writer) StringMap(m map[string]string) {
	w.BeginObject()
	entries := w.entries[:0]
	for name, value := range m {
		entries = append(entries, entry{prefix(name), name, value})
	}
	var order [fewEntries]uint8
	if len(entries) > fewEntries {
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	} else {
		sortFew(entries, &order)
	}
	for i := range entries {
		e := &entries[i]
		if len(entries) <= fewEntries {
			e = &entries[order[i]]
		}
		if w.KeyEscaped(e.name); w.err != nil {
			break
		}
		w.String(e.value)
	}
	w.EndObject()
	clear(entries)
	if cap(entries) <= maxReusedEntries {
		w.entries = entries
	}
}

// entry is an entry of a map that is to be sorted.
type entry struct {
	prefix      uint64 // the beginning of the name, for comparing
	name, value string
}

// prefix returns the first eight bytes of a name as a number. A name with a smaller number comes first.
func prefix(name string) uint64 {
	n := len(name)
	if n >= 8 {
		return bits.ReverseBytes64(load64(name))
	}
	if n >= 4 { // the first four bytes, and of the last four those that follow them
		return uint64(load32(name))<<32 | uint64(load32(name[n-4:])<<(8*(8-n)))
	}
	var p uint64
	for i := range n {
		p |= uint64(name[i]) << (56 - 8*i)
	}
	return p
}

// load32 returns the first four bytes of d as a number, the first byte highest.
func load32(d string) uint32 {
	_ = d[3]
	return uint32(d[0])<<24 | uint32(d[1])<<16 | uint32(d[2])<<8 | uint32(d[3])
}

// fewEntries is the number of entries up to which sortFew is used.
const fewEntries = 12

// sortFew sets order to the indexes of the entries in the order of their names. It sorts by insertion, which is fast
// for few entries whose names differ at their beginning.
func sortFew(entries []entry, order *[fewEntries]uint8) {
	for i := range entries {
		e := &entries[i]
		j := i
		for ; j > 0; j-- {
			before := &entries[order[j-1]]
			if before.prefix < e.prefix || before.prefix == e.prefix && before.name <= e.name {
				break
			}
			order[j] = order[j-1]
		}
		order[j] = uint8(i)
	}
}

// maxReusedEntries is the number of entries up to which a Writer reuses their memory.
const maxReusedEntries = 1024

// sortedKeys returns the keys of m in order.
func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
