package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// position is where an item stands among those that wait. It is one, too, when the item is gone: what is decided moves
// no page.
type position struct {
	rest   bool // it is not urgent
	opened int64
	id     string
}

// positionOf returns the place of an item at a time.
func positionOf(h *head, now time.Time) position {
	return position{!h.urgent(now), h.opened.UnixNano(), h.id}
}

// String returns the place for an address.
func (p position) String() string {
	kind := "urgent"
	if p.rest {
		kind = "rest"
	}
	return kind + "." + strconv.FormatInt(p.opened, 10) + "." + p.id
}

// parsePosition returns the place that String has written.
func parsePosition(text string) (p position, ok bool) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 3 || parts[0] != "rest" && parts[0] != "urgent" {
		return position{}, false
	}
	opened, err := strconv.ParseInt(parts[1], 10, 64)
	return position{parts[0] == "rest", opened, parts[2]}, err == nil
}

// compare orders places as a look has its items.
func (p position) compare(other position) int {
	if p.rest != other.rest {
		if other.rest {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(p.opened, other.opened), cmp.Compare(p.id, other.id))
}

// find returns how many items of a look stand before a place, and whether one has it.
func find(heads []*head, at position, now time.Time) (int, bool) {
	return slices.BinarySearchFunc(heads, at, func(h *head, at position) int { return positionOf(h, now).compare(at) })
}
