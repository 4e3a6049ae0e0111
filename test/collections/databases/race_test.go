//go:build race

package databases

// shortRounds are those with -short. The race detector makes SQLite, which is Go, ten times as slow.
const shortRounds = 30
