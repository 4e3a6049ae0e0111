// Package wire measures what a request costs: reading it with every check, merging it, and answering it. It measures
// aql-tag, the alternatives that a user has, and floors, which only look at the bytes. All of them work on the same
// bytes in the same run. The tests compare their results, and hold what each of them leaves out.
//
// Command table runs all of the benchmarks and prints one table.
package wire

import "context"

// Candidate is a way to do a piece of work.
type Candidate struct {
	Name string
	// LeavesOut lists what the candidate leaves out of the work; empty: nothing.
	LeavesOut string
	// Floor marks a candidate without a result to compare. It shows what the work costs at least.
	Floor bool
	// Run does the work once. The result, a pointer, is valid until Run is called again.
	Run func() (any, error)
}

// Group is the candidates for a piece of work, aql-tag first. They work on the same bytes.
type Group struct {
	Candidates []Candidate

	close func()
}

// Close ends what the candidates use, such as a server.
func (g Group) Close() {
	if g.close != nil {
		g.close()
	}
}

// Benchmark is a piece of work that is measured.
type Benchmark struct {
	Name string // such as decode/medium
	// Make returns the candidates. What they use lives until ctx ends, or Close is called. The error is ErrMissing where
	// a server is not installed.
	Make func(ctx context.Context) (Group, error)
}

// Benchmarks returns all benchmarks.
func Benchmarks() []Benchmark { return BenchmarksOf(manyTasks) }

// BenchmarksOf returns all benchmarks, with databases whose tables have a number of rows, which is a multiple of 1,000.
func BenchmarksOf(rows int) []Benchmark {
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
		{"collection/slice", pageOfSlice},
		{"collection/pointers", pageOfPointers},
		{"collection/stream", pageOfStream},
		{"collection/groups", groupCount},
		{"collection/maps", pageOfMaps},
		{"collection/sqlite", pageOf(inSQLite, rows)},
		{"collection/postgres", pageOf(inPostgres, rows)},
		{"collection/mariadb", pageOf(inMariaDB, rows)},
		{"collection/sqlite/nullable", nullablePageOf(inSQLite, rows)},
		{"collection/postgres/nullable", nullablePageOf(inPostgres, rows)},
		{"collection/mariadb/nullable", nullablePageOf(inMariaDB, rows)},
		{"collection/read", readQuery},
		{"collection/cursor", sealCursor},
		{"observe/nothing", observeNothing},
		{"observe/call", observeCall},
		{"observe/http", observeHTTP},
	}
}
