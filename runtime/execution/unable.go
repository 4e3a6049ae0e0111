package execution

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// unable is an execution that is due and that this process cannot run.
type unable struct {
	operation string // empty: a later version of the program has written it
	due, seen time.Time
}

const (
	// mostUnable bounds how many of them are known. The queue has those first that have been due for the longest.
	mostUnable = 1000
	// mostNamed is how many operations UnableError names.
	mostNamed = 10
	// unableFor is how long others have to take what this process cannot run, before that is worth a word.
	unableFor = time.Hour
)

// leave notes that what was queued with a key is left to other processes.
func (e *Engine) leave(key, operation string) claimed {
	due, _ := e.dueOf(key)
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.unable[key]; known || len(e.unable) < mostUnable {
		e.unable[key] = unable{operation, due, time.Now()}
	}
	return elsewhere
}

// UnableError says what is due that this process cannot run.
type UnableError struct {
	// Operations are those that this process does not have and whose executions have been due for an hour or longer.
	Operations []string
	// Later is how many executions were written by a later version of the program and have been due for as long.
	Later int
}

// Error names the operations, up to ten of them.
func (e *UnableError) Error() string {
	var says []string
	if n := len(e.Operations); n > 0 {
		names := strings.Join(e.Operations[:min(n, mostNamed)], ", ")
		if n > mostNamed {
			names += fmt.Sprintf(" and %d more", n-mostNamed)
		}
		says = append(says, "executions of operations that this process does not have are due for an hour or longer: "+names)
	}
	if e.Later > 0 {
		says = append(says, fmt.Sprintf(
			"a later version of the program has written executions that are due for an hour or longer: %d", e.Later))
	}
	return strings.Join(says, "; ")
}

// Unable returns an *UnableError where executions are due that this process cannot run, and that others should have
// taken. What it says may be two minutes old.
func (e *Engine) Unable() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	// What is still there is found again at each othersInterval, by the dispatcher as by the queue.
	maps.DeleteFunc(e.unable, func(_ string, u unable) bool { return time.Since(u.seen) > 2*othersInterval })
	var all UnableError
	for _, u := range e.unable {
		switch {
		case e.now().Sub(u.due) < unableFor: // others may still take it
		case u.operation == "":
			all.Later++
		case !slices.Contains(all.Operations, u.operation):
			all.Operations = append(all.Operations, u.operation)
		}
	}
	if len(all.Operations) == 0 && all.Later == 0 {
		return nil
	}
	slices.Sort(all.Operations)
	return &all
}
