package console

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/words"
)

// verdict says whether the chain of records is as it was written.
type verdict struct {
	Whole      bool
	Says       string
	Broken     string // where, and how
	Head       string
	FirstClock string
	LastClock  string
}

// verdictOf says whether the records are as they were written.
func verdictOf(s *audit.Summary, broken *audit.BrokenError, now time.Time, keyed bool) verdict {
	v := verdict{Whole: broken == nil, Head: s.Head}
	if s.Records > 0 {
		v.FirstClock, v.LastClock = clockOf(s.First, now), clockOf(s.Last, now)
	}
	count := words.Count(int(min(s.Records, 1<<31)), "record")
	switch {
	case broken != nil:
		v.Says = "Verified up to " + count + ". What stands behind that is not as it was written, and is not shown here: " +
			"download it to look at it."
		place := "line " + strconv.Itoa(broken.Line)
		if broken.File != "" {
			place = filepath.Base(broken.File) + ", " + place
		}
		v.Broken = words.Clip(place+": "+string(broken.Fault)+": "+broken.Detail, longestReason)
	case keyed:
		v.Says = "Verified: " + count + ", all of them as they were written with the key."
	default:
		v.Says = "Verified: " + count + ". They were written without a key, so that this shows damage, and not what " +
			"somebody has changed who may write the file."
	}
	return v
}
