package browser

import (
	"bytes"
	"context"
	_ "embed" // the packages of npm
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The packages that npm fetches.
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
)

// Axe returns the script of axe-core, which npm fetches into a folder where it is not there yet.
func Axe(ctx context.Context, folder string) (string, error) {
	script := filepath.Join(folder, "node_modules", "axe-core", "axe.min.js")
	locked := filepath.Join(folder, "package-lock.json")
	there, _ := os.ReadFile(locked)
	if text, err := os.ReadFile(script); err == nil && bytes.Equal(there, lock) {
		return string(text), nil
	}
	npm, err := Find("npm", "npm")
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(filepath.Join(folder, "node_modules")); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), manifest, 0o644); err != nil {
		return "", err
	}
	if err := os.WriteFile(locked, lock, 0o644); err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, npm, "ci", "--no-audit", "--no-fund", "--silent")
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	text, err := os.ReadFile(script)
	return string(text), err
}

// Faults returns what axe-core, whose script is given, finds on the page that is open against WCAG 2.2 at level AA, and
// against its rules with other tags, such as best-practice; and that the page is wider than the screen.
func (b *Tab) Faults(axe string, tags ...string) ([]string, error) {
	over, err := Run(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
	if err != nil {
		return nil, err
	}
	if _, err := Run(b, chromedp.Evaluate[bool](axe+";true")); err != nil {
		return nil, err
	}
	tags = append([]string{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"}, tags...)
	faults, err := Run(b, chromedp.Evaluate[[]string](`axe.run({runOnly: ['`+strings.Join(tags, "', '")+`']})
		.then((found) => found.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' ')))`, awaited))
	if err != nil {
		return nil, err
	}
	if over > 0 {
		faults = append(faults, fmt.Sprintf("it is %d pixels wider than the screen", over))
	}
	return faults, nil
}

// awaited has the value of a promise as the result, and not a reference to it.
func awaited(p *runtime.EvaluateParams) {
	chromedp.EvalAwaitPromise(p)
	chromedp.EvalAsValue(p)
}
