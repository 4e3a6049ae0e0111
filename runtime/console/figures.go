package console

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/aqltag/aqltag/runtime/console/internal/calls"
	"github.com/aqltag/aqltag/runtime/console/internal/chart"
	"github.com/aqltag/aqltag/runtime/words"
)

// figures are what the last hour comes to, in all replicas.
type figures struct {
	Charts   []figure
	From, To string // on the clock of the console
	Steps    []step
}

// figure is a chart, with what it shows in words.
type figure struct {
	Name, Says string
	Keys       []key
	Drawing    template.HTML
}

// key says what is drawn with a class.
type key struct{ Class, Label string }

// step is a row of the table: some minutes of the last hour.
type step struct {
	From, Half, Most string
	calls.Minute
}

// stepOfTable is how many minutes a row of the table has.
const stepOfTable = 5

// half and most are the shares of calls of which the times are shown.
const half, most = 0.5, 0.95

// figuresOf returns what the last hour comes to; nil: nothing has happened.
func figuresOf(all *doings, now time.Time) *figures {
	hour, first := make([]calls.Minute, calls.Minutes), calls.MinuteOf(now)-calls.Minutes+1
	var sum calls.Minute
	for i := range all.replicas {
		for j := range all.replicas[i].Minutes {
			of := &all.replicas[i].Minutes[j]
			if at := of.Number - first; at >= 0 && at < calls.Minutes {
				hour[at].Add(of)
				sum.Add(of)
			}
		}
	}
	if sum.Calls == 0 && decided(&sum) == 0 {
		return nil
	}
	clock := func(minute int) string {
		return time.Unix((first+int64(minute))*60, 0).In(now.Location()).Format("15:04")
	}
	f := &figures{
		Charts: []figure{drawCalls(hour, &sum), drawTimes(hour, &sum), drawDecisions(hour, &sum)},
		From:   clock(0), To: clock(calls.Minutes),
	}
	for i := 0; i < calls.Minutes; i += stepOfTable {
		row := step{From: clock(i)}
		for j := range stepOfTable {
			row.Add(&hour[i+j])
		}
		if row.Calls > 0 {
			row.Half, row.Most = millis(row.Took.Within(half)), millis(row.Took.Within(most))
		}
		f.Steps = append(f.Steps, row)
	}
	return f
}

// decided returns how often the gate has decided.
func decided(m *calls.Minute) uint64 {
	return uint64(m.Passed) + uint64(m.Held) + uint64(m.Denied) + uint64(m.Undecided)
}

// drawn is what is drawn of each minute.
type drawn struct {
	key
	value func(*calls.Minute) float64
}

// count returns what is drawn of a number of each minute.
func count(class, label string, of func(*calls.Minute) uint32) drawn {
	return drawn{key{class, label}, func(m *calls.Minute) float64 { return float64(of(m)) }}
}

// draw returns the figure of a chart without series.
func draw(c chart.Chart, hour []calls.Minute, all ...drawn) figure {
	f := figure{Name: c.Title, Says: c.Says}
	c.Says += " The numbers are in the table below."
	for _, of := range all {
		s := chart.Series{Class: of.Class}
		for i := range hour {
			s.Values = append(s.Values, of.value(&hour[i]))
		}
		c.Series, f.Keys = append(c.Series, s), append(f.Keys, of.key)
	}
	f.Drawing = c.SVG()
	return f
}

// drawCalls shows how many calls there were.
func drawCalls(hour []calls.Minute, sum *calls.Minute) figure {
	busiest := uint32(0)
	for i := range hour {
		busiest = max(busiest, hour[i].Calls)
	}
	return draw(chart.Chart{
		ID: "chart-calls", Title: "Calls a minute",
		Says: fmt.Sprintf("%s in an hour, %d of them not done, and %d in the busiest minute.",
			words.Count(int(sum.Calls), "call"), sum.Failed, busiest),
	}, hour,
		count("warn", "not done", func(m *calls.Minute) uint32 { return m.Failed }),
		count("good", "done", func(m *calls.Minute) uint32 { return m.Calls - min(m.Failed, m.Calls) }),
	)
}

// drawTimes shows how long calls took. Where there were none there is no time.
func drawTimes(hour []calls.Minute, sum *calls.Minute) figure {
	within := func(share float64) func(*calls.Minute) float64 {
		return func(m *calls.Minute) float64 {
			if m.Calls == 0 {
				return math.NaN()
			}
			return float64(m.Took.Within(share))
		}
	}
	says := "Nothing was answered."
	if sum.Calls > 0 {
		slowest := time.Duration(0)
		for i := range hour {
			slowest = max(slowest, hour[i].Took.Within(most))
		}
		says = fmt.Sprintf("Half of the calls were answered within %s ms, 95 of 100 within %s ms; in the slowest minute "+
			"these took %s ms.", millis(sum.Took.Within(half)), millis(sum.Took.Within(most)), millis(slowest))
	}
	return draw(chart.Chart{ID: "chart-times", Title: "Time to answer", Says: says, Lines: true}, hour,
		drawn{key{"accent", "half"}, within(half)}, drawn{key{"warn dashed", "95 of 100"}, within(most)})
}

// drawDecisions shows what the gate has decided.
func drawDecisions(hour []calls.Minute, sum *calls.Minute) figure {
	says := "Nothing had to be decided."
	if decided(sum) > 0 {
		says = fmt.Sprintf("%d let through, %d held until somebody confirms, %d denied.", sum.Passed, sum.Held, sum.Denied)
	}
	if sum.Undecided > 0 {
		says += fmt.Sprintf(" %d refused, because the state or the audit log failed.", sum.Undecided)
	}
	return draw(chart.Chart{ID: "chart-decisions", Title: "Decisions a minute", Says: says}, hour,
		count("quiet", "not decided", func(m *calls.Minute) uint32 { return m.Undecided }),
		count("bad", "denied", func(m *calls.Minute) uint32 { return m.Denied }),
		count("warn", "held", func(m *calls.Minute) uint32 { return m.Held }),
		count("good", "let through", func(m *calls.Minute) uint32 { return m.Passed }),
	)
}
