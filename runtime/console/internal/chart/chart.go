// Package chart draws small charts as SVG for pages whose policy allows neither scripts nor styles in them. What is
// drawn has classes, whose colours the style sheet of the page has. A chart says in words what it shows, and has no
// numbers: these stand beside it.
package chart

import (
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Width and Height are those of the box in which everything is drawn. Pages stretch it.
const (
	Width  = 320
	Height = 80
)

// Chart is a chart of values over time, from left to right.
type Chart struct {
	// ID is unique on the page: the identifiers of the texts begin with it.
	ID string
	// Title and Says are for people who do not see the chart: what it is, and what it shows.
	Title, Says string
	// Lines draws a line for each series. Otherwise there are bars, those of the series upon each other in their order.
	Lines  bool
	Series []Series
}

// Series is a row of values, with the class that it is drawn with. What is no number of zero or more is not drawn: a
// bar is missing then, and a line interrupted.
type Series struct {
	Class  string
	Values []float64
}

// SVG returns the chart as an element of HTML.
func (c *Chart) SVG() template.HTML {
	var out strings.Builder
	id := template.HTMLEscapeString(c.ID)
	out.WriteString(`<svg class="chart" viewBox="0 0 ` + number(Width) + ` ` + number(Height) +
		`" preserveAspectRatio="none" role="img" aria-labelledby="` + id + `-title ` + id + `-says">` +
		`<title id="` + id + `-title">` + template.HTMLEscapeString(c.Title) + `</title>` +
		`<desc id="` + id + `-says">` + template.HTMLEscapeString(c.Says) + `</desc>` +
		`<path class="axis" d="M0 ` + number(Height) + `H` + number(Width) + `"/>`)
	places := 0
	for _, s := range c.Series {
		places = max(places, len(s.Values))
	}
	draw := c.bars
	if c.Lines {
		draw = c.lines
	}
	for i, path := range draw(places) {
		if path != "" {
			out.WriteString(`<path class="` + template.HTMLEscapeString(c.Series[i].Class) + `" d="` + path + `"/>`)
		}
	}
	out.WriteString(`</svg>`)
	return template.HTML(out.String()) //nolint:gosec // what comes from elsewhere is escaped
}

// drawn reports whether a value is drawn.
func drawn(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// shares returns the values of each series as shares of the greatest one, from 0 to 1; -1: it is not drawn.
func (c *Chart) shares() [][]float64 {
	greatest := 0.0
	for _, s := range c.Series {
		for _, v := range s.Values {
			if drawn(v) {
				greatest = max(greatest, v)
			}
		}
	}
	all := make([][]float64, len(c.Series))
	for i, s := range c.Series {
		all[i] = make([]float64, len(s.Values))
		for j, v := range s.Values {
			switch {
			case !drawn(v):
				all[i][j] = -1
			case v > 0:
				all[i][j] = max(v/greatest, math.SmallestNonzeroFloat64)
			}
		}
	}
	return all
}

// bars returns the path of each series, one upon the other. However small a value is, its bar is seen.
func (c *Chart) bars(places int) []string {
	shares := c.shares()
	below, highest := make([]float64, places), 0.0
	for _, of := range shares {
		for j, share := range of {
			below[j] += max(share, 0)
			highest = max(highest, below[j])
		}
	}
	clear(below)
	room := Height - float64(len(shares)) // each bar can be one high
	step := Width / float64(max(places, 1))
	paths := make([]string, len(shares))
	for i, of := range shares {
		var path strings.Builder
		for j, share := range of {
			if share <= 0 {
				continue
			}
			left, right := float64(j)*step+step*0.1, float64(j+1)*step-step*0.1
			from := below[j]
			below[j] = min(from+max(share/highest*room, 1), Height)
			path.WriteString(at('M', left, Height-from) + "V" + number(Height-below[j]) + "H" + number(right) + "V" +
				number(Height-from) + "Z")
		}
		paths[i] = path.String()
	}
	return paths
}

// lines returns the path of each series, through the middle of its places. A value alone is a short line.
func (c *Chart) lines(places int) []string {
	shares := c.shares()
	step := Width / float64(max(places, 1))
	paths := make([]string, len(shares))
	for i, of := range shares {
		var path strings.Builder
		for j, share := range of {
			x, y := (float64(j)+0.5)*step, Height-1-share*(Height-2)
			before, after := j > 0 && of[j-1] >= 0, j+1 < len(of) && of[j+1] >= 0
			switch {
			case share < 0:
			case before:
				path.WriteString(at('L', x, y))
			case after:
				path.WriteString(at('M', x, y))
			default:
				path.WriteString(at('M', x-step/2, y) + "H" + number(x+step/2))
			}
		}
		paths[i] = path.String()
	}
	return paths
}

// at returns a command of a path that leads to a point.
func at(command byte, x, y float64) string { return string(command) + number(x) + " " + number(y) }

// number returns a coordinate with one digit behind the point at most.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
