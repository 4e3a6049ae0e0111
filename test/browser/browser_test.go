package browser

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// longest bounds each test: what a page never shows is waited for until then.
const longest = 5 * time.Minute

// need skips a test where a program is missing, or fails where it is demanded.
func need(t *testing.T, err error) {
	t.Helper()
	switch {
	case errors.Is(err, ErrMissing):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

// tab is a tab of a browser, in a test.
type tab struct {
	t *testing.T
	*Tab
}

// open starts a browser, with an empty profile and further options, and opens a tab.
func open(t *testing.T, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), longest)
	t.Cleanup(stop)
	b, err := Open(ctx, more...)
	need(t, err)
	t.Cleanup(b.Close)
	return &tab{t, b}
}

// another opens another tab of the same person.
func (b *tab) another() *tab {
	b.t.Helper()
	other, err := b.Another()
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(other.Close)
	return &tab{b.t, other}
}

// do does steps one after the other.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := b.Do(steps...); err != nil {
		b.t.Fatalf("%v; the page is:\n%s", err, b.source())
	}
}

// run runs one step that has a result.
func run[T any](b *tab, step chromedp.Action[T]) T {
	b.t.Helper()
	value, err := Run(b.Tab, step)
	if err != nil {
		b.t.Fatalf("%v; the page is:\n%s", err, b.source())
	}
	return value
}

// source returns the page for messages.
func (b *tab) source() string {
	ctx, stop := context.WithTimeout(context.WithoutCancel(b.Context()), 2*time.Second)
	defer stop()
	text, err := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS("html")))
	if err != nil {
		return err.Error()
	}
	return text
}

// text returns the text of an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return run(b, chromedp.TextContent(chromedp.CSS(selector)))
}

// waitFor waits until an element is there that matches a selector.
func (b *tab) waitFor(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitReady(chromedp.CSS(selector)))
}

// waitForText waits until there is a text in the page.
func (b *tab) waitForText(text string) {
	b.t.Helper()
	b.do(chromedp.WaitReady(`//body[contains(normalize-space(.), "` + text + `")]`))
}

// click clicks on an element.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// types types into a field.
func (b *tab) types(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// visit opens an address.
func (b *tab) visit(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// look has the pages in one colour scheme, on a screen of a width.
func (b *tab) look(scheme string, width int64) {
	b.t.Helper()
	if err := b.Look(scheme, width); err != nil {
		b.t.Fatal(err)
	}
}

// hasNo fails the test if the page has a text, or cannot be read.
func (b *tab) hasNo(text string) {
	b.t.Helper()
	if page := run(b, chromedp.OuterHTML(chromedp.CSS("html"))); strings.Contains(page, text) {
		b.t.Errorf("the page has %q:\n%s", text, page)
	}
}
