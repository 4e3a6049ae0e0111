//go:build race

package conform_test

const underRace = true
