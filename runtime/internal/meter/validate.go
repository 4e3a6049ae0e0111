package meter

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
)

// validation collects what is wrong with options for an adapter.
type validation struct {
	definitions *gen.Definitions
	faults      []error
}

// validate returns what is wrong with options for an adapter. A limit that matches no operation is a mistake: it would
// limit nothing.
func validate(o *quota.Options, definitions *gen.Definitions) error {
	v := validation{definitions: definitions}
	v.limits(o.Limits)
	v.quotas(o.Quotas)
	for i, price := range o.Prices {
		v.pattern(fmt.Sprintf("price %d", i+1), price.Operation)
		if !(price.PerCall >= 0 && price.PerToken >= 0) || price.PerCall > 1e9 || price.PerToken > 1e9 {
			v.fault("price %d is out of range", i+1)
		}
	}
	return errors.Join(v.faults...)
}

func (v *validation) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf(format, args...))
}

// pattern checks a pattern of operation names.
func (v *validation) pattern(title, pattern string) {
	named := func(o gen.Operation) bool { return matches(pattern, o.Name) }
	switch {
	case strings.ContainsAny(pattern, `[]{}!^\`) || strings.Contains(pattern, "**"):
		v.fault("%s: pattern %q: only * and ? have a meaning", title, pattern)
	case pattern != "" && !slices.ContainsFunc(v.definitions.Operations, named):
		v.fault("%s: no operation is called %q", title, pattern)
	}
}

func (v *validation) limits(limits []quota.Limit) {
	seen := make(map[string]bool)
	for i, limit := range limits {
		title := fmt.Sprintf("limit %d", i+1)
		key := scope(&limit) + " per " + string(limit.Window)
		if seen[key] {
			v.fault("%s: there is another limit for %s", title, key)
		}
		seen[key] = true
		v.pattern(title, limit.Operation)
		switch {
		case limit.Limit <= 0:
			v.fault("%s: the limit is %d; it must be greater than 0", title, limit.Limit)
		case windows[limit.Window] == 0:
			v.fault("%s: window %q is none of second, minute, hour, day", title, limit.Window)
		case limit.Operation != "" && limit.Category != "":
			v.fault("%s names both an operation and a category", title)
		case limit.Category != "" && !slices.Contains(gen.Categories(), limit.Category):
			v.fault("%s: category %q is none of CREATE, READ, UPDATE, DELETE, EXECUTE", title, limit.Category)
		}
	}
}

func (v *validation) quotas(quotas []quota.Quota) {
	type counter struct {
		metric quota.Metric
		shared bool
	}
	seen := make(map[counter]bool)
	for _, q := range quotas {
		title := fmt.Sprintf("quota %s", q.Metric)
		last := 0.0
		for _, step := range []float64{q.Warn, q.Pause, q.HardStop} {
			if step < 0 || math.IsNaN(step) || step*scale(q.Metric) > math.MaxInt64/2 {
				v.fault("%s: step %g is out of range", title, step)
			} else if step > 0 && step < last {
				v.fault("%s: warn, pause and hard stop must rise", title)
			}
			last = max(last, step)
		}
		switch {
		case !slices.Contains(quota.Metrics(), q.Metric):
			v.fault("quota metric %q is none of %v", q.Metric, quota.Metrics())
		case last == 0:
			v.fault("%s has no step: set Warn, Pause or HardStop", title)
		case seen[counter{q.Metric, q.Shared}]:
			v.fault("%s is given twice", title)
		}
		seen[counter{q.Metric, q.Shared}] = true
	}
}

// matches reports whether a pattern matches the name of an operation. An empty pattern matches every name.
func matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
