package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

//go:embed pages assets
var files embed.FS

// page is what every page has.
type page struct {
	Title, Name, Path string
	Now, Zone         string // the time at which it was written, and the zone of its times
	Who, CSRF         string // of the person; empty: nobody is known
	Role              string // of a person who may not do everything
	Sections          []link
	Body              any
}

// follows is part of the body of a page that follows what happens.
type follows struct{ Live string } // the address of its events; empty: nothing happens any more

// problem is the body of a page that says why there is nothing else.
type problem struct{ Says, Why string }

// parsePages returns the pages by name, each within the layout.
func parsePages() (map[string]*template.Template, error) {
	const folder = "pages"
	entries, err := files.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the pages: %w", err)
	}
	pages := make(map[string]*template.Template)
	for _, entry := range entries {
		name, _ := strings.CutSuffix(entry.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		pages[name], err = template.New("layout.html").Funcs(template.FuncMap{"count": words.Count}).
			ParseFS(files, folder+"/layout.html", folder+"/parts.html", folder+"/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the page %s: %w", name, err)
		}
	}
	return pages, nil
}

// write writes a page whole, or an error in its place.
func (c *console) write(w http.ResponseWriter, r *http.Request, status int, name, title string, v *visit, body any) {
	now := c.now()
	p := page{
		Title: title, Name: c.o.Name, Path: c.o.Path, Now: now.UTC().Format(time.RFC3339), Zone: zoneOf(now),
		Sections: c.links(name), Body: body,
	}
	if v != nil {
		p.Who, p.CSRF = v.Who.Subject+desk.Called(v.Name), v.csrf
		if v.role != identity.Admin {
			p.Role = string(v.role)
		}
	}
	var text bytes.Buffer
	if err := c.pages[name].Execute(&text, p); err != nil {
		c.o.Logger.ErrorContext(r.Context(), "a page of the console cannot be written", slog.Any("error", err))
		http.Error(w, "the page cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the browser is gone
}

// refuse says why a request is not answered, to whoever has sent it.
func (c *console) refuse(w http.ResponseWriter, r *http.Request, status int, says, why string) {
	c.write(w, r, status, "problem", says, nil, problem{says, why})
}

// fail says that the store or the audit log fails, and logs how.
func (c *console) fail(w http.ResponseWriter, r *http.Request, err error) {
	c.o.Logger.ErrorContext(r.Context(), "the console cannot answer", slog.Any("error", err))
	c.refuse(w, r, http.StatusServiceUnavailable, "The state cannot be reached",
		"It is unknown whether anything was done. Agents wait meanwhile: nothing runs without a decision. The log of the "+
			"adapter says what fails. Try again in a moment.")
}

// showNothing answers for an address without a page.
func (c *console) showNothing(w http.ResponseWriter, r *http.Request, v *visit) {
	c.write(w, r, http.StatusNotFound, "problem", "There is no such page", v,
		problem{"There is no such page", "The address may be mistyped, or of a later version of the console."})
}

// asset is GET /assets/{name}.
func (c *console) asset(w http.ResponseWriter, r *http.Request) {
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
	text, err := files.ReadFile(path.Join("assets", path.Base(r.PathValue("name"))))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(r.PathValue("name"))])
	_, _ = w.Write(text) // the browser is gone
}
