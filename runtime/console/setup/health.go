package setup

import "time"

// Health is how an adapter is, for the console.
type Health struct {
	// Version is that of the service, and Fingerprint that of its definitions.
	Version, Fingerprint string
	// Checks are the looks at what the adapter depends on, by which it is ready for calls.
	Checks []Check
	// Backlog is what waits in the state, in all processes that share it; nil: it could not be counted.
	Backlog *Backlog
	// Unrecorded is how many records of this process wait until the audit log has stored them.
	Unrecorded int
}

// Check is what became of looking at one of the things that an adapter depends on.
type Check struct {
	Name string        // store, audit, worker; or executions or policy, without which it is ready all the same
	Err  error         // for the log; nil: it is as it should be
	Took time.Duration // of the look
}

// Backlog is what waits in the state of an adapter.
type Backlog struct {
	Approvals           int           // open items of the inbox
	Due, Later, Running int           // executions
	Oldest              time.Duration // for which the oldest one that is due has been; zero: none is
}
