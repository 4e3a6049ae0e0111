package house_test

import (
	"image/png"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shown finds the pictures on a page: with what they are for people who do not see them, or, of the one for the dark,
// without.
var shown = regexp.MustCompile(`!\[([^]]*)\]\(([^)]+)\)|<img src="([^"]+)"[^>]*?\balt="([^"]*)"|srcset="([^"]+)"`)

// Pages show pictures that are there, and say what is on them. Every picture in docs/pictures is one that a page shows,
// in light and dark, and that test/browser makes.
func TestPicturesOfPages(t *testing.T) {
	root, used := repository(t), map[string]bool{}
	for file, text := range pages(t) {
		text = strings.Join(prose(text), "\n")
		for _, match := range shown.FindAllStringSubmatch(text, -1) {
			alt, to, isDark := match[1]+match[4], match[2]+match[3]+match[5], match[5] != ""
			if len(alt) < 20 && !isDark {
				t.Errorf("%s does not say what is on %s", file, to)
			}
			used[path.Join(path.Dir(file), to)] = true
		}
		if count := strings.Count(text, "<img") + strings.Count(text, "!["); count > len(shown.FindAllString(text, -1)) {
			t.Errorf("%s has %d pictures, some of which have no text", file, count)
		}
	}
	kept, err := filepath.Glob(filepath.Join(root, "docs", "pictures", "*"))
	if err != nil || len(kept) < 6 {
		t.Fatalf("there are %d pictures: %v", len(kept), err)
	}
	for _, full := range kept {
		name := "docs/pictures/" + filepath.Base(full)
		if !used[name] {
			t.Errorf("no page shows %s", name)
		}
		delete(used, name)
		light, dark := strings.Replace(name, "-dark.", "-light.", 1), strings.Replace(name, "-light.", "-dark.", 1)
		for _, other := range []string{light, dark} {
			if _, err := os.Stat(filepath.Join(root, other)); err != nil {
				t.Errorf("%s has no counterpart: %v", name, err)
			}
		}
		file, err := os.Open(full)
		if err != nil {
			t.Fatal(err)
		}
		if size, err := png.DecodeConfig(file); err != nil || size.Width < 1200 || size.Height < 600 {
			t.Errorf("%s is no picture that is sharp on every screen: %v, %v", name, size, err)
		}
		file.Close()
		if info, err := os.Stat(full); err != nil || info.Size() > 120<<10 {
			t.Errorf("%s has %d bytes, which is too much for a page", name, info.Size())
		}
	}
	for name := range used {
		t.Errorf("a page shows %s, which is not there", name)
	}
}
