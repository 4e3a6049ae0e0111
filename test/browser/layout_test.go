package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/runtime/console"
)

// On a wide screen the header of a console with all pages is one line, and on a narrow one nothing stands beside the
// page.
func TestTheHeaderStandsOnOneLine(t *testing.T) {
	s, b := newSite(t, withAllPages(t)), open(t)
	s.logIn(b, "eve")
	b.look("light", 1280)
	b.visit(s.url)
	lines := run(b, chromedp.Evaluate[int](`new Set([...document.querySelectorAll('.brand, .bar nav a, .who')].
map((e) => e.getBoundingClientRect()).map((at) => Math.round((at.top + at.bottom) / 2))).size`))
	entries := run(b, chromedp.Evaluate[int](`document.querySelectorAll('.bar nav a').length`))
	if lines != 1 || entries != 8 {
		t.Errorf("%d entries and the person stand on %d lines", entries, lines)
	}
	b.look("light", 320)
	b.visit(s.url)
	if wide := run(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > 320 {
		t.Errorf("on 320 pixels the page has %d", wide)
	}
}

// The words in tables break nowhere but at their ends, and those in code where there is no room.
func TestWordsAreWhole(t *testing.T) {
	s, b := newSite(t, func(o *console.Options) {
		observe := o.Observe
		withAllPages(t)(o)
		o.Observe, o.Executions, o.AuditFile = observe, manyExecutions(), recorded(t, 60)
		o.Policy = deciding(t, manyRules())
	}), open(t)
	s.hold(nil)
	s.call(20, 0)
	s.logIn(b, "eve")
	for _, width := range []int64{320, 800, 1280} {
		b.look("light", width)
		for _, page := range []string{"calls", "executions", "agents", "audit", "quotas", "policy", "health"} {
			b.visit(s.url + page)
			if run(b, chromedp.Evaluate[int](`document.querySelectorAll('td, th').length`)) == 0 {
				t.Fatalf("%s has no table", page)
			}
			broken := run(b, chromedp.Evaluate[string](`(() => {
  const broken = [];
  for (const cell of document.querySelectorAll('td, th, .badge')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (node.parentElement.closest('code, details:not([open])')) continue;
      for (const word of node.data.matchAll(/[A-Za-z0-9_]+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (word[0].length < 30 && range.getClientRects().length > 1) broken.push(word[0]);
      }
    }
  }
  return broken.join(' ');
})()`))
			if strings.TrimSpace(broken) != "" {
				t.Errorf("%s, %d pixels wide, breaks %s", page, width, broken)
			}
		}
	}
}
