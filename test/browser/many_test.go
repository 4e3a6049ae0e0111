package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/runtime/approve"
)

// mostElements bounds the elements of a page, however much waits.
const mostElements = 1000

// fill opens items, a hundred of each agent.
func (s *site) fill(from, to int) {
	s.t.Helper()
	for i := from; i < to; i++ {
		s.ask(func(q *approve.Question) {
			q.Caller.Subject = fmt.Sprintf("agent%d", i/100)
			q.Binding[1], q.Binding[2] = byte(i), byte(i>>8)
		})
	}
}

// elements returns how many elements the page has.
func (b *tab) elements() int {
	b.t.Helper()
	return run(b, chromedp.Evaluate[int](`document.getElementsByTagName('*').length`))
}

// loaded returns how long the page took to be there, from the request on.
func (b *tab) loaded() time.Duration {
	b.t.Helper()
	ms := run(b, chromedp.Evaluate[float64](
		`performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd`))
	return time.Duration(ms * float64(time.Millisecond))
}

// Issue 19: with ten thousand items a page has few elements. While ten thousand more come, a page that is open is told
// of them, and seldom. How long the pages take is printed, and not judged.
func TestTenThousandItems(t *testing.T) {
	const many = 10_000
	s := newSite(t)
	s.fill(0, many)
	b := open(t)
	s.logIn(b, "eve")
	var times []time.Duration
	for range 5 {
		b.visit(s.url)
		times = append(times, b.loaded())
	}
	b.visit(s.url + "?danger=destructive")
	t.Logf("pages with %d items are there after %v, one with a filter after %v, with %d elements", many, times, b.loaded(),
		b.elements())
	if n := b.elements(); n > mostElements {
		t.Errorf("the page has %d elements, and %d at most were wanted", n, mostElements)
	}
	b.visit(s.url)
	run(b, chromedp.Evaluate[bool](`window.told = 0;
new EventSource(document.getElementById('main').dataset.live).onmessage = () => { window.told++ }; true`))
	began := time.Now()
	s.fill(many, 2*many)
	b.waitForText(fmt.Sprintf("%d items at", 2*many))
	took := time.Since(began)
	told := run(b, chromedp.Evaluate[int](`window.told`))
	t.Logf("%d items came in %v, and the page was told %d times", many, took, told)
	if told == 0 || float64(told) > 10*took.Seconds() {
		t.Errorf("in %v the page was told %d times", took, told)
	}
	if n := b.elements(); n > mostElements {
		t.Errorf("then the page has %d elements", n)
	}
}
