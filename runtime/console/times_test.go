package console

import (
	"testing"
	"time"
)

// Pages name the zone of their times so that nobody takes it for another one.
func TestZones(t *testing.T) {
	for want, zone := range map[string]*time.Location{
		"UTC":            time.UTC,
		"CET, UTC+01:00": time.FixedZone("CET", 3600),
		"UTC-03:30":      time.FixedZone("-0330", -12600),
		"UTC+05:45":      time.FixedZone("", 20700),
	} {
		if got := zoneOf(time.Now().In(zone)); got != want {
			t.Errorf("%s is called %q", want, got)
		}
	}
}
