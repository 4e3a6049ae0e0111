package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/quota"
)

// counted are quotas in a test, by the callers' subjects; "" has what others get.
type counted struct {
	by   map[string][]aql.QuotaUsed
	err  error
	read []string
}

func (c *counted) QuotaUse(_ context.Context, who aql.Caller) (use aql.QuotaUse, err error) {
	c.read = append(c.read, who.Subject)
	use.Quotas = c.by[who.Subject]
	use.Limits = []aql.LimitUsed{{
		Scope: "global", Limit: 1000, Remaining: 12, Window: quota.Hour, Resets: opened.Add(time.Hour),
	}}
	return use, c.err
}

// F63: the page of quotas in each of its states.
func TestQuotaPages(t *testing.T) {
	of := func(metric quota.Metric, used float64, status, currency string, shared bool) aql.QuotaUsed {
		return aql.QuotaUsed{
			Metric: metric, Used: used, Warn: 800, Pause: 900, HardStop: 1000, Status: status, Currency: currency,
			Shared: shared, Resets: opened.Add(15 * time.Hour),
		}
	}
	all := map[string][]aql.QuotaUsed{
		"eve": {of(quota.RequestsPerDay, 3, "ok", "", false), of(quota.CostPerDay, 850.5, "warn", "EUR", true)},
		"ann": {of(quota.RequestsPerDay, 950, "paused", "", false), of(quota.CostPerDay, 850.5, "warn", "EUR", true)},
	}
	for name, tt := range map[string]struct {
		by     map[string][]aql.QuotaUsed
		path   string
		err    error
		status int
	}{
		"quotas-none":   {status: 200},
		"quotas":        {by: all, status: 200},
		"quotas-of-one": {by: all, path: "?caller=ann&issuer=stdio", status: 200},
		"quotas-failed": {err: errors.New("dial tcp 10.0.0.7:5432: connection refused"), status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(o *console.Options) { o.Quotas = &counted{by: tt.by, err: tt.err} })
			s.ask(nil) // of ann
			checkAnswer(t, name, s.person("eve").get("/quotas"+tt.path), tt.status)
		})
	}
}

// A pause that was lifted is lifted for a caller: of a quota that all share, it still holds up the others.
func TestLiftedQuotas(t *testing.T) {
	lifted := func(shared bool) aql.QuotaUsed {
		return aql.QuotaUsed{
			Metric: quota.RequestsPerDay, Used: 950, Pause: 900, Status: "warn", Shared: shared, Lifted: true, Resets: opened,
		}
	}
	s := newSite(t, func(o *console.Options) {
		o.Quotas = &counted{by: map[string][]aql.QuotaUsed{"ann": {lifted(false), lifted(true)}}}
	})
	page := s.person("eve").get("/quotas?caller=ann&issuer=stdio").Body.String()
	for _, want := range []string{
		`<span class="badge destructive">pause lifted</span>`,
		`<span class="badge dangerous">paused, lifted for ann (stdio)</span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in\n%s", want, page)
		}
	}
}

// However many callers are known, a page reads the counts of a few, and of those who are asked for.
func TestQuotasOfManyCallers(t *testing.T) {
	var all []aql.Overseen
	for i := range 50 {
		all = append(all, running(fmt.Sprintf("exec_%d", i), func(of *aql.Overseen) {
			of.Caller = identity.Caller{Subject: fmt.Sprintf("caller%d<b>\u202e", i)}
			of.State = execution.Completed
		}))
	}
	of := &counted{by: map[string][]aql.QuotaUsed{}}
	for i := range all {
		of.by[all[i].Caller.Subject] = []aql.QuotaUsed{{Metric: quota.RequestsPerDay, Used: 1, Status: "ok"}}
	}
	b := newSite(t, func(o *console.Options) { o.Quotas = of; (&begun{all: all}).with(o) }).person("eve")
	page := b.get("/quotas").Body.String()
	if len(of.read) != 20 || !strings.Contains(page, "There are more callers") || strings.Contains(page, "<b>") ||
		strings.Contains(page, "\u202e") {
		t.Errorf("%d callers were read:\n%s", len(of.read), page)
	}
	of.read = nil
	b.get("/quotas?caller=+caller49+&issuer=idp")
	if len(of.read) != 1 || of.read[0] != "caller49" {
		t.Errorf("read: %q", of.read)
	}
	if answer := newSite(t, nil).person("eve").get("/quotas"); answer.Code != http.StatusNotFound {
		t.Errorf("without quotas: %d", answer.Code)
	}
}
