package codec

// nameIndex finds fields by name. It is a hash table with open addressing.
type nameIndex struct {
	slots []slot
	mask  uint32
	count int
}

// slot is a place for a name.
type slot struct {
	name  string
	field int
	used  bool
}

// add adds a name of a field. A name that is there already keeps its field.
func (x *nameIndex) add(name string, field int) {
	x.count++
	if 2*x.count > len(x.slots) {
		old := x.slots
		size := max(8, 2*len(old))
		x.slots, x.mask = make([]slot, size), uint32(size-1)
		for _, s := range old {
			if s.used {
				x.put(s)
			}
		}
	}
	if x.find(name) < 0 {
		x.put(slot{name, field, true})
	}
}

func (x *nameIndex) put(s slot) {
	at := hashName(s.name) & x.mask
	for x.slots[at].used {
		at = (at + 1) & x.mask
	}
	x.slots[at] = s
}

// find returns the field with a name, or -1.
func (x *nameIndex) find(name string) int {
	if len(x.slots) == 0 {
		return -1
	}
	for at := hashName(name) & x.mask; x.slots[at].used; at = (at + 1) & x.mask {
		if x.slots[at].name == name {
			return x.slots[at].field
		}
	}
	return -1
}

// hashName hashes a name in constant time: its length and three of its bytes.
func hashName(name string) uint32 {
	n := uint32(len(name))
	if n == 0 {
		return 0
	}
	h := n ^ uint32(name[0])<<5 ^ uint32(name[n-1])<<11 ^ uint32(name[n/2])<<17
	return h * 0x9e3779b1 >> 12
}
