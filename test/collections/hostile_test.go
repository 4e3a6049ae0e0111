package collections_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// queryCeiling is what 1,000 requests in the worst form that the bounds of queries allow may take together, in bytes of
// live and dead objects on the heap, beside the requests themselves: as other hostile requests of the runtime.
const queryCeiling = 512 << 20

// The bounds of a filter, a search and summaries, as docs/collections.md gives them.
const (
	mostComparisons  = 50
	mostAlternatives = 20
	mostListed       = 100
	mostWords        = 20
	mostSummaries    = 10
	mostGroups       = 1000
)

// REQ-DE-10: memory is bounded whatever queries ask for: 1,000 of the worst ones at the same time, of a collection of
// 10,000 elements, stay under the ceiling, and each is answered, or refused with the code for what is wrong with it.
func TestMemoryUnderHostileQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const refused = `"code":"VALIDATION_OUT_OF_RANGE"`
	session := adapterOf(t, hostileParts(), aql.Options{}).NewSession()
	attacks := []struct {
		name, operation, params, want string
	}{
		{"as many comparisons as are allowed", "list_slice", `{"filter":` + comparisons(mostComparisons) + `}`, `"items":[]`},
		{"in with short values", "list_slice", `{"filter":` + memberships(mostListed, 0) + `}`, `"items":[]`},
		{"in with long values", "list_pointers", `{"filter":` + memberships(mostListed, 190) + `}`, `"items":[]`},
		{"in of what writes itself as text", "list_slice", `{"filter":` + addresses(mostListed) + `}`, `"items":[]`},
		{"as many words as are allowed", "search_parts", `{"query":"` + words(mostWords) + `"}`, `"items":[]`},
		{"as many summaries and groups as are allowed", "list_slice", `{"aggregate":` + summaries("minutes") + `}`,
			`"aggregations":{`},
		{"summaries of an iterator", "list_stream", `{"aggregate":` + summaries("minutes") + `}`, `"aggregations":{`},
		{"the last page in an order of texts", "list_slice", `{"last":100,"sort":{"field":"address"}}`, `"items":[{`},
		{"too many groups", "list_slice", `{"aggregate":` + summaries("serial") + `}`,
			`"code":"VALIDATION_PAYLOAD_TOO_LARGE"`},
		{"too many comparisons", "list_slice", `{"filter":` + comparisons(mostComparisons+1) + `}`, refused},
		{"too many values", "list_slice", `{"filter":` + memberships(mostListed+1, 190) + `}`, refused},
		{"too many alternatives", "list_slice", `{"filter":{"_or":[` +
			strings.Repeat(`{"title":"x"},`, mostAlternatives) + `{"title":"x"}]}}`, refused},
		{"too many summaries", "list_slice", `{"aggregate":` +
			strings.TrimSuffix(summaries("minutes"), "}") + `,"another":{"count":true}}}`, refused},
		{"too many words", "search_parts", `{"query":"` + words(mostWords+1) + `"}`, refused},
	}
	requests := make([][]byte, len(attacks))
	for i, attack := range attacks {
		requests[i] = fmt.Appendf(nil, `{"operation":%q,"params":%s}`, attack.operation, attack.params)
	}
	runtime.GC()
	base := heapBytes()
	peak, done := watchHeap()
	var callers sync.WaitGroup
	for i := range 1000 {
		callers.Go(func() {
			attack := attacks[i%len(attacks)]
			reply := session.Call(t.Context(), "mcp_aql_read", requests[i%len(attacks)])
			if !bytes.Contains(reply.JSON, []byte(attack.want)) {
				t.Errorf("%s: %.300s", attack.name, reply.JSON)
			}
		})
	}
	callers.Wait()
	close(done)
	took := int64(peak.Load()) - int64(base)
	t.Logf("%d MiB", took>>20)
	if took > queryCeiling {
		t.Errorf("%d MiB on the heap, over the ceiling of %d", took>>20, queryCeiling>>20)
	}
}

// hostileParts returns a store of 10,000 parts, with as many different minutes as a summary may have groups.
func hostileParts() *parts.Store {
	s := manyParts(10_000)
	for i := range s.Parts {
		p := &s.Parts[i]
		p.Minutes, p.Serial = i%mostGroups, uint64(i)
		p.Title = "A part with a title of some length, as people write them, number " + strconv.Itoa(i)
		p.Tags = []string{"one", "another", "a third"}
		p.Address = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
	}
	return s
}

// among makes a filter of alternatives, with so many comparisons in all. Each is looked at: the last one of an
// alternative does not hold, and the others do.
func among(n int, holds, fails func(i int) string) string {
	alternatives := make([]string, 0, mostAlternatives)
	for i := range mostAlternatives {
		count := n / mostAlternatives
		if i < n%mostAlternatives {
			count++
		}
		var all []string
		for k := range count - 1 {
			all = append(all, holds(k))
		}
		alternatives = append(alternatives, "{"+strings.Join(append(all, fails(i)), ",")+"}")
	}
	return `{"_or":[` + strings.Join(alternatives, ",") + `]}`
}

// comparisons makes a filter of so many comparisons of texts.
func comparisons(n int) string {
	return among(n,
		func(k int) string { return []string{`"part_id":{"ne":"x"}`, `"note":{"null":true}`}[k] },
		func(i int) string { return fmt.Sprintf(`"title":{"contains":"number %d0000"}`, i+1) })
}

// memberships makes a filter of comparisons with lists of so many texts, each so much longer than need be.
func memberships(listed, longer int) string {
	list := func(i int) string {
		var values []string
		for v := range listed {
			values = append(values, fmt.Sprintf(`"v%d-%d%s"`, i, v, strings.Repeat("x", longer)))
		}
		return "[" + strings.Join(values, ",") + "]"
	}
	return among(mostComparisons,
		func(k int) string {
			return []string{`"_not":{"part_id":{"in":` + list(k) + `}}`, `"grade":{"ne":"poor"}`}[k]
		},
		func(i int) string { return `"title":{"in":` + list(i) + `}` })
}

// addresses makes a filter of comparisons with lists of so many addresses.
func addresses(listed int) string {
	var values []string
	for v := range listed {
		values = append(values, fmt.Sprintf(`"192.168.0.%d"`, v))
	}
	list := "[" + strings.Join(values, ",") + "]"
	return among(mostComparisons,
		func(k int) string { return []string{`"part_id":{"ne":"x"}`, `"note":{"null":true}`}[k] },
		func(int) string { return `"address":{"in":` + list + `}` })
}

// words makes a text of so many words, none of which is in a part.
func words(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("peoplx%d", i))
	}
	return strings.Join(all, " ")
}

// summaries makes as many summaries as are allowed, of the groups of a field.
func summaries(by string) string {
	var all []string
	for i := range mostSummaries {
		all = append(all, fmt.Sprintf(
			`"s%d":{"group_by":%q,"count":true,"sum":"weight","avg":"ratio","min":"title","max":"title"}`, i, by))
	}
	return "{" + strings.Join(all, ",") + "}"
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchHeap keeps the greatest size of the heap until done is closed.
func watchHeap() (peak *atomic.Uint64, done chan struct{}) {
	peak, done = new(atomic.Uint64), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				peak.Store(max(peak.Load(), heapBytes()))
			}
		}
	}()
	return peak, done
}
