package conform

import (
	"encoding/json"
	"fmt"
)

// batchItems returns three requests of which the second one fails.
func batchItems() []any {
	introspect := func(query string) map[string]any {
		return map[string]any{"operation": "introspect", "params": map[string]any{"query": query, "name": "no_such_name"}}
	}
	unknown := map[string]any{"operation": "no_such_operation", "params": map[string]any{}}
	return []any{introspect("operations"), unknown, introspect("types")}
}

// sendBatch sends the batch items, once in a run; nil: the server does not support batches.
func (p *prober) sendBatch(rec *recorder) (*exchange, []map[string]any) {
	if p.evidence.batch == nil {
		p.evidence.batch = p.call(p.introspectTool, map[string]any{"operations": batchItems()})
	}
	x := p.evidence.batch
	if x.answer.root["results"] == nil {
		rec.skip("batches are not supported")
		return nil, nil
	}
	return x, objects(x.answer.root["results"])
}

func checkBatchSupported(p *prober, rec *recorder) {
	x, _ := p.sendBatch(rec)
	claimed := p.capability("batch")
	switch {
	case x == nil && claimed:
		rec.fail(exchanges(p.evidence.batch), "the capability batch is claimed, and a batch has no results")
	case x == nil:
		rec.fail(exchanges(p.evidence.batch), "batches are not supported, which level 2 recommends")
	default:
		rec.expect(claimed, x, "batches are supported, but the capability batch is not claimed")
	}
}

func checkBatchShape(p *prober, rec *recorder) {
	if x, _ := p.sendBatch(rec); x != nil && x.answer.success {
		rec.expectShape(x, batchShape("response", x.answer.root))
	}
}

func checkBatchOrder(p *prober, rec *recorder) {
	x, results := p.sendBatch(rec)
	for i, result := range results {
		want, _ := batchItems()[min(i, 2)].(map[string]any)
		rec.expect(equal(json.Number(fmt.Sprint(i)), result["index"]), x, "result %d has the index %v", i, result["index"])
		rec.expect(result["operation"] == want["operation"], x,
			"result %d is of operation %v, not of %v", i, result["operation"], want["operation"])
	}
}

func checkBatchIndependent(p *prober, rec *recorder) {
	if x, results := p.sendBatch(rec); x != nil {
		rec.expect(len(results) == 3, x, "of three requests, the second of which fails, %d have a result", len(results))
	}
}

func checkBatchEnvelope(p *prober, rec *recorder) {
	if x, _ := p.sendBatch(rec); x != nil {
		rec.expect(x.answer.success, x, "a batch of which one request fails must have success true")
	}
}

func checkBatchSummary(p *prober, rec *recorder) {
	x, results := p.sendBatch(rec)
	if x == nil {
		return
	}
	succeeded := 0
	for _, result := range results {
		if memberOf(result["result"], "success") == true {
			succeeded++
		}
	}
	for _, name := range []string{"total", "succeeded", "failed"} {
		want := map[string]int{"total": len(results), "succeeded": succeeded, "failed": len(results) - succeeded}[name]
		got := memberOf(x.answer.root["summary"], name)
		rec.expect(equal(json.Number(fmt.Sprint(want)), got), x, "'summary.%s' is %v, and there are %d", name, got, want)
	}
}

func checkBatchSame(p *prober, rec *recorder) {
	x, results := p.sendBatch(rec)
	for i, result := range results {
		if index, ok := result["index"].(json.Number); ok { // the order of results is another check
			if n, err := index.Int64(); err == nil {
				i = int(n)
			}
		}
		if i < 0 || i >= len(batchItems()) {
			continue
		}
		alone := p.call(p.introspectTool, batchItems()[i])
		got := parseAnswer(asJSON(result["result"]))
		rec.expect(got.success == alone.answer.success && got.code == alone.answer.code && equal(got.data, alone.answer.data),
			x, "request %d has another answer in a batch than alone", i)
	}
}

func checkBatchMalformed(p *prober, rec *recorder) {
	if x, _ := p.sendBatch(rec); x == nil {
		return
	}
	for _, tt := range []struct {
		what  string
		items any
	}{
		{"without requests", []any{}},
		{"that is no list", map[string]any{"operation": "introspect"}},
		{"with a request that names no operation", []any{batchItems()[0], map[string]any{"params": map[string]any{}}}},
		{"with a request that is no object", []any{batchItems()[0], "introspect"}},
	} {
		x := p.call(p.introspectTool, map[string]any{"operations": tt.items})
		if rec.expect(x.answer.wellFormed && !x.answer.success, x, "a batch %s must fail as a whole", tt.what) {
			rec.expectShape(x,
				closed(map[string]member{"success": {true, isFalse}, "error": {true, plainFailure}})("response", x.answer.root))
		}
	}
}
