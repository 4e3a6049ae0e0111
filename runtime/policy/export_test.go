package policy

// Matches is the matcher of patterns.
func Matches(pattern, text string) bool { return matches(pattern, text) }
