package conform

import (
	"encoding/json"
	"fmt"
)

func batchChecks() []check {
	return []check{
		{"batch/supported", "batches are supported, and said to be", []string{"REQ-CL-02", "REQ-BA-01", "REQ-PM-04"}, Should, Features, 2, checkBatch},
		{"batch/shape", "the answer to a batch has the closed shape", []string{"REQ-BA-03", "REQ-BA-06"}, Must, Features, 2, checkBatchShape},
		{"batch/order", "results come in the order of the requests, each with its index and operation", []string{"REQ-BA-03", "REQ-BA-04"}, Must, Features, 2, checkBatchOrder},
		{"batch/independent", "a failure stops none of those behind it", []string{"REQ-BA-04"}, Must, Features, 2, checkBatchIndependent},
		{"batch/envelope", "a batch with failures succeeds as a whole", []string{"REQ-BA-05"}, Must, Features, 2, checkBatchEnvelope},
		{"batch/summary", "the summary counts the results", []string{"REQ-BA-03"}, Must, Features, 2, checkBatchSummary},
		{"batch/same", "an operation answers in a batch as it does alone", []string{"REQ-BA-03", "REQ-BA-06"}, Must, Features, 2, checkBatchSame},
		{"batch/malformed", "what is no batch is refused as a whole", []string{"REQ-BA-02", "REQ-BA-13"}, Must, Features, 2, checkBatchMalformed},
	}
}

// batchItems are three requests, the second of which fails.
func batchItems() []any {
	ask := func(query string) map[string]any {
		return map[string]any{"operation": "introspect", "params": map[string]any{"query": query, "name": "no_such_name"}}
	}
	return []any{ask("operations"), map[string]any{"operation": "no_such_operation", "params": map[string]any{}}, ask("types")}
}

// sendBatch sends them, once in a run.
func (p *prober) sendBatch(v *verdict) (*exchange, []map[string]any) {
	if p.evidence.batch == nil {
		p.evidence.batch = p.call(p.asked, map[string]any{"operations": batchItems()})
	}
	x := p.evidence.batch
	if x.answer.root["results"] == nil {
		v.skip("batches are not supported")
		return nil, nil
	}
	return x, objects(x.answer.root["results"])
}

func checkBatch(p *prober, v *verdict) {
	x, _ := p.sendBatch(v)
	claimed := p.capability("batch")
	switch {
	case x == nil && claimed:
		v.wrong(exchanges(p.evidence.batch), "the capability batch is claimed, and a batch has no results")
	case x == nil:
		v.wrong(exchanges(p.evidence.batch), "batches are not supported, which level 2 recommends")
	default:
		v.hold(claimed, x, "batches are supported, but the capability batch is not claimed")
	}
}

func checkBatchShape(p *prober, v *verdict) {
	if x, _ := p.sendBatch(v); x != nil && x.answer.success {
		v.shaped(x, batchShape("response", x.answer.root))
	}
}

func checkBatchOrder(p *prober, v *verdict) {
	x, results := p.sendBatch(v)
	for i, result := range results {
		want, _ := batchItems()[min(i, 2)].(map[string]any)
		v.hold(equal(json.Number(fmt.Sprint(i)), result["index"]), x, "result %d has the index %v", i, result["index"])
		v.hold(result["operation"] == want["operation"], x, "result %d is of operation %v, not of %v", i, result["operation"], want["operation"])
	}
}

func checkBatchIndependent(p *prober, v *verdict) {
	if x, results := p.sendBatch(v); x != nil {
		v.hold(len(results) == 3, x, "of three requests, the second of which fails, %d have a result", len(results))
	}
}

func checkBatchEnvelope(p *prober, v *verdict) {
	if x, _ := p.sendBatch(v); x != nil {
		v.hold(x.answer.success, x, "a batch of which one request fails must have success true")
	}
}

func checkBatchSummary(p *prober, v *verdict) {
	x, results := p.sendBatch(v)
	if x == nil {
		return
	}
	succeeded := 0
	for _, result := range results {
		if within(result["result"], "success") == true {
			succeeded++
		}
	}
	for _, name := range []string{"total", "succeeded", "failed"} {
		want := map[string]int{"total": len(results), "succeeded": succeeded, "failed": len(results) - succeeded}[name]
		got := within(x.answer.root["summary"], name)
		v.hold(equal(json.Number(fmt.Sprint(want)), got), x, "'summary.%s' is %v, and there are %d", name, got, want)
	}
}

func checkBatchSame(p *prober, v *verdict) {
	x, results := p.sendBatch(v)
	for i, result := range results {
		if index, ok := result["index"].(json.Number); ok { // in whatever order they came
			if n, err := index.Int64(); err == nil {
				i = int(n)
			}
		}
		if i < 0 || i >= len(batchItems()) {
			continue
		}
		alone := p.call(p.asked, batchItems()[i])
		got := parseAnswer(asJSON(result["result"]))
		v.hold(got.success == alone.answer.success && got.code == alone.answer.code && equal(got.data, alone.answer.data), x, "request %d has another answer in a batch than alone", i)
	}
}

func checkBatchMalformed(p *prober, v *verdict) {
	if x, _ := p.sendBatch(v); x == nil {
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
		x := p.call(p.asked, map[string]any{"operations": tt.items})
		if v.hold(x.answer.ok && !x.answer.success, x, "a batch %s must fail as a whole", tt.what) {
			v.shaped(x, closed(map[string]member{"success": {true, isFalse}, "error": {true, plainFailure}})("response", x.answer.root))
		}
	}
}
