//go:build (!cgo && !darwin && !windows && !plan9) || android || (osusergo && !windows && !plan9)

package account

// guesses reports whether user.Current takes the name from the environment where /etc/passwd has none, as it does
// without the C library. user.LookupId then returns the same.
const guesses = true
