// Package wire measures what a request costs: reading it with every check, merging it, answering it. Beside aql-tag stand
// those that a user would pick instead, and floors, which only look at the bytes. Everyone works on the same bytes in the
// same run; the tests hold their results against each other first, so that nobody is measured doing less than is said.
//
// Command table runs all of it in turn and prints one table.
package wire

import "context"

// Candidate is one who does a piece of work.
type Candidate struct {
	Name string
	// Lacks says what the candidate leaves out of the work; empty: nothing.
	Lacks string
	// Floor marks one that has no result to compare: it only looks at the bytes, or gives what a result may cost at least.
	Floor bool
	// Run does the work once. The result, a pointer, is good until Run is called again.
	Run func() (any, error)
}

// Group is a piece of work and everyone who does it on the same bytes, aql-tag first.
type Group struct {
	Candidates []Candidate
}

// Benchmark is a piece of work that is measured. Make builds what it needs, which lives until ctx ends; the first candidate
// is the one that others are compared with.
type Benchmark struct {
	Name string // such as decode/medium
	Make func(ctx context.Context) (Group, error)
}

// Benchmarks lists everything that is measured.
func Benchmarks() []Benchmark {
	return []Benchmark{
		{"decode/small", decodeSmall},
		{"decode/medium", decodeMedium},
		{"decode/large", decodeLarge},
		{"merge/small", mergeSmall},
		{"merge/medium", mergeMedium},
		{"merge/large", mergeLarge},
		{"encode/list25", encodeList},
		{"fields/2of10", selectFields},
		{"call/small", callSmall},
		{"call/medium", callMedium},
		{"call/large", callLarge},
		{"call/list25", callList},
		{"batch/100", callBatch},
		{"operations/same", sameOperation},
		{"operations/other", otherOperation},
		{"introspect/detail", introspectDetail},
		{"introspect/list", introspectList},
	}
}
