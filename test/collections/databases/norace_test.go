//go:build !race

package databases

// shortRounds are those with -short.
const shortRounds = 150
