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

// sendBatch sends the batch items, once in a run; nil: the answer has no results.
func (p *prober) sendBatch(rec *recorder) (*exchange, []map[string]any) {
	if p.evidence.batch == nil {
		p.evidence.batch = p.call(p.introspectTool, map[string]any{"operations": batchItems()})
		x := p.evidence.batch
		if raw := x.answer.root["results"]; raw != nil {
			p.evidence.results = objects(raw)
		} else if raw, ok := memberOf(x.answer.data, "results").([]any); ok && x.answer.success {
			p.evidence.results = objects(raw)
			p.deviate(batchPlace, "in 'data.results'", x)
		} else if raw, ok := x.answer.data.([]any); ok && len(raw) == len(batchItems()) {
			p.evidence.results = objects(raw)
			p.deviate(batchPlace, "they are 'data' itself", x)
		}
	}
	x := p.evidence.batch
	if p.evidence.results == nil {
		rec.skip("a batch is answered without results, so batches are taken as not supported")
		return nil, nil
	}
	return x, p.evidence.results
}

// resultIn returns the answer in a result of a batch: its member result or, if it has none, the result itself.
func resultIn(result map[string]any) answer {
	inner := result["result"]
	if inner == nil && result["success"] != nil {
		inner = result
	}
	return readAnswer(Reply{Text: asJSON(inner)}, false)
}

func checkBatchSupported(p *prober, rec *recorder) {
	x, _ := p.sendBatch(rec)
	claimed := p.capability("batch")
	switch {
	case x == nil && claimed:
		rec.fail(exchanges(p.evidence.batch), "the capability batch is claimed, and a batch is answered without results")
	case x == nil:
		rec.fail(exchanges(p.evidence.batch), "a batch is answered without results; level 2 recommends batches")
	default:
		rec.expect(claimed, x, "a batch is answered with results, but the capability batch is not claimed")
	}
}

func checkBatchShape(p *prober, rec *recorder) {
	if x, _ := p.sendBatch(rec); x != nil {
		if x.answer.root["success"] != true {
			rec.unjudged("the answer to a batch does not have success true") // batch/envelope reports it
			return
		}
		rec.expectShape(x, batchShape("response", x.answer.root))
	}
}

func checkBatchOrder(p *prober, rec *recorder) {
	x, results := p.sendBatch(rec)
	for i, result := range results {
		want, _ := batchItems()[min(i, 2)].(map[string]any)
		rec.expect(equal(json.Number(fmt.Sprint(i)), result["index"]), x, "the member 'index' of result %d is %s", i,
			orMissing(result["index"]))
		rec.expect(result["operation"] == want["operation"], x, "the member 'operation' of result %d is %s, not %q", i,
			orMissing(result["operation"]), want["operation"])
	}
}

func checkBatchIndependent(p *prober, rec *recorder) {
	if x, results := p.sendBatch(rec); x != nil {
		rec.expect(len(results) == 3, x, "of three requests, the second of which fails, %d have a result", len(results))
	}
}

func checkBatchEnvelope(p *prober, rec *recorder) {
	if x, _ := p.sendBatch(rec); x != nil {
		rec.expect(x.answer.root["success"] == true, x, "a batch of which one request fails must have success true")
	}
}

func checkBatchSummary(p *prober, rec *recorder) {
	x, results := p.sendBatch(rec)
	if x == nil {
		return
	}
	succeeded := 0
	for _, result := range results {
		inner := resultIn(result)
		if inner.success {
			succeeded++
		} else if !inner.failed {
			rec.unjudged("a result of the batch can be read neither as success nor as failure")
			return
		}
	}
	for _, name := range []string{"total", "succeeded", "failed"} {
		want := map[string]int{"total": len(results), "succeeded": succeeded, "failed": len(results) - succeeded}[name]
		got := memberOf(x.answer.root["summary"], name)
		rec.expect(equal(json.Number(fmt.Sprint(want)), got), x, "'summary.%s' is %s, and there are %d", name, orMissing(got),
			want)
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
		got := resultIn(result)
		if !got.success && !got.failed || alone.unreadable() {
			rec.unjudged("the answer to request %d, in the batch or alone, can be read neither as success nor as failure", i)
			continue
		}
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
		if x.unreadable() {
			rec.unjudged("the answer to a batch %s can be read neither as success nor as failure", tt.what)
			continue
		}
		if rec.expect(x.answer.failed, x, "a batch %s must fail as a whole", tt.what) && !x.uncoded() {
			rec.expectShape(x,
				closed(map[string]member{"success": {true, isFalse}, "error": {true, plainFailure}})("response", x.answer.root))
		}
	}
}
