package loop

import (
	"cmp"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// latin is the script of ASCII.
const latin = "Latin"

// scriptRange are characters of one script.
type scriptRange struct {
	first, last rune
	script      string
}

// scripts are the characters of all scripts, sorted when the first character outside ASCII is looked at.
var scripts struct {
	once sync.Once
	list []scriptRange
}

// allScripts returns the characters of all scripts, in ascending order, without those that go with any script.
func allScripts() []scriptRange {
	var list []scriptRange
	for name, table := range unicode.Scripts {
		if name == "Common" || name == "Inherited" {
			continue
		}
		add := func(first, last, stride rune) {
			if stride == 1 {
				list = append(list, scriptRange{first, last, name})
				return
			}
			for r := first; r <= last; r += stride {
				list = append(list, scriptRange{r, r, name})
			}
		}
		for _, r := range table.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(list, func(x, y scriptRange) int { return cmp.Compare(x.first, y.first) })
	return list
}

// scriptOf returns the script of a character; empty: it goes with any.
func scriptOf(r rune) string {
	if r < utf8.RuneSelf {
		if unicode.IsLetter(r) {
			return latin
		}
		return ""
	}
	scripts.once.Do(func() { scripts.list = allScripts() })
	list := scripts.list
	i, found := slices.BinarySearchFunc(list, r, func(of scriptRange, r rune) int {
		switch {
		case of.last < r:
			return -1
		case of.first > r:
			return 1
		}
		return 0
	})
	if !found {
		return ""
	}
	return list[i].script
}
