package conform

import (
	"encoding/json"
	"strconv"
)

func checkSummaries(p *prober, rec *recorder) {
	p.eachQueried(rec, "aggregate", func(o *operation, params map[string]any) {
		if !p.isObject(o.param("aggregate")) {
			rec.skip("'aggregate' of operation %s is no object", o.Name)
			return
		}
		label := "probe"
		x := p.send(o, with(params, "aggregate", map[string]any{label: map[string]any{"count": true}}))
		if !rec.needSuccess(x, "operation %s with a count as its only summary", o.Name) {
			return
		}
		told, _ := memberOf(memberOf(x.answer.data, "aggregations"), label).(json.Number)
		count, err := strconv.Atoi(string(told))
		if !rec.expect(err == nil, x, "operation %s does not tell a number in 'aggregations.%s'", o.Name, label) {
			return
		}
		rec.expect(memberOf(x.answer.data, "items") == nil, x,
			"operation %s answers items beside a summary, though nobody asked for them", o.Name)
		for _, s := range pageStyles {
			if o.param(s.size) == nil || o.param(s.place) == nil {
				continue
			}
			if count > mostCounted {
				rec.unjudged("operation %s counts %d items, too many to hold against its pages", o.Name, count)
				return
			}
			counted, complete := p.count(o, params, s, count)
			if !complete && counted <= count {
				rec.unjudged("the pages of operation %s cannot be read to their end", o.Name)
				return
			}
			rec.expect(counted == count, x, "operation %s counts %d items in a summary, and has %d on its pages", o.Name,
				count, counted)
			return
		}
	})
	rec.skip("no READ operation documents 'aggregate'")
}
