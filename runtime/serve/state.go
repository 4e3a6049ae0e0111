package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/runtime/store"
)

// memory is the location of state that is lost when the process ends.
const memory = "memory"

// openTimeout bounds how long opening the state may take.
const openTimeout = 15 * time.Second

// openState opens the store at a location; nil for memory.
func openState(ctx context.Context, location string, drivers []store.Driver) (store.Store, error) {
	if location == memory {
		return nil, nil
	}
	scheme, _, found := strings.Cut(location, "://")
	if !found {
		scheme = ""
	}
	for _, driver := range drivers {
		if driver.Scheme != scheme {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		opened, err := driver.Open(ctx, location)
		if err != nil {
			return nil, fmt.Errorf("-state: %w", err)
		}
		return opened, nil
	}
	kinds := []string{memory}
	for _, driver := range drivers {
		if driver.Scheme == "" {
			kinds = append(kinds, "the path of a file")
		} else {
			kinds = append(kinds, driver.Scheme+"://…")
		}
	}
	what := "a file"
	if found {
		what = scheme + "://…"
	}
	return nil, fmt.Errorf("-state: this service cannot keep its state in %s, only in: %s. "+
		"Its author adds stores with serve.Options.Stores", what, strings.Join(kinds, ", "))
}

// prepare opens what the settings name: state, audit log and policy.
func (s settings) prepare(
	ctx context.Context, options *Options, log *slog.Logger,
) (*policyfile.File, resources, error) {
	var opened resources
	fail := func(err error) (*policyfile.File, resources, error) {
		return nil, nil, errors.Join(err, opened.closeWithin(openTimeout))
	}
	if s.given["state"] || options.Adapter.State == nil {
		state, err := openState(ctx, s.state, options.Stores)
		if err != nil {
			return fail(err)
		}
		options.Adapter.State = state
		if state != nil {
			opened = append(opened, state)
		}
	}
	if err := s.readStateKeys(&options.Adapter); err != nil {
		return fail(err)
	}
	records, err := s.openAudit(ctx, *options, log)
	if err != nil {
		return fail(err)
	}
	if records != nil {
		options.Adapter.Audit = records
		opened = append(opened, closing(func() error {
			ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
			defer cancel()
			return records.Close(ctx)
		}))
	}
	if s.policy == "" {
		return nil, opened, nil
	}
	source, err := policyfile.Open(s.policy)
	if err != nil {
		return fail(fmt.Errorf("-policy: %w", err))
	}
	options.Adapter.Policy = source.Policy()
	return source, opened, nil
}

// inFile reports whether the state is a file.
func (s settings) inFile() bool { return s.state != memory && !strings.Contains(s.state, "://") }

// warnOfOnePerson warns of rules that need several people where the state is a file: those who decide as the user of
// the adapter are one person.
func (s settings) warnOfOnePerson(p *policy.Policy, log *slog.Logger) {
	if !s.inFile() {
		return
	}
	for i := range p.Rules {
		if a := p.Rules[i].Approvers; a != nil && a.Count > 1 {
			log.Warn("a rule needs several people, each with an account of their own that can write the state: where all "+
				"decide as the user of the adapter, they are one person, and nothing is ever approved",
				"rule", p.Rules[i].Name, "people", a.Count, "state", s.state)
		}
	}
}

// readStateKeys reads the files of -state-key: the key, and those before it.
func (s settings) readStateKeys(options *aql.Options) error {
	if s.stateKey == "" {
		return nil
	}
	var keys [][]byte
	for path := range strings.SplitSeq(s.stateKey, ",") {
		key, err := readKey("state-key", strings.TrimSpace(path))
		if err == nil && key == nil {
			err = errors.New("-state-key: a comma has no file before or behind it")
		}
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	options.StateKey, options.OldStateKeys = keys[0], keys[1:]
	return nil
}
