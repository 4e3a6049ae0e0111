package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// client makes calls, which follow from its seed and from what it is answered.
type client struct {
	*world
	random *rand.Rand
	name   string
	things int
	kept   []attempt // that can be made with a token which was not presented yet
}

func newClient(w *world, seed uint64, number int) *client {
	return &client{
		world: w, name: fmt.Sprintf("k%d", number), random: rand.New(rand.NewPCG(seed, 1000+uint64(number))),
	}
}

// episodes are what clients do, each with its weight.
var episodes = []struct {
	name   string
	weight int
	run    func(c *client)
}{
	{"confirm", 6, (*client).confirm},
	{"race", 6, (*client).race},
	{"revoke", 4, (*client).revoke},
	{"quota", 3, (*client).quota},
	{"bells", 1, (*client).bells},
	{"batch", 4, (*client).batch},
	{"forge", 3, (*client).forge},
	{"human", 4, (*client).human},
	{"session", 4, (*client).session},
	{"late", 3, (*client).late},
}

// episode does one thing.
func (c *client) episode() {
	total := 0
	for _, e := range episodes {
		total += e.weight
	}
	n := c.random.IntN(total)
	for _, e := range episodes {
		if n -= e.weight; n < 0 {
			e.run(c)
			return
		}
	}
}

// thing returns the name of a new thing.
func (c *client) thing() string {
	c.things++
	return fmt.Sprintf("%s-%d", c.name, c.things)
}

// over returns a process that tokens of all sessions are good for.
func (c *client) over() *slot { return c.slots[c.random.IntN(3)] }

func (c *client) operation() string { return []string{"delete_thing", "burn_thing"}[c.random.IntN(2)] }

// patience is how long the client waits for an answer.
func (c *client) patience() time.Duration {
	return []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}[c.random.IntN(3)]
}

// try makes an attempt.
func (c *client) try(s *slot, a attempt) answer {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience())
	defer cancel()
	got := c.call(ctx, s, a)
	if got.verdict == unknown {
		time.Sleep(10 * time.Millisecond) // a process that is away answers nothing at once
	}
	return got
}

// asked asks for the deletion of a new thing, and returns the attempt with the token; without one it reports false.
func (c *client) asked(s *slot, caller string) (attempt, bool) {
	a := attempt{operation: c.operation(), id: c.thing(), caller: caller}
	a.token = c.try(s, a).token
	return a, a.token != ""
}

// confirm uses a token twice, one time after the other.
func (c *client) confirm() {
	a, ok := c.asked(c.over(), c.thing())
	if !ok {
		return
	}
	if c.random.IntN(4) == 0 {
		c.kept = append(c.kept, a)
		return
	}
	c.try(c.over(), a)
	c.try(c.over(), a)
	c.try(c.over(), attempt{operation: "create_thing", id: c.thing(), caller: a.caller})
}

// race presents one token many times at once.
func (c *client) race() {
	a, ok := c.asked(c.over(), c.thing())
	if ok {
		c.together(2+c.random.IntN(5), func(int) attempt { return a })
	}
}

// together makes attempts at the same time.
func (c *client) together(n int, next func(i int) attempt) {
	var wg sync.WaitGroup
	for i := range n {
		s, a, patience := c.over(), next(i), c.patience()
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			c.call(ctx, s, a)
		})
	}
	wg.Wait()
}

// revoke revokes the tokens of a caller, before they are presented or meanwhile.
func (c *client) revoke() {
	caller := c.thing()
	var given []attempt
	for range 1 + c.random.IntN(3) {
		if a, ok := c.asked(c.over(), caller); ok {
			given = append(given, a)
		}
	}
	revoke := attempt{operation: "revoke_tokens", id: c.thing(), caller: c.thing(), revokes: caller}
	if len(given) > 0 && c.random.IntN(2) == 0 {
		c.together(2, func(i int) attempt { return []attempt{revoke, given[0]}[i] })
	} else {
		c.try(c.over(), revoke)
	}
	for _, a := range given {
		c.try(c.over(), a)
	}
}

