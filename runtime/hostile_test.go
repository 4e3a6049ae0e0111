package aql

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// hostileCeiling is what 1,000 requests at the size limit of 1 MiB may take together, in bytes of live and dead objects
// on the heap, beside the requests themselves, which belong to the transport. docs/performance.md gives it.
const hostileCeiling = 512 << 20

// REQ-DE-10: memory is bounded whatever is sent: 1,000 hostile requests at the same time stay under the ceiling, and
// each gets its answer.
func TestMemoryUnderAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var mutex sync.Mutex
	var kept []string // as a service keeps what it is told
	create := noteOperation("create_note", gen.Create, gen.Safe,
		func(_ context.Context, request *noteRequest) (string, error) {
			mutex.Lock()
			defer mutex.Unlock()
			kept = append(kept, request.Title)
			return "", nil
		}, title, tags, labels, anyOf)
	adapter, err := New(gen.NewRegistry([]gen.Handler{create}, noteTypes), Options{Mode: "single"})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	size := adapter.Limits().RequestSize
	attacks := []struct {
		name    string
		request func() string
		want    string
	}{
		{"unknown names", func() string { return fill(size, func(i int) string { return `"n` + strconv.Itoa(i) + `":0` }) },
			"VALIDATION_UNKNOWN_PARAM"},
		{"one long unknown name", func() string {
			return `{"operation":"create_note","params":{"title":"t","` + strings.Repeat("x", size-100) + `":0}}`
		}, "VALIDATION_UNKNOWN_PARAM"},
		{"unknown names with escapes", func() string {
			return fill(size,
				func(i int) string { return `"\u00e9` + strconv.Itoa(i) + `":0` })
		}, "VALIDATION_UNKNOWN_PARAM"},
		{"wrong types", func() string { return longList(size, "tags", "0") }, "VALIDATION_INVALID_TYPE"},
		{"empty objects in a dynamic value", func() string { return nested(size, "{}") }, "success"},
		{"empty lists in a dynamic value", func() string { return nested(size, "[]") }, "success"},
		{"long numbers in a dynamic value", func() string { return nested(size, "12345678901234567890") }, "success"},
		{"strings with escapes in a dynamic value", func() string { return nested(size, `"\n"`) }, "success"},
		{"members of a dynamic value", func() string {
			return `{"operation":"create_note","params":{"title":"t","data":` + members(size-100) + `}}`
		}, "success"},
		{"deep nesting", func() string { return nested(size, strings.Repeat("[", 40)+strings.Repeat("]", 40)) },
			"VALIDATION_PAYLOAD_TOO_LARGE"},
		{"a list that is too long", func() string { return longList(size, "tags", `""`) }, "VALIDATION_PAYLOAD_TOO_LARGE"},
		{"broken at the very end", func() string { return strings.TrimSuffix(nested(size, "{}"), "}") },
			"VALIDATION_MALFORMED_JSON"},
		{"too large", func() string { return strings.Repeat(" ", size+1) }, "VALIDATION_PAYLOAD_TOO_LARGE"},
	}
	requests := make([][]byte, len(attacks))
	for i, attack := range attacks {
		requests[i] = []byte(attack.request())
	}
	runtime.GC()
	base := heap()
	peak, done := watchHeap()
	var callers sync.WaitGroup
	for i := range 1000 {
		callers.Go(func() {
			attack := attacks[i%len(attacks)]
			if reply := session.Call(context.Background(), "mcp_aql", requests[i%len(attacks)]); !bytes.Contains(reply.JSON,
				[]byte(attack.want)) {
				t.Errorf("%s: %.300s", attack.name, reply.JSON)
			}
		})
	}
	callers.Wait()
	close(done)
	took := int64(peak.Load()) - int64(base)
	t.Logf("%d MiB", took>>20)
	if took > hostileCeiling {
		t.Errorf("%d MiB on the heap, over the ceiling of %d", took>>20, hostileCeiling>>20)
	}
}

// fill makes a request of the size whose params hold as many members as fit.
func fill(size int, member func(i int) string) string {
	var request strings.Builder
	request.WriteString(`{"operation":"create_note","params":{"title":"t"`)
	for i := 0; request.Len() < size-50; i++ {
		request.WriteString("," + member(i))
	}
	return request.String() + "}}"
}

// longList makes a request of the size with a parameter that is a long list.
func longList(size int, name, element string) string {
	prefix := `{"operation":"create_note","params":{"title":"t","` + name + `":[`
	count := (size - len(prefix) - 3) / (len(element) + 1)
	if !strings.HasPrefix(element, `"`) {
		count = min(count, 9999)
	}
	return prefix + strings.TrimSuffix(strings.Repeat(element+",", count), ",") + "]}}"
}

// nested makes a request of the size whose dynamic value is a list of lists, each as long as the limit allows.
func nested(size int, element string) string {
	const most = 10_000
	prefix := `{"operation":"create_note","params":{"title":"t","data":[`
	count := (size - len(prefix) - 10) / (len(element) + 1)
	var lists []string
	for count > 0 {
		n := min(count, most)
		lists = append(lists, "["+strings.TrimSuffix(strings.Repeat(element+",", n), ",")+"]")
		count -= n + 1
	}
	return prefix + strings.Join(lists, ",") + "]}}"
}

// members makes an object of about the size.
func members(size int) string {
	var object strings.Builder
	object.WriteByte('{')
	for i := 0; object.Len() < size-30; i++ {
		fmt.Fprintf(&object, `"%d":{},`, i)
	}
	return strings.TrimSuffix(object.String(), ",") + "}"
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchHeap keeps the highest size of the heap until done is closed.
func watchHeap() (peak *atomic.Uint64, done chan struct{}) {
	peak, done = new(atomic.Uint64), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				peak.Store(max(peak.Load(), heap()))
			}
		}
	}()
	return peak, done
}

// A request must not take long to be refused because of what it is refused for: names that are looked up in vain are
// compared with a bounded number of operations and parameters.
func TestSuggestionsAreBounded(t *testing.T) {
	var operations []gen.Handler
	for i := range 2000 {
		operations = append(operations,
			noteOperation("get_note_"+strings.Repeat("x", i%20)+strconv.Itoa(i), gen.Read, gen.Safe, nil, noteID))
	}
	adapter, err := New(gen.NewRegistry(operations, noteTypes), Options{Mode: "single"})
	if err != nil {
		t.Fatal(err)
	}
	allocated := testing.AllocsPerRun(1, func() {
		adapter.NewSession().Call(context.Background(), "mcp_aql", []byte(`{"operation":"get_note_yyyyyy"}`))
	})
	if allocated > 500 {
		t.Errorf("%v allocations for one unknown operation", allocated)
	}
}
