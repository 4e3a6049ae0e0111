package aql

import (
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/internal/schematest"
)

var (
	schemasOnce    sync.Once
	responseSchema *schematest.Schema // nil where the official schemas are absent
	batchSchema    *schematest.Schema
)

func loadSchemas(tb testing.TB) {
	schemasOnce.Do(func() {
		responseSchema = schematest.Load(tb, "operation-result", "")
		batchSchema = schematest.Load(tb, "batch-operation", "")
	})
}

// checkOfficial validates a response against the official schema (REQ-RS-01, REQ-RS-02, REQ-RS-03,
// REQ-RS-04, REQ-RS-05, REQ-MT-02, REQ-ER-01, REQ-WA-02).
func checkOfficial(tb testing.TB, response []byte) {
	tb.Helper()
	loadSchemas(tb)
	responseSchema.Check(tb, response)
}

// checkOfficialBatch validates the response to a batch against the official schema of batches.
func checkOfficialBatch(tb testing.TB, response []byte) {
	tb.Helper()
	loadSchemas(tb)
	batchSchema.Check(tb, response)
}
