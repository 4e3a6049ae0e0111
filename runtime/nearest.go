package aql

import "github.com/aqltag/aqltag/runtime/words"

// mostSearches is for how many unknown operations of one request it is looked which ones may have been meant.
const mostSearches = 20

// closest lists up to ten operations that a name may have meant; when none is near, the first ten.
func (x *exchange) closest(name string) []string {
	names := x.adapter.names
	if x.searched++; x.searched <= mostSearches {
		if near := words.Nearest(name, names, 10); len(near) > 0 {
			return near
		}
	}
	return names[:min(10, len(names))]
}
