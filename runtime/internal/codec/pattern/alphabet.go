package pattern

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// alphabet divides the characters into classes of which no condition of an expression tells two members apart.
type alphabet struct {
	classes int
	ascii   [utf8.RuneSelf]uint8
	starts  []rune // where runs of one class begin, beyond ASCII, except for the first
	kinds   []uint8
	pages   []uint16 // of many starts, how many are before each multiple of page; nil: they are few
}

// The starts of the first plane, in which nearly all text is, are found by page.
const (
	page      = 256
	pages     = 1 << 16 / page
	fewStarts = 16
)

// beyond returns the class of a character beyond ASCII.
func (a *alphabet) beyond(char rune) uint8 {
	low, high := 0, len(a.starts)
	if a.pages != nil {
		if n := int(char) / page; n < pages {
			low, high = int(a.pages[n]), int(a.pages[n+1])
		} else {
			low = int(a.pages[pages])
		}
	}
	for low < high {
		if middle := (low + high) / 2; a.starts[middle] <= char {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return a.kinds[low]
}

// mostClasses is a bound for the width of a table.
const mostClasses = 250

// charset is a sorted list of ranges of characters, of the first and the last one of each.
type charset []rune

var (
	newline  = charset{'\n', '\n'}
	wordChar = charset{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	anyChar  = charset{0, unicode.MaxRune}
	noBreak  = charset{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
)

// charsetOf returns the characters that an instruction reads; nil if it reads none.
func charsetOf(inst *syntax.Inst) charset {
	switch inst.Op {
	case syntax.InstRuneAny:
		return anyChar
	case syntax.InstRuneAnyNotNL:
		return noBreak
	case syntax.InstRune, syntax.InstRune1:
	default:
		return nil
	}
	if len(inst.Rune) != 1 {
		return inst.Rune
	}
	char := inst.Rune[0]
	set := charset{char, char}
	if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		for folded := unicode.SimpleFold(char); folded != char; folded = unicode.SimpleFold(folded) {
			set = append(set, folded, folded)
		}
		slices.Sort(set)
	}
	return set
}

func (s charset) contains(char rune) bool {
	i, exact := slices.BinarySearch(s, char)
	if !exact {
		return i%2 == 1
	}
	return true
}

// newAlphabet makes the alphabet of some sets, and an example of each class; false if that takes too long or too many classes.
func newAlphabet(sets []charset) (*alphabet, []rune, bool) {
	cuts := []rune{0, utf8.RuneSelf}
	for _, set := range sets {
		for i := 0; i+1 < len(set); i += 2 {
			cuts = append(cuts, set[i], set[i+1]+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if cuts[len(cuts)-1] > unicode.MaxRune {
		cuts = cuts[:len(cuts)-1]
	}
	if len(cuts)*len(sets) > mostSteps {
		return nil, nil, false
	}

	// Each set divides the classes so far into those inside and those outside of it.
	kinds := make([]uint8, len(cuts))
	classes := 1
	for _, set := range sets {
		var inside [mostClasses]uint8
		for i, cut := range cuts {
			for len(set) > 0 && set[1] < cut {
				set = set[2:]
			}
			if len(set) == 0 {
				break
			}
			if cut < set[0] {
				continue
			}
			if old := kinds[i]; inside[old] == 0 {
				if classes == mostClasses {
					return nil, nil, false
				}
				inside[old] = uint8(classes)
				classes++
			}
			kinds[i] = inside[kinds[i]]
		}
	}
	return assemble(cuts, kinds)
}

// assemble makes an alphabet of runs of characters, of whose kinds some may have lost all members.
func assemble(cuts []rune, kinds []uint8) (*alphabet, []rune, bool) {
	var a alphabet
	var examples []rune
	var numbers [mostClasses + 1]int
	for i, cut := range cuts {
		if numbers[kinds[i]] == 0 {
			examples = append(examples, cut)
			numbers[kinds[i]] = len(examples)
		}
		class := uint8(numbers[kinds[i]] - 1)
		after := rune(unicode.MaxRune + 1)
		if i+1 < len(cuts) {
			after = cuts[i+1]
		}
		if cut >= utf8.RuneSelf {
			if len(a.kinds) == 0 || a.kinds[len(a.kinds)-1] != class {
				a.kinds, a.starts = append(a.kinds, class), append(a.starts, cut)
			}
			continue
		}
		for c := cut; c < after; c++ {
			a.ascii[c] = class
		}
	}
	a.starts, a.kinds = slices.Clone(a.starts[1:]), slices.Clone(a.kinds) // without the room to grow
	a.classes = len(examples)
	if len(a.starts) > fewStarts {
		a.pages = make([]uint16, pages+1)
		before := 0
		for n := range a.pages {
			for before < len(a.starts) && int(a.starts[before]) < n*page {
				before++
			}
			a.pages[n] = uint16(before)
		}
	}
	return &a, examples, true
}

// sameSet compares by identity first: the compiler of regexp/syntax repeats sets of thousands of ranges without copying them.
func sameSet(a, b charset) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}
