package console

import (
	"fmt"
	"strings"
	"time"
)

// moment is a time on a page: for browsers, on the clock of the console, and how far away it is.
type moment struct{ Machine, Clock, Away string }

// momentOf returns a time as somebody reads it now.
func momentOf(t, now time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	clock := time.TimeOnly
	if local := t.In(now.Location()); local.Format(time.DateOnly) != now.Format(time.DateOnly) {
		clock = "2 January 2006, 15:04"
	}
	return moment{
		Machine: t.UTC().Format(time.RFC3339), Clock: t.In(now.Location()).Format(clock),
		Away: span(max(t.Sub(now), now.Sub(t))),
	}
}

// zoneOf names the zone in which pages have times, which may be another one than that of who reads them.
func zoneOf(now time.Time) string {
	switch name, _ := now.Zone(); {
	case name == "UTC":
		return name
	case name == "", strings.ContainsAny(name, "+-"): // it has no name
		return now.Format("UTC-07:00")
	default:
		return name + now.Format(", UTC-07:00")
	}
}

// span returns a duration as people say it, in the two greatest of its units at most.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "a moment"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 10*time.Minute && d%time.Minute >= time.Second:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour && d%time.Hour >= time.Minute:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}
