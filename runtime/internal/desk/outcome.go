package desk

import (
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/words"
)

// Outcome says what has become of an item after a vote. The item has this name. Times are on the clock of now.
func Outcome(item *approve.Item, name string, now time.Time) string {
	switch item.State {
	case approve.Open:
		return fmt.Sprintf("Your approval of %s counts. %s", name, Then(item, now))
	case approve.Used:
		if Holds(item) {
			return fmt.Sprintf("%s is lifted: %s.", name, released(item))
		}
		return fmt.Sprintf("%s is approved. %s", name, Then(item, now)) // who asks was faster than who reads this
	}
	return fmt.Sprintf("%s is %s. %s", name, item.State, Then(item, now))
}

// Then says what happens next with an item, in a sentence.
func Then(item *approve.Item, now time.Time) string {
	until := Clock(item.Expires, now)
	switch item.State {
	case approve.Approved:
		switch item.Kind {
		case approve.Continuation:
			return fmt.Sprintf("If the caller calls again until %s, all its calls go on until the quota resets.", until)
		case approve.Enquiry:
			return "The execution goes on."
		case approve.Step:
			return fmt.Sprintf("The agent is told so if it reports the action again until %s.", until)
		}
		return fmt.Sprintf("The agent can send its request again until %s; it then runs once.", until)
	case approve.Denied:
		switch item.Kind {
		case approve.Continuation:
			return fmt.Sprintf("Until %s, all calls of the caller that meet the pause are told so.", until)
		case approve.Enquiry:
			return "The execution is told so."
		}
		return "The agent is told so when it sends its request again."
	case approve.Used:
		switch item.Kind {
		case approve.Confirmation:
			return "The agent has sent its request again, and it has run."
		case approve.Continuation:
			return "All calls of the caller go on until the quota resets."
		case approve.Enquiry:
			return "The execution goes on."
		case approve.Step:
			return "The agent has been told so."
		}
		text := released(item)
		return strings.ToUpper(text[:1]) + text[1:] + "."
	}
	return fmt.Sprintf("It still needs %s.", Missing(item))
}

// longestAgent is how much of an agent's name a sentence has, in characters.
const longestAgent = 200

// released says that an agent that was held may go on.
func released(item *approve.Item) string {
	agent := words.Quote(item.Agent, longestAgent, 0)
	if item.Kind == approve.Pause {
		return fmt.Sprintf("execution %s of agent %s is not paused any more", words.Printable(item.Execution), agent)
	}
	return fmt.Sprintf("agent %s is not blocked any more", agent)
}

// Clock is a time for people to read, on the clock of now: with its date, unless that is today.
func Clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		return t.Format(time.DateTime)
	}
	return t.Format(time.TimeOnly)
}
