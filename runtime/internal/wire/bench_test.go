package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// task is a struct with every common kind of field. Its fields have constraints.
type task struct {
	Title    string            `json:"title"`
	Notes    string            `json:"notes"`
	Code     string            `json:"code"`
	Priority string            `json:"priority"`
	Done     bool              `json:"done"`
	DueAt    time.Time         `json:"due_at"`
	Tags     []string          `json:"tags"`
	Estimate int64             `json:"estimate"`
	Ratio    float64           `json:"ratio"`
	Metadata metadata          `json:"metadata"`
	Labels   map[string]string `json:"labels"`
	Scores   []int64           `json:"scores"`
}

type metadata struct {
	Color string `json:"color"`
	Owner string `json:"owner"`
	Level int64  `json:"level"`
}

var document = `{"title":"Write the quarterly report","notes":"` +
	strings.Repeat("Ask Ada for the numbers first. ", 20) +
	`","code":"AB-1234","priority":"high","done":false,"due_at":"2026-03-01T09:00:00Z",` +
	`"tags":["work","finance","ada","q1","report"],` +
	`"estimate":90,"ratio":0.75,"metadata":{"color":"red","owner":"ada","level":3},` +
	`"labels":{"team":"core","year":"2026","area":"finance",` +
	`"state":"open","region":"emea"},"scores":[1,22,333,4444,55555,666666,7777777]}`

var (
	standard   = Limits{MaxStringLength: 1 << 20, MaxArrayElements: 10_000, MaxDepth: 32}
	priorities = []string{"low", "medium", "high"}
	taskNames  = []string{
		"title", "notes", "code", "priority", "done", "due_at", "tags", "estimate", "ratio", "metadata", "labels", "scores",
	}
)

// readTask reads a task as the decoders of package codec do.
func readTask(r *Reader, v *task) {
	if !r.Object() {
		return
	}
	titled := false
	for r.Next() {
		switch r.Name() {
		case "title":
			titled = true
			if s, ok := r.String(); ok && r.MinLength(s, 1) && r.MaxLength(s, 200) {
				v.Title = s
			}
		case "notes":
			if s, ok := r.String(); ok && r.MaxLength(s, 4000) {
				v.Notes = s
			}
		case "code":
			if s, ok := r.String(); ok && r.MaxLength(s, 20) {
				v.Code = s
			}
		case "priority":
			if s, ok := r.String(); ok && r.Enum(s, priorities) {
				v.Priority = s
			}
		case "done":
			v.Done, _ = r.Bool()
		case "due_at":
			v.DueAt, _ = r.Time()
		case "tags":
			v.Tags = readStrings(r, v.Tags[:0])
		case "estimate":
			if n, ok := r.Int(0); ok && Min(r, n, 0) && Max(r, n, 10_000) {
				v.Estimate = n
			}
		case "ratio":
			v.Ratio, _ = r.Float(64)
		case "metadata":
			readMetadata(r, &v.Metadata)
		case "labels":
			if v.Labels == nil {
				v.Labels = map[string]string{}
			}
			if r.Object() {
				for r.Next() {
					name := r.Name()
					v.Labels[name], _ = r.String()
				}
			}
		case "scores":
			v.Scores = v.Scores[:0]
			if r.Array() {
				for r.NextElement() {
					n, _ := r.Int(0)
					v.Scores = append(v.Scores, n)
				}
				r.MaxItems(len(v.Scores), 10)
			}
		default:
			r.Unknown(taskNames)
		}
	}
	if !titled {
		r.Missing("title", "string")
	}
}

func readStrings(r *Reader, v []string) []string {
	if r.Array() {
		for r.NextElement() {
			s, _ := r.String()
			v = append(v, s)
		}
		r.MaxItems(len(v), 20)
	}
	return v
}

func readMetadata(r *Reader, v *metadata) {
	if !r.Object() {
		return
	}
	for r.Next() {
		switch r.Name() {
		case "color":
			v.Color, _ = r.String()
		case "owner":
			v.Owner, _ = r.String()
		case "level":
			v.Level, _ = r.Int(0)
		default:
			r.Unknown(nil)
		}
	}
}

