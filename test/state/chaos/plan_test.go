package chaos

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// step is a part of the plan: what fails at the same time, until clients have made some calls.
type step struct {
	faults []fault
	calls  int // that are answered meanwhile
}

// fault is something that fails.
type fault struct {
	name   string
	on     string // the process
	least  time.Duration
	begin  func(w *world) (end func())
	counts string
}

func (s step) String() string {
	var all []string
	for _, f := range s.faults {
		all = append(all, f.name)
	}
	if len(all) == 0 {
		all = []string{"nothing"}
	}
	return fmt.Sprintf("%s; for %d calls", strings.Join(all, ", "), s.calls)
}

// planner chooses steps.
type planner struct {
	random *rand.Rand
	long   bool // processes may stand still for the longest of the times that anything waits
	quiet  bool // nothing fails
}

// next returns the next step for a world.
func (p *planner) next(w *world) step {
	s := step{calls: 5 + p.random.IntN(30)}
	on := make(map[string]bool)
	for n := p.random.IntN(4); n > 0 && !p.quiet; n-- {
		if f := p.fault(w); !on[f.on] { // faults of one thing at the same time would undo each other
			on[f.on] = true
			s.faults = append(s.faults, f)
		}
	}
	return s
}

// fault chooses a fault. What the world does not have, such as a server, makes another choice.
func (p *planner) fault(w *world) fault {
	for {
		slot := w.slots[p.random.IntN(len(w.slots))]
		switch p.random.IntN(8) {
		case 0, 1:
			return p.kill(slot)
		case 2:
			return p.freeze(slot)
		case 3, 4:
			if slot.store != nil {
				return p.network("state", slot.name, func(w *world) *proxy { return w.slot(slot.name).store })
			}
		case 5:
			if slot.front != nil {
				return p.network("clients", slot.name, func(w *world) *proxy { return w.slot(slot.name).front })
			}
		case 6:
			if f, ok := p.disk(w); ok {
				return f
			}
		case 7:
			if w.server != nil && p.random.IntN(3) == 0 {
				return p.server()
			}
		}
	}
}

func (w *world) slot(name string) *slot {
	for _, s := range w.slots {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (p *planner) kill(s *slot) fault {
	frozen := p.random.IntN(4) == 0
	name := "kill " + s.name
	if frozen {
		name = "freeze and kill " + s.name
	}
	return fault{name: name, on: s.name, counts: "kills", begin: func(w *world) func() {
		if frozen {
			s.freeze()
			time.Sleep(stateTimeout)
		}
		s.kill()
		return s.start
	}}
}

func (p *planner) freeze(s *slot) fault {
	pauses := []time.Duration{stateTimeout + 100*time.Millisecond, lifetime + 100*time.Millisecond}
	if p.long {
		pauses = append(pauses, longest)
	}
	pause := pauses[p.random.IntN(len(pauses))]
	return fault{
		name: fmt.Sprintf("freeze %s for %s", s.name, pause), on: s.name, counts: "freezes", least: pause,
		begin: func(*world) func() {
			s.freeze()
			return s.thaw
		},
	}
}

// network chooses what happens between a process and the server of its state, or its clients.
func (p *planner) network(what, process string, at func(w *world) *proxy) fault {
	d := direction(p.random.IntN(2))
	number := 1 + p.random.IntN(longestCut)
	var change func(w *weather)
	var name, counts string
	var least time.Duration
	switch p.random.IntN(5) {
	case 0:
		delay := time.Duration(1+p.random.IntN(300)) * time.Millisecond
		name, counts = fmt.Sprintf("delay by up to %s", delay), "delays"
		change = func(w *weather) { w.delay[d] = delay }
	case 1:
		name, counts, least = "hold, beyond the time that calls wait,", "holds", stateTimeout+100*time.Millisecond
		change = func(w *weather) { w.hold[d] = true }
	case 2, 3:
		again := p.random.IntN(4)
		name, counts = fmt.Sprintf("cut after %d bytes and %d times more", number, again), "cuts"
		change = func(w *weather) { w.cut[d], w.again[d] = number, again }
	default:
		name, counts = "refuse connections and cut", "cuts"
		change = func(w *weather) { w.refuse, w.cut[d] = true, 1 }
	}
	return fault{
		name: fmt.Sprintf("%s between %s and %s %s", name, process, what, d), on: process, counts: counts, least: least,
		begin: func(w *world) func() {
			at(w).set(change)
			return func() { at(w).set(func(w *weather) { *w = weather{} }) }
		},
	}
}

func (p *planner) disk(w *world) (fault, bool) {
	names := []string{"audit", "state"}
	name := names[p.random.IntN(2)]
	d := w.disks[name]
	room := p.random.IntN(64 << 10)
	return fault{
		name: fmt.Sprintf("fill the disk of %s but for %d bytes", name, room), on: "disk of " + name, counts: "full disks",
		begin: func(*world) func() {
			d.fill(room)
			return d.empty
		},
	}, d != nil
}

func (p *planner) server() fault {
	if p.random.IntN(2) == 0 {
		return fault{name: "freeze the server", on: "server", counts: "servers frozen", least: stateTimeout,
			begin: func(w *world) func() {
				w.server.Freeze()
				return w.server.Thaw
			}}
	}
	return fault{name: "kill the server", on: "server", counts: "servers killed", begin: func(w *world) func() {
		w.server.Kill()
		return w.server.Restart
	}}
}
