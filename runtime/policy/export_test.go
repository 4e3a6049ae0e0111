package policy

// Matches is the matcher of patterns.
func Matches(pattern, text string) bool { return matches(pattern, text) }

// Compare orders two JSON numbers; false: one is none.
func Compare(a, b string) (int, bool) {
	x, fine := parseDecimal(a)
	y, ok := parseDecimal(b)
	return x.compare(y), fine && ok
}

// Pass goes through the members of an object, or the elements of an array.
func Pass(text string) (names, values []string) {
	for c := open(text); ; {
		var name, value string
		var ok bool
		if text[0] == '{' {
			if name, value, ok = c.member(); ok {
				names = append(names, name)
			}
		} else {
			value, ok = c.element()
		}
		if !ok {
			return names, values
		}
		values = append(values, value)
	}
}