func writeTask(w *Writer, v *task) {
	w.BeginObject()
	w.Key("title")
	w.String(v.Title)
	w.Key("notes")
	w.String(v.Notes)
	w.Key("code")
	w.String(v.Code)
	w.Key("priority")
	w.String(v.Priority)
	w.Key("done")
	w.Bool(v.Done)
	w.Key("due_at")
	w.Time(v.DueAt)
	w.Key("tags")
	w.BeginArray()
	for _, tag := range v.Tags {
		w.Element()
		w.String(tag)
	}
	w.EndArray()
	w.Key("estimate")
	w.Int(v.Estimate)
	w.Key("ratio")
	w.Float(v.Ratio, 64)
	w.Key("metadata")
	w.BeginObject()
	w.Key("color")
	w.String(v.Metadata.Color)
	w.Key("owner")
	w.String(v.Metadata.Owner)
	w.Key("level")
	w.Int(v.Metadata.Level)
	w.EndObject()
	w.Key("labels")
	w.BeginObject()
	for _, name := range sortedKeys(v.Labels) {
		w.KeyEscaped(name)
		w.String(v.Labels[name])
	}
	w.EndObject()
	w.Key("scores")
	w.BeginArray()
	for _, score := range v.Scores {
		w.Element()
		w.Int(score)
	}
	w.EndArray()
	w.EndObject()
}

// BenchmarkRead reads 1 KB with all checks, and with encoding/json, which makes fewer.
func BenchmarkRead(b *testing.B) {
	data := []byte(document)
	measure := func(name string, read func() bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				if !read() {
					b.Fatal("refused")
				}
			}
		})
	}
	var r Reader
	var into task
	measure("wire/typed", func() bool {
		r.Reset(document, standard)
		readTask(&r, &into)
		r.End()
		return r.OK()
	})
	measure("wire/Skip", func() bool {
		r.Reset(document, standard)
		r.Skip()
		r.End()
		return r.OK()
	})
	measure("wire/Any", func() bool {
		r.Reset(document, standard)
		_, ok := r.Any()
		r.End()
		return ok && r.OK()
	})
	measure("json.Valid", func() bool { return json.Valid(data) })
	measure("json.Unmarshal/typed", func() bool {
		var v task
		return json.Unmarshal(data, &v) == nil && v.Title != ""
	})
	measure("json.Unmarshal/any", func() bool {
		var v any
		return json.Unmarshal(data, &v) == nil
	})
}

func BenchmarkWrite(b *testing.B) {
	var v task
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		b.Fatal(err)
	}
	b.Run("wire", func(b *testing.B) {
		var w Writer
		buf := make([]byte, 0, 2048)
		b.ReportAllocs()
		for b.Loop() {
			w.Reset(buf)
			writeTask(&w, &v)
		}
	})
	b.Run("json.Marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(&v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Canonical(buf[:0], document)
	}
}

// The reader allocates nothing but strings without their escapes, also for integers in other spellings (REQ-VO-05).
func TestNoAllocation(t *testing.T) {
	var r Reader
	into := task{Labels: map[string]string{}, Tags: make([]string, 0, 8), Scores: make([]int64, 0, 8)}
	for name, tt := range map[string]struct {
		input string
		read  func()
	}{
		"typed":               {document, func() { readTask(&r, &into) }},
		"skipped":             {document, func() { r.Skip() }},
		"skipped escapes":     {`["\u00e9\n","\"` + strings.Repeat("x", 5000) + `"]`, func() { r.Skip() }},
		"integral spellings":  {`[1.0,1e2,100e-2,9223372036854775807,-0.0]`, func() { readInts(&r) }},
		"a hundred members":   {manyMembers(100), func() { r.Skip() }},
		"nested to the limit": {strings.Repeat("[", 32) + strings.Repeat("]", 32), func() { r.Skip() }},
	} {
		read := func() {
			r.Reset(tt.input, standard)
			tt.read()
			r.End()
		}
		read()
		if !r.OK() {
			t.Errorf("%s: %v, %v", name, r.Fault(), r.Problems())
		}
		if allocations := testing.AllocsPerRun(20, read); allocations > 0 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}

func readInts(r *Reader) {
	if r.Array() {
		for r.NextElement() {
			r.Int(64)
		}
	}
}
