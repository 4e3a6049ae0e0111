package browser

import (
	"context"
	"fmt"
	"os"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Tab is a tab of a browser.
type Tab struct {
	ctx  context.Context // of chromedp
	stop func()
}

// Open starts a browser with an empty profile and further options, and opens a tab. Hosts below .example are this
// machine. An error wraps [ErrMissing] where there is no browser, and none is demanded.
func Open(ctx context.Context, more ...chromedp.ExecAllocatorOption) (*Tab, error) {
	path, err := Find("chromium-headless-shell", "chromium-headless-shell", "chromium", "google-chrome")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"))
	options = append(options, more...)
	if os.Getuid() == 0 { // the sandbox of chromium refuses to run as root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	return newTab(ctx, stop)
}

// Another opens another tab of the same person.
func (b *Tab) Another() (*Tab, error) { return newTab(b.ctx, func() {}) }

func newTab(parent context.Context, end func()) (*Tab, error) {
	ctx, stop := chromedp.NewContext(parent)
	b := &Tab{ctx, func() { stop(); end() }}
	if err := b.Do(chromedp.EmulateViewport(Wide, height)); err != nil {
		b.Close()
		return nil, fmt.Errorf("opening a tab: %w", err)
	}
	return b, nil
}

// Close closes the tab; the first one closes the browser, and waits for its end.
func (b *Tab) Close() { b.stop() }

// Context returns the context in which steps of chromedp are done in the tab.
func (b *Tab) Context() context.Context { return b.ctx }

// Do does steps one after the other.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(b.ctx, steps...) }

// Run does one step that has a result.
func Run[T any](b *Tab, step chromedp.Action[T]) (T, error) { return chromedp.Run(b.ctx, step) }

// The widths of screens, and the height of all, in pixels of CSS.
const (
	Wide   = 1100
	Narrow = 390
	height = 800
)

// Look has pages in one scheme of colours, light or dark, on a screen of a width. Nothing moves on them, so no picture
// has colours that still change.
func (b *Tab) Look(scheme string, width int64) error {
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	if err != nil {
		return err
	}
	return b.Do(chromedp.EmulateViewport(width, height))
}

// WithoutScript has pages that are opened from now on run no scripts.
func (b *Tab) WithoutScript() error {
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
}
