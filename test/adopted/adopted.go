// Package adopted holds adapters of libraries that were not written for aql-tag, one in each folder. README.md says
// which.
package adopted

//go:generate go tool aql-tag ./...
