package main

import (
	"fmt"
	"strings"
	"time"
)

// report is all that was measured.
type report struct {
	heading string
	results results
	stdio   allocated
	handler allocated
	memory  *memory // nil: it was not measured
	note    string
}

// target is a bound of the project's.
type target struct {
	quantity string
	wanted   string
	measured string
	met      bool
}

// atLeast are how many times as much processor time as aql-tag a peer has to take, and atMost how many times as much as
// net/http aql-tag may take.
var atLeast = map[string]map[string]float64{
	"stdio": {sdk: 8, mcpGo: 4, typeScript: 3},
	"HTTP":  {sdk: 5, mcpGo: 2.5},
}

const (
	atMostBare     = 1.8
	atMostAllocs   = 20
	atMostBytes    = 8 << 10
	atMostLatency  = 40 * time.Microsecond
	atMostResident = 30 << 20
	atMostSession  = 18 << 10
)

// targets compares what was measured with the bounds.
func (r *report) targets() []target {
	var all []target
	for _, t := range transports() {
		for _, peer := range t.peers {
			bound := atLeast[t.name][peer]
			cells, measured := r.results[t.name][peer]
			if !measured {
				continue
			}
			for _, n := range outstanding {
				at := fmt.Sprintf("%s, %d at once: ", t.name, n)
				switch ratio := cells[n].ratio; {
				case bound > 0:
					all = append(all, target{
						at + peer + " takes, of aql-tag's processor time", fmt.Sprintf(">= %.1f×", bound),
						fmt.Sprintf("%.1f×", ratio), ratio >= bound,
					})
				case peer == bare && t.name == "HTTP":
					all = append(all, target{
						at + "aql-tag takes, of net/http's", fmt.Sprintf("<= %.1f×", atMostBare), fmt.Sprintf("%.1f×", 1/ratio),
						1/ratio <= atMostBare,
					})
				}
			}
		}
	}
	for _, a := range []struct {
		of string
		allocated
	}{{"stdio", r.stdio}, {"the HTTP handler", r.handler}} {
		all = append(all,
			target{
				a.of + ": allocations of a call", fmt.Sprint("<= ", atMostAllocs), fmt.Sprint(a.allocs),
				a.allocs <= atMostAllocs,
			},
			target{
				a.of + ": bytes that a call allocates", fmt.Sprint("<= ", atMostBytes), fmt.Sprint(a.bytes),
				a.bytes <= atMostBytes,
			})
	}
	latency := r.results["stdio"][ours][1].latency
	all = append(all, target{"stdio, 1 at once: median time of a call", "<= " + atMostLatency.String(),
		latency.Round(100 * time.Nanosecond).String(), latency <= atMostLatency})
	if m := r.memory; m != nil {
		all = append(all,
			target{
				"stdio: resident memory after a million calls", "<= 30 MiB",
				fmt.Sprintf("%.1f MiB", float64(m.after)/(1<<20)), m.after <= atMostResident,
			},
			target{
				"HTTP: memory of a session", "<= 18 KiB", fmt.Sprintf("%.1f KiB", float64(m.session)/(1<<10)),
				m.session <= atMostSession,
			})
	}
	return all
}

// markdown writes the report.
func (r *report) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", r.heading)
	for _, t := range transports() {
		cells := r.results[t.name]
		if cells == nil {
			continue
		}
		const columns = "1 at once | 8 at once | 64 at once | median time of a call, 1 at once |\n|---|---|---|---|---|\n"
		fmt.Fprintf(&out, "\n| %s | %s", t.name, columns)
		for _, peer := range t.peers {
			if _, measured := cells[peer]; !measured {
				continue
			}
			fmt.Fprintf(&out, "| %s |", peer)
			for _, n := range outstanding {
				c := cells[peer][n]
				fmt.Fprintf(&out, " %s", short(c.cpu))
				if peer != ours {
					fmt.Fprintf(&out, ", %s×", short(c.ratio))
				}
				out.WriteString(" |")
			}
			fmt.Fprintf(&out, " %s |\n", short(float64(cells[peer][1].latency.Nanoseconds())/1000))
		}
	}
	out.WriteString("\n| target | wanted | measured | |\n|---|---|---|---|\n")
	for _, t := range r.targets() {
		verdict := "missed"
		if t.met {
			verdict = "met"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", t.quantity, t.wanted, t.measured, verdict)
	}
	if r.note != "" {
		fmt.Fprintf(&out, "\n%s\n", r.note)
	}
	return out.String()
}

// short returns a number with two or three digits.
func short(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// The markers between which the table stands in a page.
const (
	begin = "<!-- made by make bench-call -->\n"
	end   = "<!-- end of what make bench-call made -->"
)

// put returns a page with the table between its markers.
func put(page, table string) (string, error) {
	head, rest, begins := strings.Cut(page, begin)
	_, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return "", fmt.Errorf("the page has not both of the markers %q and %q", begin, end)
	}
	return head + begin + "\n" + table + "\n" + end + tail, nil
}
