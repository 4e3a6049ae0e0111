package codec_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// benchRequest is a request of ten fields, one of every common kind.
type benchRequest struct {
	Title    string
	Notes    string
	Slug     string
	Priority string
	Estimate int
	Urgent   bool
	Tags     []string
	Owner    benchOwner
	Labels   map[string]string
	DueAt    time.Time
}

type benchOwner struct {
	Name  string
	Email string
	Level int
}

// benchDocument takes 1 KB.
const benchDocument = `{"title":"Write the quarterly report for the board and send it around before the meeting",` +
	`"notes":"Ask Ada for ` +
	`the numbers first: she has the ledger, Grace the exchange rates.\nWhat the auditors called \"open\" in spring ` +
	`gets a table of its own, with a column for the answer, one for who gave it and one for the day; whatever has ` +
	`none by then is marked and comes back in the next report. Keep last year's figures in the appendix, line by ` +
	`line, so that nobody has to look for them in the archive again. Send a draft to the three of them on Friday; ` +
	`what they have not answered by Monday noon counts as agreed upon, and is printed.",` +
	`"slug":"quarterly-report-2026-for-the-board","priority":"high","estimate":480,"urgent":true,"tags":["work",` +
	`"finance","board","quarterly","report","auditors"],"owner":{"name":"Ada Lovelace",` +
	`"email":"ada.lovelace@example.org","level":7},"labels":{"team":"core","cost_centre":"4711","region":"emea",` +
	`"stage":"draft","audience":"board and auditors","source":"ledger"},"due_at":"2026-03-01T09:00:00.5Z"}`

func benchRequestCodec(tb testing.TB) *codec.Request {
	tb.Helper()
	set := codec.NewSet([]gen.Type{{Name: "Owner", Kind: gen.KindObject, Fields: []gen.Param{
		{Name: "name", Type: "string", Go: "Name", Required: true, MaxLength: 80},
		{Name: "email", Type: "string", Go: "Email", MaxLength: 120},
		{Name: "level", Type: "integer", Go: "Level", Minimum: "0", Maximum: "10"},
	}}})
	request, err := set.Request(reflect.TypeFor[benchRequest](), &gen.Operation{
		Name: "bench", Category: gen.Create,
		Params: []gen.Param{
			{Name: "title", Type: "string", Go: "Title", Required: true, MinLength: 1, MaxLength: 200},
			{Name: "notes", Type: "string", Go: "Notes", MaxLength: 4000},
			{Name: "slug", Type: "string", Go: "Slug", Required: true, Pattern: "^[a-z][a-z0-9-]{2,62}$"},
			{Name: "priority", Type: "string", Go: "Priority", Enum: []string{"low", "medium", "high"}, Default: `"medium"`},
			{Name: "estimate", Type: "integer", Go: "Estimate", Minimum: "0", Maximum: "10000"},
			{Name: "urgent", Type: "boolean", Go: "Urgent", Default: "false"},
			{Name: "tags", Type: "array", Go: "Tags", Items: &gen.Param{Type: "string"}, MaxItems: 20},
			{Name: "owner", Type: "Owner", Go: "Owner"},
			{Name: "labels", Type: "object", Go: "Labels", Items: &gen.Param{Type: "string"}},
			{Name: "due_at", Type: "string", Format: "date-time", Go: "DueAt"},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return request
}

// listedRequest is a request with many lists of strings.
type listedRequest struct{ Items []listedItem }

type listedItem struct {
	Name string
	Tags []string
}

// readLists reads a request with lists of three tags.
func readLists(tb testing.TB, lists int) func() {
	tb.Helper()
	set := codec.NewSet([]gen.Type{{Name: "Item", Kind: gen.KindObject, Fields: []gen.Param{
		{Name: "name", Type: "string", Go: "Name", Required: true},
		{Name: "tags", Type: "array", Go: "Tags", Items: &gen.Param{Type: "string"}},
	}}})
	request, err := set.Request(reflect.TypeFor[listedRequest](), &gen.Operation{Name: "bench", Params: []gen.Param{
		{Name: "items", Type: "array", Go: "Items", Items: &gen.Param{Type: "Item"}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	const item = `{"name":"Desk lamp","tags":["steel","spring delivery","hall A"]}`
	text := `{"items":[` + strings.Repeat(item+",", lists-1) + item + `]}`
	r := wire.NewReader("", wire.Limits{})
	return func() {
		r.Reset(text, wire.Limits{})
		value := new(listedRequest)
		var given codec.Given
		r.Object()
		for more := true; more; {
			_, more = request.Next(r, unsafe.Pointer(value), &given)
		}
		if last := value.Items[lists-1].Tags; !r.OK() || len(value.Items) != lists || len(last) != 3 || cap(last) != 3 {
			tb.Fatal(r.Fault(), r.Problems(), value)
		}
	}
}

// D4: lists of strings share memory.
func TestListsOfStringsTakeFewAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(100, readLists(t, 600)); n > 45 {
		t.Errorf("600 lists take %g allocations", n)
	}
	if n := testing.AllocsPerRun(100, readLists(t, 1)); n > 4 {
		t.Errorf("one list takes %g allocations", n)
	}
}

func BenchmarkLists(b *testing.B) {
	read := readLists(b, 600)
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
}

// BenchmarkRequest decodes and checks a request of 1 KB, beside the floor that encoding/json sets by looking at the
// syntax.
func BenchmarkRequest(b *testing.B) {
	text := []byte(benchDocument)
	b.Run("aql", func(b *testing.B) {
		request := benchRequestCodec(b)
		limits := wire.Limits{MaxStringLength: 1 << 20, MaxArrayElements: 10_000, MaxDepth: 32}
		r := wire.NewReader("", limits)
		b.ReportAllocs()
		for b.Loop() {
			r.ResetBytes(text, limits)
			value := new(benchRequest)
			var given codec.Given
			r.Object()
			for more := true; more; {
				_, more = request.Next(r, unsafe.Pointer(value), &given)
			}
			request.Complete(r, unsafe.Pointer(value), &given)
			if r.End(); !r.OK() {
				b.Fatal(r.Fault(), r.Problems())
			}
		}
	})
	b.Run("json.Valid", func(b *testing.B) {
		for b.Loop() {
			if !json.Valid(text) {
				b.Fatal("not valid")
			}
		}
	})
}
