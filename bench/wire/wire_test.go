package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bytedance/sonic"
	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/bench/wire/service"
)

// All candidates have names of their own and succeed. All but floors have the same result on the same bytes, also when
// they run again.
func TestCandidatesAgree(t *testing.T) {
	for _, benchmark := range Benchmarks() {
		t.Run(benchmark.Name, func(t *testing.T) {
			group := groupFor(t, benchmark)
			// The answers of different protocols differ.
			differ := strings.HasPrefix(benchmark.Name, "call/") || strings.HasPrefix(benchmark.Name, "batch/")
			names := make(map[string]bool)
			var want any
			for _, c := range group.Candidates {
				if names[c.Name] {
					t.Errorf("two candidates are called %s", c.Name)
				}
				names[c.Name] = true
				for range 2 {
					got, err := c.Run()
					if err != nil {
						t.Fatalf("%s: %v", c.Name, err)
					}
					if c.Floor || differ {
						continue
					}
					got = comparable(t, got)
					if want == nil {
						want = got
					}
					if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
						t.Errorf("%s differs from %s (-want +got):\n%s", c.Name, group.Candidates[0].Name, diff)
					}
				}
			}
		})
	}
}

// groupFor returns the candidates of a benchmark until the test ends.
func groupFor(t testing.TB, benchmark Benchmark) Group {
	t.Helper()
	group, err := benchmark.Make(t.Context())
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(group.Close)
	return group
}

// comparable turns JSON into the value it spells.
func comparable(t *testing.T, result any) any {
	t.Helper()
	text, ok := result.(*[]byte)
	if !ok {
		return result
	}
	var value any
	if err := json.Unmarshal(*text, &value); err != nil {
		t.Fatalf("%v in %s", err, *text)
	}
	return value
}

// aql-tag writes a list as the bytes that encoding/json writes.
func TestEncodersWriteTheSameBytes(t *testing.T) {
	group, err := encodeList(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want string
	for _, c := range group.Candidates {
		if c.Floor || c.Name == "sonic" {
			continue
		}
		got, err := c.Run()
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(*got.(*[]byte))
		}
		if diff := cmp.Diff(want, string(*got.(*[]byte))); diff != "" {
			t.Errorf("%s (-aql-tag +got):\n%s", c.Name, diff)
		}
	}
}

// The payloads are as large as the tables say.
func TestPayloadsHaveTheirSizes(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		low, high  int
	}{
		{"small", smallText, 140, 160},
		{"medium", MediumRequest, 1000, 1064},
		{"medium patch", mediumPatch, 980, 1064},
		{"large", largeText(), 64_000, 67_000},
	} {
		if n := len(tt.text); n < tt.low || n > tt.high {
			t.Errorf("%s has %d bytes, not %d to %d", tt.name, n, tt.low, tt.high)
		}
	}
}

// The decoder that is measured is strict: each of these requests differs in one place from one that is accepted.
func TestDecoderRefuses(t *testing.T) {
	decode, err := decoder[service.CreateTodoRequest]("create_todo")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, says string }{
		{"a repeated name", `"estimate":480`, `"estimate":480,"estimate":480`, "twice"},
		{"a repeated name further inside", `"level":7`, `"level":7,"level":7`, "twice"},
		{"a repeated name in a map", `"team":"core"`, `"team":"core","team":"core"`, "twice"},
		{"another case", `"title"`, `"Title"`, "Title"},
		{"another case further inside", `"email"`, `"Email"`, "Email"},
		{"an unknown name", `"urgent":true`, `"urgent":true,"colour":"red"`, "colour"},
		{"an unknown name further inside", `"level":7`, `"level":7,"rank":1`, "rank"},
		{"invalid UTF-8", `Ada Lovelace`, "Ada \xffLovelace", "UTF-8"},
		{"a lone surrogate", `Ada Lovelace`, `Ada \ud800Lovelace`, "surrogate"},
		{"a number above its bound", `"estimate":480`, `"estimate":10001`, "10000"},
		{"a number below its bound", `"estimate":480`, `"estimate":-1`, "minimum"},
		{"a fraction for an integer", `"estimate":480`, `"estimate":1.5`, "integer"},
		{
			"an empty title", `"Write the quarterly report for the board and send it around before the meeting"`, `""`,
			"min_length",
		},
		{"a text that does not match its pattern", `"quarterly-report`, `"Quarterly-report`, "pattern"},
		{"a text that no enum holds", `"high"`, `"High"`, "enum"},
		{"a number for a text", `"core"`, `7`, "string"},
		{"a date that is none", `2026-03-01T`, `2026-02-30T`, "date-time"},
		{"a required name that is absent", `"slug":"quarterly-report-2026-for-the-board",`, ``, "slug"},
		{"something behind the value", `.5Z"}`, `.5Z"}x`, "follows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(MediumRequest, tt.old, tt.new, 1)
			if text == MediumRequest {
				t.Fatal("nothing was changed")
			}
			_, err := decode([]byte(text))
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("refused with %q, which does not contain %q", err, tt.says)
			}
		})
	}
}

// sonic runs its own code.
func TestSonicIsSonic(t *testing.T) {
	if sonic.APIKind != sonic.UseSonicJSON {
		t.Error(errNoSonic)
	}
}

// BenchmarkWire is for profiles of single candidates, such as
//
//	go test -run '^$' -bench 'Wire/decode/medium/aql-tag$' -cpuprofile cpu.out
func BenchmarkWire(b *testing.B) {
	for _, benchmark := range Benchmarks() {
		b.Run(benchmark.Name, func(b *testing.B) {
			for _, c := range groupFor(b, benchmark).Candidates {
				b.Run(c.Name, func(b *testing.B) { Measure(b, c) })
			}
		})
	}
}
