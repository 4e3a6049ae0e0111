package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/usage"
)

// known are the callers whom something names.
type known struct {
	callers []identity.Caller
	sources []string // that were looked at: inbox, executions, records
	cut     bool     // there are more executions, or more callers in the records, than were looked at
}

// knownCallers returns the callers whom something names that is kept here: the items of the inbox, executions, and the
// records of a file. Whoever looks is one of them, as the user of processes on stdio, and callers without a name are
// another.
func (d *Desk) knownCallers(ctx context.Context, items []approve.Item) (known, error) {
	all := []identity.Caller{d.Who, {}}
	k := known{sources: []string{"inbox"}}
	for i := range items {
		all = append(all, items[i].Caller)
	}
	if d.Kept != nil {
		k.sources = append(k.sources, "executions")
		engine, err := d.engine()
		if err != nil {
			return k, err
		}
		page, err := engine.ListAll(ctx, execution.Query{First: mostListed})
		if err != nil {
			return k, fmt.Errorf("listing executions: %w", err)
		}
		for _, r := range page.Records {
			all = append(all, callerOf(r))
		}
		k.cut = page.More
	}
	if d.AuditFile != "" {
		k.sources = append(k.sources, "records")
		recorded, err := d.recordedCallers(ctx)
		if err != nil {
			return k, err
		}
		k.cut = k.cut || len(recorded) > mostQuotaCallers
		all = append(all, recorded...)
	}
	k.callers = usage.Distinct(all)
	return k, nil
}

// recordedCallers returns the callers whom records name, and one more than mostQuotaCallers at most. Whether the chain
// verifies does not matter: a name says nothing of what its caller has used.
func (d *Desk) recordedCallers(ctx context.Context) (callers []identity.Caller, err error) {
	seen := make(map[string]bool)
	look := func(l audit.Line) bool {
		var r recorded
		if len(callers) > mostQuotaCallers || json.Unmarshal(l.JSON, &r) != nil {
			return false
		}
		c := identity.Caller{Subject: r.Client.User, Issuer: r.Client.Issuer}
		if key := c.Key(); !seen[key] {
			seen[key] = true
			callers = append(callers, c)
		}
		return false
	}
	tail, err := audit.OpenTail(ctx, d.AuditFile, audit.TailOptions{
		VerifyOptions: audit.VerifyOptions{Key: d.AuditKey}, Last: 1, Match: look,
	})
	if err != nil {
		return nil, fmt.Errorf("reading the records: %w", err)
	}
	return callers, errors.Join(err, tail.Close())
}

// said says for people who is known, and how to find others.
func (k *known) said() string {
	of := strings.Join(k.sources, ", ")
	if at := strings.LastIndex(of, ", "); at >= 0 {
		of = of[:at] + " and" + of[at+1:]
	}
	text := "Counts do not say whose they are. Known are you, callers without a name, and whom " + of + " name.\n"
	if k.cut {
		text += fmt.Sprintf("Of executions, and of callers in the records, %d were looked at; there are more.\n", mostListed)
	}
	return text + "Look for others with -caller NAME -issuer ISSUER.\n"
}
