package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/test/browser"
)

// longest bounds what is done in the browser: what a page never shows is waited for until then.
const longest = 5 * time.Minute

// shown are the pages that are looked at in the browser: the first, and one of each kind of content.
var shown = []string{
	"index.html", "docs/tutorial.html", "docs/tags.html", "docs/errors.html", "docs/performance.html",
	"docs/console.html",
}

// wide is the width of a screen on which a page has everything beside its text, in pixels of CSS.
const wide = 1280

// visitor opens pages of the site in a browser.
type visitor struct {
	*browser.Tab
	address string // of the site
	axe     string // the script of axe-core
	faults  []string
}

// browse opens pages of the site in a browser, in light and dark, on a wide and a narrow screen, and returns what is
// wrong with them. Pictures of them are then in bin/artefacts/pictures/site of the repository.
func browse(ctx context.Context, directory, repository string) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	tab, err := browser.Open(ctx)
	if errors.Is(err, browser.ErrMissing) {
		fmt.Println("  -- the pages are not looked at:", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer tab.Close()
	axe, err := browser.Axe(ctx, filepath.Join(repository, "bin", "axe"))
	if err != nil {
		return nil, err
	}
	pictures := filepath.Join(repository, "bin", "artefacts", "pictures", "site")
	if err := os.MkdirAll(pictures, 0o755); err != nil {
		return nil, err
	}
	server := httptest.NewServer(http.FileServer(http.Dir(directory)))
	defer server.Close()
	b := &visitor{Tab: tab, address: server.URL + "/", axe: axe}
	for _, name := range shown {
		if err := b.look(name, pictures); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := b.search(); err != nil {
		return nil, fmt.Errorf("searching: %w", err)
	}
	if err := b.withoutScript(); err != nil {
		return nil, fmt.Errorf("without script: %w", err)
	}
	return b.faults, nil
}

func (b *visitor) fault(format string, arguments ...any) {
	b.faults = append(b.faults, fmt.Sprintf(format, arguments...))
}

// look checks a page as people see it, in each scheme of colours and on each screen.
func (b *visitor) look(name, pictures string) error {
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{wide, browser.Narrow} {
			file := fmt.Sprintf("%s-%s-%d.png", strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-"), scheme, width)
			if err := b.Look(scheme, width); err != nil {
				return err
			}
			if err := b.Do(chromedp.Navigate(b.address + name)); err != nil {
				return err
			}
			picture, err := browser.Run(b.Tab, chromedp.CaptureScreenshot())
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(pictures, file), picture, 0o644); err != nil {
				return err
			}
			if err := b.judge(fmt.Sprintf("%s, %s, %d pixels wide", name, scheme, width), scheme == "dark"); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge checks the page that is open.
func (b *visitor) judge(at string, dark bool) error {
	isDark, err := browser.Run(b.Tab, chromedp.Evaluate[bool](`document.documentElement.classList.contains('dark')`))
	if err != nil {
		return err
	}
	if isDark != dark {
		b.fault("%s: it has the colours of the other scheme", at)
	}
	faults, err := b.Faults(b.axe)
	if err != nil {
		return err
	}
	for _, fault := range faults {
		b.fault("%s: %s", at, fault)
	}
	unseen, err := browser.Run(b.Tab, chromedp.Evaluate[[]string](fmt.Sprintf(`[...document.images]
		.filter((image) => !image.naturalWidth || image.closest('picture') && !image.currentSrc.includes('%s.'))
		.map((image) => image.currentSrc)`, map[bool]string{true: "-dark", false: "-light"}[dark])))
	if err != nil {
		return err
	}
	for _, picture := range unseen {
		b.fault("%s: it does not show the picture for these colours, but %q", at, picture)
	}
	return b.requests(at)
}

// requests looks for what the page has asked of other hosts.
func (b *visitor) requests(at string) error {
	asked, err := browser.Run(b.Tab, chromedp.Evaluate[[]string](
		`performance.getEntriesByType('resource').map((entry) => entry.name)`))
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		b.fault("%s: it has asked for nothing", at)
	}
	for _, address := range asked {
		if !strings.HasPrefix(address, b.address) && !strings.HasPrefix(address, "data:") {
			b.fault("%s: it has asked for %s", at, address)
		}
	}
	return nil
}

// alive is fulfilled when the script of the site has taken over a page, which may be after its load: what people press
// before does nothing.
const alive = `new Promise((ready) => {
	const look = () => document.querySelector('#app').__vue_app__ ? ready(true) : setTimeout(look, 10)
	look()
})`

// search searches by the keyboard alone, and goes to what is found first.
func (b *visitor) search() error {
	const words, box = "confirmation token", ".VPLocalSearchBox"
	if err := b.Look("light", wide); err != nil {
		return err
	}
	if err := b.Do(chromedp.Navigate(b.address)); err != nil {
		return err
	}
	if _, err := browser.Run(b.Tab, chromedp.Evaluate[bool](alive, chromedp.EvalAwaitPromise)); err != nil {
		return err
	}
	err := b.Do(
		chromedp.WaitVisible(chromedp.CSS(".DocSearch-Button")), chromedp.Focus(chromedp.CSS(".DocSearch-Button")),
		chromedp.KeyEvent("\r"), chromedp.SendKeys(chromedp.CSS(box+" input"), words),
		chromedp.WaitVisible(chromedp.CSS(box+" .result .excerpt")))
	if err != nil {
		return err
	}
	results, err := browser.Run(b.Tab, chromedp.Text(chromedp.CSS(box+" .results")))
	if err != nil {
		return err
	}
	if !strings.Contains(strings.ToLower(results), words) {
		b.fault("a search for %q finds no page with these words:\n%s", words, results)
	}
	err = b.Do(chromedp.SendKeys(chromedp.CSS(box+" input"), "\r"),
		chromedp.WaitNotPresent(chromedp.CSS(box)))
	if err != nil {
		return err
	}
	at, err := browser.Run(b.Tab, chromedp.Location())
	if err != nil {
		return err
	}
	if !strings.Contains(at, ".html#") {
		b.fault("the search leads to %s", at)
	}
	return b.requests("the search")
}

// withoutScript checks that a page without scripts has its text, and links to all others.
func (b *visitor) withoutScript() error {
	if err := b.WithoutScript(); err != nil {
		return err
	}
	if err := b.Do(chromedp.Navigate(b.address + "docs/tags.html")); err != nil {
		return err
	}
	text, err := browser.Run(b.Tab, chromedp.Text(chromedp.CSS("main")))
	if err != nil {
		return err
	}
	if !strings.Contains(text, "A tag has the key aql.") {
		b.fault("without script, docs/tags.html shows\n%s", text)
	}
	links, err := browser.Run(b.Tab, chromedp.AttributesAll(chromedp.CSSAll(".VPSidebar a[href]")))
	if err != nil {
		return err
	}
	if len(links) < len(shown) {
		b.fault("without script, docs/tags.html leads to %d pages", len(links))
	}
	return nil
}
