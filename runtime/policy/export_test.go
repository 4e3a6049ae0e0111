package policy

// Matches is the matcher of patterns.
func Matches(pattern, text string) bool { return matches(pattern, text) }

// Compare orders two JSON numbers; false: one is none.
func Compare(a, b string) (int, bool) {
	x, fine := parseDecimal(a)
	y, ok := parseDecimal(b)
	return x.compare(y), fine && ok
}
