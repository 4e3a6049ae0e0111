package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/internal/scratch"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
)

var update = flag.Bool("update", false, "make the pictures in docs/pictures anew, and what they show in testdata")

// The size of the pages in pictures, in pixels of CSS, and how many pixels of a picture each of these has.
const (
	pictureWidth  = 880
	pictureHeight = 480 // at least
	pictureScale  = 2
)

// The pictures of the console that the documentation has show what its pages say now.
func TestPictures(t *testing.T) {
	s, b := newSite(t, withAllPages(t)), open(t)
	for _, tt := range pictured(s) {
		t.Run(tt.name, func(t *testing.T) {
			b := &tab{t, b.Tab}
			tt.visit(b)
			holdPictures(b, "console-"+tt.name)
		})
	}
}

// holdPictures compares the page that a tab shows with its pictures: docs/pictures has them in light and dark, and
// testdata/pictures what they say. The pixels are not compared, since they depend on fonts, nor are words that match
// changing.
func holdPictures(b *tab, name string, changing ...string) {
	b.t.Helper()
	root, err := scratch.Root()
	if err != nil {
		b.t.Fatal(err)
	}
	holdText(b.t, name, run(b, chromedp.Text(chromedp.CSS("body"))), changing)
	for _, scheme := range []string{"light", "dark"} {
		b.look(scheme, pictureWidth)
		b.do(chromedp.EmulateViewport(pictureWidth, pictureHeight, chromedp.EmulateScale(pictureScale)))
		run(b, chromedp.FullScreenshot(100)) // the first one may be without what scrolls, which is painted later
		run(b, chromedp.Evaluate[bool](`new Promise((painted) =>
requestAnimationFrame(() => requestAnimationFrame(() => painted(true))))`, awaited))
		shown := run(b, chromedp.FullScreenshot(100))
		file := filepath.Join(root, "docs", "pictures", fmt.Sprintf("%s-%s.png", name, scheme))
		if *update {
			if err := os.WriteFile(file, small(b.t, shown), 0o644); err != nil {
				b.t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			b.t.Fatal(err)
		}
		holdPicture(b.t, file, kept, shown)
	}
}

// holdText compares what a page says with what its picture shows, but for what is another on each day.
func holdText(t *testing.T, name, text string, changing []string) {
	t.Helper()
	for _, of := range append(changing,
		`ask_[A-Z2-7]{26}`, `[0-9A-Z]{5}(-[0-9A-Z]{5}){4}-[0-9A-Z]`, `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
		`\d\d:\d\d(:\d\d)?|\d+ \w+ \d{4}, \d\d:\d\d`, `((a moment|\d+ (s|min|h))\b ?)+`,
	) {
		text = regexp.MustCompile(of).ReplaceAllString(text, "…")
	}
	file := filepath.Join("testdata", "pictures", name+".txt")
	text = strings.TrimSpace(text) + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(kept) {
		t.Errorf("its picture does not show what the page says; go -C test/browser test -run 'Pictures|Demo' -update makes "+
			"it anew:\n%s\nThe picture shows:\n%s", text, kept)
	}
}

// holdPicture compares the size of a picture, and how light it is, with what the browser shows now.
func holdPicture(t *testing.T, file string, kept, shown []byte) {
	t.Helper()
	was, is := decode(t, kept), decode(t, shown)
	if was.Bounds().Dx() != pictureWidth*pictureScale || is.Bounds().Dx() != pictureWidth*pictureScale {
		t.Errorf("%s has the size %v, and is now %v", file, was.Bounds().Max, is.Bounds().Max)
	}
	before, now := was.Bounds().Dy(), is.Bounds().Dy()
	if 10*max(before-now, now-before) > now { // other fonts have lines of other heights
		t.Errorf("%s is %d pixels high, and is now %d", file, before, now)
	}
	if light(was) != light(is) {
		t.Errorf("%s has the colours of the other scheme", file)
	}
}

// small returns a picture in the 128 colours that most of its pixels have, which takes a third of the bytes. Of the
// others, which smooth the edges of letters, each becomes the one that is most like it.
func small(t *testing.T, picture []byte) []byte {
	t.Helper()
	full := decode(t, picture)
	count := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			count[full.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	reduced := image.NewPaletted(full.Bounds(), colours[:min(128, len(colours))])
	draw.Draw(reduced, full.Bounds(), full, image.Point{}, draw.Src)
	var encoded bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&encoded, reduced); err != nil {
		t.Fatal(err)
	}
	return encoded.Bytes()
}

func decode(t *testing.T, picture []byte) image.Image {
	t.Helper()
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// light reports whether the background of a page is light.
func light(picture image.Image) bool {
	at := picture.Bounds().Max
	_, green, _, _ := picture.At(at.X-1, at.Y-1).RGBA()
	return green > 0x7fff
}

// withAllPages gives a console the pages that it has where an adapter has all that it can have, and executions.
func withAllPages(t *testing.T) func(*console.Options) {
	t.Helper()
	import5000 := func(id string, state execution.State, ago time.Duration, current int) aql.Overseen {
		total := 5000
		return aql.Overseen{Caller: ann, Danger: gen.Destructive, Record: &execution.Record{
			ID: "exec_" + id, Operation: "import_notes", State: state, Attempt: 1, Worker: "w_1",
			Created: time.Now().Add(-ago), Progress: &execution.Progress{Current: &current, Total: &total},
		}}
	}
	export := func(id string, state execution.State, ago time.Duration, says string) aql.Overseen {
		bot := identity.Caller{Subject: "release_bot", Issuer: "stdio"}
		return aql.Overseen{Caller: bot, Danger: gen.Safe, Record: &execution.Record{
			ID: "exec_" + id, Operation: "export_notebook", State: state, Attempt: 2, Worker: "w_2",
			Created: time.Now().Add(-ago), Progress: &execution.Progress{Message: says},
		}}
	}
	return func(o *console.Options) {
		o.Observe, o.AuditFile = func(*observe.Hooks) {}, recorded(t, 1)
		o.Health = func(context.Context) setup.Health { return setup.Health{} }
		o.Policy, o.Quotas, o.Agents = deciding(t, nil), used{}, true
		o.Executions = begun{
			export("6", execution.Running, 90*time.Second, "Writing notebook 'work'"),
			import5000("5", execution.Paused, 9*time.Minute, 312),
			export("4", execution.Retrying, 40*time.Minute, "Waiting for the archive"),
			import5000("3", execution.Completed, 3*time.Hour, 5000),
			export("2", execution.Failed, 7*time.Hour, "The archive is full"),
			import5000("1", execution.Cancelled, 26*time.Hour, 1208),
		}
	}
}

// pictured returns the pages of which the documentation has pictures, with what waits on an ordinary day.
func pictured(s *site) []state {
	s.t.Helper()
	asked := func(ago time.Duration, change func(*approve.Question)) string {
		return s.ask(func(q *approve.Question) {
			q.At = time.Now().Add(-ago)
			change(q)
		})
	}
	emptying := asked(12*time.Minute, func(q *approve.Question) {
		q.Operation, q.Danger, q.Caller.Subject = "empty_trash", gen.Dangerous, "release_bot"
		q.Message, q.Reasons = "Empty the trash of notebook 'work'?", []string{"Nobody can restore what was in it"}
		q.Params = `{"notebook":"work","older_than_days":30}`
		q.Needs = approve.Needs{
			Factors: []approve.Factor{{Count: 2, Groups: []string{"ops"}}}, NotRequester: true, Reason: true,
		}
		q.Typing = approve.Typing{Param: "notebook", Value: "work"}
	})
	if _, err := s.inbox.Vote(s.t.Context(), emptying, approve.Vote{
		By: identity.User("bob"), Groups: []string{"ops"}, Channel: approve.Console, Approve: true,
		Reason: "The quarter is closed", Typed: "work", At: time.Now().Add(-5 * time.Minute),
	}); err != nil {
		s.t.Fatal(err)
	}
	asked(8*time.Minute, func(q *approve.Question) {
		q.Kind, q.Execution, q.Params, q.Operation = approve.Enquiry, "exec_1", "", "import_notes"
		q.Message, q.Reasons = "312 of 5,000 notes are there already. Replace them?", nil
	})
	asked(2*time.Minute, func(q *approve.Question) {
		q.Message, q.Params = "Delete note 'Minutes of March'? This cannot be undone.", `{"note_id":"n417","force":true}`
	})
	held := s.hold(nil)
	return []state{
		{"inbox", func(b *tab) { s.logIn(b, "eve") }},
		{"item", func(b *tab) { b.visit(s.at(emptying)) }},
		{"executions", func(b *tab) { b.visit(s.url + "executions") }},
		{"calls", func(b *tab) {
			s.tellCalls()
			b.visit(s.url + "calls")
			b.waitFor("svg.chart")
		}},
		{"code", func(b *tab) {
			b.visit(s.at(held))
			s.showCode(b)
		}},
	}
}

// tellCalls has two other replicas tell of an hour, and of their last calls.
func (s *site) tellCalls() {
	s.t.Helper()
	type row = map[string]any
	now := time.Now()
	last := []row{
		{"operation": "list_notes", "danger": gen.Safe, "effect": observe.Allowed, "took": 2 * time.Millisecond},
		{"operation": "delete_note", "danger": gen.Destructive, "effect": observe.Held, "code": "CONFIRMATION_REQUIRED"},
		{"operation": "create_note", "danger": gen.Reversible, "effect": observe.Allowed, "took": 7 * time.Millisecond},
		{"operation": "empty_trash", "danger": gen.Dangerous, "effect": observe.Denied, "code": "PERMISSION_DENIED"},
		{"operation": "search_notes", "danger": gen.Safe, "effect": observe.Allowed, "took": 31 * time.Millisecond},
		{"operation": "delete_note", "danger": gen.Destructive, "effect": observe.Confirmed, "took": 5 * time.Millisecond},
	}
	for i := range last {
		last[i]["n"], last[i]["at"] = len(last)-i, now.Add(-time.Duration(4*i+1)*time.Second)
		last[i]["subject"], last[i]["issuer"] = ann.Subject, ann.Issuer
		if i%2 == 1 {
			last[i]["subject"], last[i]["issuer"] = "release_bot", "https://id.example.com"
		}
	}
	for replica := range 2 {
		var minutes []row
		drawn := rand.New(rand.NewPCG(7, uint64(replica))) // the same in each picture
		for ago := 57; ago > 0; ago-- {                    // not all 60: the page may be looked at a minute later
			calls := 4 + drawn.IntN(9) + (57-ago)/4
			held, denied := drawn.IntN(3), drawn.IntN(8)/6
			took := make([]int, 36) // by spans of time: those from 1 to 5 ms, and a few of up to 70
			for range calls {
				took[13+drawn.IntN(9)+drawn.IntN(12)/10*drawn.IntN(12)]++
			}
			minutes = append(minutes, row{
				"number": now.Add(-time.Duration(ago)*time.Minute).Unix() / 60, "calls": calls, "failed": held + denied,
				"took": took, "passed": calls / 2, "held": held, "denied": denied,
			})
		}
		var some []row
		for i := replica; i < len(last); i += 2 {
			some = append(some, last[i])
		}
		text, err := json.Marshal(row{
			"host": fmt.Sprintf("adapter-%d", replica+1), "process": 1, "since": now.Add(-26 * time.Hour), "calls": some,
			"minutes": minutes,
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.state.Put(s.t.Context(), fmt.Sprintf("console/live/%d", replica), text, 0, 0); err != nil {
			s.t.Fatal(err)
		}
	}
}
