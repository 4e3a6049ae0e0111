//go:build !((!cgo && !darwin && !windows && !plan9) || android || (osusergo && !windows && !plan9))

package account

// guesses reports whether user.Current takes the name from the environment.
const guesses = false
