package observe

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Join returns hooks that call those of all, in their order; nil: there are none. Hooks that are nil are left out.
//
// What begins is told to each in the context of the one before, and its end in the other order, so that what hooks put
// into a context nests. A hook that panics keeps no other one from being called. Each gets its own origins back, which
// together may have 128 bytes with a few for each.
func Join(all ...*Hooks) *Hooks {
	all = slices.DeleteFunc(slices.Clone(all), func(h *Hooks) bool { return h == nil })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &Hooks{
		Session: joinTells(each(all, func(h *Hooks) tell[Session] { return h.Session })),
		Call:    joinBegins(each(all, func(h *Hooks) begin[Call, CallEnd] { return h.Call })),
		Operation: joinBegins(each(all, func(h *Hooks) begin[Operation, OperationEnd] {
			return h.Operation
		})),
		Gate:      joinTells(each(all, func(h *Hooks) tell[Decision] { return h.Gate })),
		Quota:     joinTells(each(all, func(h *Hooks) tell[QuotaUse] { return h.Quota })),
		Execution: joinTells(each(all, func(h *Hooks) tell[StateChange] { return h.Execution })),
		Origin:    joinOrigins(all),
		Attempt:   joinBegins(joinAttempts(all)),
		Step:      joinBegins(each(all, func(h *Hooks) begin[Step, StepEnd] { return h.Step })),
		Approval:  joinTells(each(all, func(h *Hooks) tell[Approval] { return h.Approval })),
		Directive: joinTells(each(all, func(h *Hooks) tell[Directive] { return h.Directive })),
		Verification: joinTells(each(all, func(h *Hooks) tell[Verification] {
			return h.Verification
		})),
		Store: joinTells(each(all, func(h *Hooks) tell[StoreCall] { return h.Store })),
	}
}

// The two kinds of hooks.
type (
	begin[T, E any] = func(context.Context, T) (context.Context, func(E))
	tell[T any]     = func(context.Context, T)
)

func each[F any](all []*Hooks, of func(*Hooks) F) []F {
	list := make([]F, len(all))
	for i, h := range all {
		list[i] = of(h)
	}
	return list
}

// panics keeps the first panic of several hooks until all of them were called.
type panics struct{ first any }

func (p *panics) keep() {
	if v := recover(); v != nil && p.first == nil {
		p.first = v
	}
}

func (p *panics) again() {
	if p.first != nil {
		panic(p.first)
	}
}

func joinTells[T any](all []tell[T]) tell[T] {
	all = slices.DeleteFunc(all, func(f tell[T]) bool { return f == nil })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return func(ctx context.Context, event T) {
		var failed panics
		for _, f := range all {
			func() {
				defer failed.keep()
				f(ctx, event)
			}()
		}
		failed.again()
	}
}

func joinBegins[T, E any](all []begin[T, E]) begin[T, E] {
	all = slices.DeleteFunc(all, func(f begin[T, E]) bool { return f == nil })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return func(ctx context.Context, event T) (context.Context, func(E)) {
		failed := new(panics)
		ends := make([]func(E), 0, len(all))
		for _, f := range all {
			func() {
				defer failed.keep()
				within, end := f(ctx, event)
				if within != nil {
					ctx = within
				}
				if end != nil {
					ends = append(ends, end)
				}
			}()
		}
		return ctx, func(e E) {
			for _, end := range slices.Backward(ends) {
				func() {
					defer failed.keep()
					end(e)
				}()
			}
			failed.again() // also of what has begun: nothing would be known of the others then
		}
	}
}

// joinOrigins returns what asks all hooks for origins. One that is alone is kept as it is.
func joinOrigins(all []*Hooks) func(context.Context) string {
	asked := origins(all)
	switch len(asked) {
	case 0:
		return nil
	case 1:
		return asked[0].Origin
	}
	return func(ctx context.Context) string {
		var failed panics
		var kept strings.Builder
		for _, h := range asked {
			said := ""
			func() {
				defer failed.keep()
				said = h.Origin(ctx)
			}()
			kept.WriteString(strconv.Itoa(len(said)) + ":" + said)
		}
		if kept.Len() == 2*len(asked) { // nobody has one
			failed.again()
			return ""
		}
		return kept.String()
	}
}

// origins returns the hooks that have origins.
func origins(all []*Hooks) []*Hooks {
	return slices.DeleteFunc(slices.Clone(all), func(h *Hooks) bool { return h.Origin == nil })
}

// joinAttempts returns the hooks for attempts, each of which is told its own origin.
func joinAttempts(all []*Hooks) []begin[Attempt, AttemptEnd] {
	asked := origins(all)
	return each(all, func(h *Hooks) begin[Attempt, AttemptEnd] {
		if h.Attempt == nil {
			return nil
		}
		at := slices.Index(asked, h)
		return func(ctx context.Context, a Attempt) (context.Context, func(AttemptEnd)) {
			switch {
			case at < 0:
				a.Origin = ""
			case len(asked) > 1:
				a.Origin = originAt(a.Origin, at)
			}
			return h.Attempt(ctx, a)
		}
	})
}

// originAt returns one of the origins that joinOrigins has kept; empty: there is none, or they are those of other
// hooks.
func originAt(kept string, at int) string {
	for ; ; at-- {
		size, rest, ok := strings.Cut(kept, ":")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n < 0 || n > len(rest) {
			return ""
		}
		if at == 0 {
			return rest[:n]
		}
		kept = rest[n:]
	}
}
