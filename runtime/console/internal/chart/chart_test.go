package chart

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the charts in testdata")

var nan = math.NaN()

// Charts of each kind, as pages have them. -update rewrites the files.
func TestCharts(t *testing.T) {
	var hour []float64
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		hour = append(hour, math.Round(20+15*math.Sin(float64(i)/6)+5*random.Float64()))
	}
	for name, c := range map[string]Chart{
		"bars-empty": {},
		"bars-none":  {Series: []Series{{"done", []float64{0, 0, 0}}}},
		"bars-one":   {Series: []Series{{"done", []float64{7}}}},
		"bars-hour":  {Series: []Series{{"done", hour}}},
		"bars-upon-each-other": {Series: []Series{
			{"done", []float64{4, 0, 2, 1000}}, {"failed", []float64{0, 3, 2, 1}}, {"other", []float64{1}},
		}},
		"bars-huge":     {Series: []Series{{"done", []float64{math.MaxFloat64, 1}}, {"failed", []float64{math.MaxFloat64}}}},
		"bars-no-value": {Series: []Series{{"done", []float64{nan, -1, math.Inf(1), 2}}}},
		"lines-empty":   {Lines: true},
		"lines-one":     {Lines: true, Series: []Series{{"half", []float64{nan, 3, nan}}}},
		"lines-hour":    {Lines: true, Series: []Series{{"half", hour}, {"most", append(hour[30:60:60], hour[:30]...)}}},
		"lines-interrupted": {Lines: true, Series: []Series{
			{"half", []float64{1, 2, nan, nan, 4, nan, 5, 0}},
		}},
		"texts": {
			ID: `a"b`, Title: "<script>alert(1)</script>", Says: `"&' ` + "\u202e",
			Series: []Series{{`x" y`, []float64{1}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ID == "" {
				c.ID, c.Title, c.Says = "c", "Calls a minute", "There is one."
			}
			svg := string(c.SVG())
			check(t, svg)
			file := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(file, []byte(svg+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), svg+"\n"); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the values are, everything is drawn inside the box, and each value above zero is seen.
func FuzzCharts(f *testing.F) {
	values := func(of ...float64) (data []byte) {
		for _, v := range of {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		return data
	}
	f.Add([]byte{}, byte(1), true)
	f.Add(values(1), byte(1), false)
	f.Add(values(1, 2, 3, 4, 5, 6), byte(2), true)
	huge, least := math.MaxFloat64, math.SmallestNonzeroFloat64
	f.Add(values(huge, huge, least, math.Inf(-1), nan, math.Copysign(0, -1)), byte(3), false)
	f.Add(values(make([]float64, 2000)...), byte(2), true)
	f.Fuzz(func(t *testing.T, data []byte, series byte, lines bool) {
		c := Chart{ID: "c", Title: "t", Says: "s", Lines: lines, Series: make([]Series, 1+series%4)}
		above := 0
		for i := 0; len(data) >= 8; i++ {
			v := math.Float64frombits(binary.LittleEndian.Uint64(data))
			data = data[8:]
			s := &c.Series[i%len(c.Series)]
			s.Class, s.Values = "s"+strconv.Itoa(i%len(c.Series)), append(s.Values, v)
			if drawn(v) && v > 0 {
				above++
			}
		}
		svg := string(c.SVG())
		if bars := check(t, svg); !lines && bars != above {
			t.Errorf("%d values above zero, and %d bars", above, bars)
		}
	})
}

var command = regexp.MustCompile(`([A-Z])([^A-Z]*)`)

// check checks that a chart is well-formed, has nothing that the policy of a page forbids, and draws inside its box. It
// returns how many shapes are closed.
func check(t *testing.T, svg string) (closed int) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return closed
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, attribute := range element.Attr {
			name := attribute.Name.Local
			if name == "style" || strings.HasPrefix(name, "on") || name == "href" {
				t.Errorf("%s has the attribute %s", element.Name.Local, name)
			}
			if name == "d" {
				closed += inside(t, attribute.Value)
			}
		}
	}
}

// inside checks that a path is inside the box, and returns how many of its shapes are closed.
func inside(t *testing.T, path string) (closed int) {
	t.Helper()
	if rest := command.ReplaceAllString(path, ""); rest != "" || path == "" {
		t.Errorf("the path %q has %q", path, rest)
	}
	for _, found := range command.FindAllStringSubmatch(path, -1) {
		limits := map[string][]float64{"M": {Width, Height}, "L": {Width, Height}, "H": {Width}, "V": {Height}, "Z": {}}
		fields := strings.Fields(found[2])
		if limits[found[1]] == nil || len(fields) != len(limits[found[1]]) {
			t.Fatalf("the command %q", found[0])
		}
		for i, field := range fields {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || !(v >= 0 && v <= limits[found[1]][i]) {
				t.Errorf("%s leads to %s, %v", found[0], field, err)
			}
		}
		if found[1] == "Z" {
			closed++
		}
	}
	return closed
}
