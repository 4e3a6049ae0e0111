// Package chaos tests adapters that share their state while all around them fails. Processes of a small service
// (fixture) serve over HTTP and stdio, with their state in SQLite, Redis or PostgreSQL. Clients call them; a plan that
// follows from a seed kills and freezes processes and servers, fills disks, and has connections delayed, held and cut
// by a proxy. Handlers write a journal outside of all that. A model then compares what clients were answered with the
// journal and with the audit log: nothing ran unconfirmed, nothing ran twice, and no answer was wrong.
//
// A seed repeats the plan and what each client does; how the processes interleave is up to the system.
package chaos
