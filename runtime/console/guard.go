package console

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// longestForm bounds what a browser may send, in bytes: a reason, a typed value and a few tokens.
	longestForm = 64 << 10
	// formTimeout bounds how long sending it may take.
	formTimeout = 10 * time.Second
)

// headers stand in every answer. Browsers run no script but the console's own, put nothing of it into a frame, send
// forms nowhere else, and keep no copy.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
		"img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
		"trusted-types console",
	"Referrer-Policy":              "no-referrer",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
}

// guard lets a request pass that a browser sends for a page of the console, or for a person who types its address.
func (c *console) guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.refuse(w, r, http.StatusForbidden, "This form came from another site",
			"Nothing was done. Open the console by its own address, and decide there.")
	}))
	protected := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		switch known := slices.ContainsFunc(c.o.Hosts, func(host string) bool { return strings.EqualFold(host, r.Host) }); {
		case !known && !strings.HasPrefix(r.URL.Path, c.o.Path+"/assets/"): // the page that says so looks like the others
			c.refuse(w, r, http.StatusForbidden, "This is not an address of the console",
				"Open it at "+c.o.Hosts[0]+".")
		case r.Method == http.MethodPost && r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "":
			c.refuse(w, r, http.StatusForbidden, "This form came from nowhere",
				"Nothing was done. Browsers say where a form comes from, and this one has not.")
		case !readForm(w, r):
			c.refuse(w, r, http.StatusBadRequest, "This form is not whole",
				"Nothing was done. It did not arrive in time, or is none.")
		default:
			protected.ServeHTTP(w, r)
		}
	})
}

// readForm reads the form of a request, if it has one, and reports whether it could be read. Whoever sends it slowly,
// or without end, has a connection no longer than a browser needs.
func readForm(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	if r.ContentLength != 0 { // net/http ends the deadline with the body
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTimeout)) // where the server has such
	}
	return r.Method != http.MethodPost || r.ParseForm() == nil
}