// quota makes more calls than the caller may.
func (c *client) quota() {
	caller := c.thing()
	c.together(c.bounds.calls+1+c.random.IntN(4), func(int) attempt {
		return attempt{operation: "create_thing", id: c.thing(), caller: caller}
	})
	c.asked(c.over(), caller)
}

// bells rings the bell of which all callers have the same.
func (c *client) bells() {
	c.together(3, func(int) attempt { return attempt{operation: "ring_bell", id: c.thing(), caller: c.thing()} })
}

// batch makes several attempts in one call: first without tokens, then with them, one of them twice.
func (c *client) batch() {
	caller := c.thing()
	var given []attempt
	for range 2 {
		if a, ok := c.asked(c.over(), caller); ok {
			given = append(given, a)
		}
	}
	if len(given) == 0 {
		return
	}
	given = append(given, given[0], attempt{operation: "create_thing", id: c.thing(), caller: caller})
	c.random.Shuffle(len(given), func(i, k int) { given[i], given[k] = given[k], given[i] })
	if c.random.IntN(3) == 0 { // it halts there
		at := c.random.IntN(len(given))
		given[at] = attempt{operation: "burn_thing", id: c.thing(), caller: caller}
	}
	operations := make([]map[string]any, len(given))
	for i := range given {
		operations[i] = map[string]any{"operation": given[i].operation, "params": params(&given[i])}
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.patience())
	defer cancel()
	c.send(ctx, c.over(), request{arguments: map[string]any{"operations": operations}}, given...)
}

// forge presents a token for something else, or for somebody else, or one that was made up, and then as it is.
func (c *client) forge() {
	a, ok := c.asked(c.over(), c.thing())
	if !ok {
		return
	}
	forged := a
	switch c.random.IntN(5) {
	case 0:
		forged.id = c.thing()
	case 1:
		forged.caller = c.thing()
	case 2:
		forged.operation = map[string]string{"delete_thing": "burn_thing", "burn_thing": "delete_thing"}[a.operation]
	case 3:
		forged.token = "conf_" + strings.Repeat("A", 43)
	case 4:
		forged.token = a.token[:len(a.token)-1] + map[bool]string{true: "A", false: "E"}[a.token[len(a.token)-1] != 'A']
	}
	c.try(c.over(), forged)
	c.try(c.over(), a)
}

// human goes to the process that asks a person, honestly or not.
func (c *client) human() {
	h := c.slots[3]
	a := attempt{operation: c.operation(), id: c.thing(), caller: c.thing()}
	if c.random.IntN(3) == 0 { // with a token that another process gives out for the same
		a.token = c.try(c.over(), a).token
		c.try(h, a)
		return
	}
	a.state = c.try(h, a).state
	if a.state == "" {
		return
	}
	a.approved = true
	switch c.random.IntN(5) {
	case 0:
		a.approved = false
	case 1:
		a.caller = c.thing()
	case 2:
		a.state = a.state[:len(a.state)-4] + "AAAA"
	}
	c.try(h, a)
	a.approved = true
	c.try(h, a)
}

// session uses a token on stdio, in its session or in another.
func (c *client) session() {
	s := c.slots[4+c.random.IntN(2)]
	a := attempt{operation: c.operation(), id: c.thing(), caller: "owner"}
	if a.token = c.try(s, a).token; a.token == "" {
		return
	}
	switch c.random.IntN(4) {
	case 0:
		c.try(c.slots[4+c.random.IntN(2)], a)
	case 1:
		a.caller = c.thing()
		c.try(c.over(), a)
	case 2:
		c.kept = append(c.kept, a)
		return
	}
	a.caller = "owner"
	c.try(s, a)
}

// late presents a token that was kept. The process of its session may have ended, and it may have expired.
func (c *client) late() {
	if len(c.kept) == 0 {
		return
	}
	i := c.random.IntN(len(c.kept))
	a := c.kept[i]
	c.kept[i] = c.kept[len(c.kept)-1]
	c.kept = c.kept[:len(c.kept)-1]
	if a.caller == "owner" {
		c.try(c.slots[4+c.random.IntN(2)], a)
	} else {
		c.try(c.over(), a)
	}
}
