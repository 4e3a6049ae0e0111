package console_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	colour = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)
	paint  = regexp.MustCompile(`(?s)([^{}]+)\{([^{}]*)\}`)
)

// palettes returns the colours of the style sheet: the light ones, and the dark ones.
func palettes(t *testing.T) (style string, light, dark map[string]string) {
	t.Helper()
	text, err := os.ReadFile("assets/console.css")
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "@media (prefers-color-scheme: dark)")
	after, _, _ = strings.Cut(after, "\n}\n")
	read := func(part string) map[string]string {
		colours := make(map[string]string)
		for _, found := range colour.FindAllStringSubmatch(part, -1) {
			colours[found[1]] = found[2]
		}
		return colours
	}
	light, dark = read(before), read(after)
	if !ok || len(light) < 10 || len(light) != len(dark) {
		t.Fatalf("the palettes have %d and %d colours", len(light), len(dark))
	}
	return string(text), light, dark
}

// luminance is that of WCAG 2.2.
func luminance(hex string) float64 {
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		c := float64(value) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(one, two string) float64 {
	a, b := luminance(one), luminance(two)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

// WCAG 2.2, 1.4.3 and 1.4.11: text is read on whatever it stands on, and controls and the focus are seen.
func TestContrast(t *testing.T) {
	_, light, dark := palettes(t)
	for name, colours := range map[string]map[string]string{"light": light, "dark": dark} {
		for text, grounds := range map[string][]string{
			"text":      {"page", "surface", "tint", "agent-tint"},
			"quiet":     {"page", "surface", "tint", "agent-tint"},
			"accent":    {"page", "surface", "tint"},
			"on-accent": {"accent"},
			"good":      {"good-tint", "page", "surface"},
			"warn":      {"warn-tint", "page", "surface"},
			"bad":       {"bad-tint", "page", "surface", "tint"},
			"agent":     {"agent-tint"},
		} {
			for _, ground := range grounds {
				if got := contrast(colours[text], colours[ground]); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, got)
				}
			}
		}
		for _, ground := range []string{"page", "surface"} {
			if got := contrast(colours["control"], colours[ground]); got < 3 {
				t.Errorf("%s: the edge of a control on %s has a contrast of %.2f", name, ground, got)
			}
		}
	}
}

// Colours are those of the palettes, so that the test above has seen them, and what people press is large enough.
func TestStyle(t *testing.T) {
	style, _, _ := palettes(t)
	_, rules, _ := strings.Cut(style, "\n*, ::before")
	if strings.Contains(rules, "#") || strings.Contains(rules, "rgb") || strings.Contains(rules, "outline: none") {
		t.Error("a rule has a colour of its own, or takes the mark of the focus away")
	}
	for _, needed := range []string{":focus-visible", "prefers-reduced-motion", "color-scheme: light dark"} {
		if !strings.Contains(style, needed) {
			t.Errorf("the style sheet has no %s", needed)
		}
	}
	large := map[string]bool{}
	for _, rule := range paint.FindAllStringSubmatch(rules, -1) {
		if strings.Contains(rule[2], "min-height: 44px") {
			for selector := range strings.SplitSeq(rule[1], ",") {
				large[strings.TrimSpace(selector)] = true
			}
		}
	}
	for _, pressed := range []string{
		"button", ".button", "input", "select", ".row h3 a", ".back a", ".bar nav a", ".brand a", "summary",
	} {
		if !large[pressed] {
			t.Errorf("%s is not 44 pixels high", pressed)
		}
	}
}
