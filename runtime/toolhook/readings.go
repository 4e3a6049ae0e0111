package toolhook

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/loop"
	"github.com/aqltag/aqltag/runtime/policy"
)

// mostRead bounds the bytes of all readings of a tool use. What has more is refused: it would not be judged in time.
const mostRead = 16 << 20

// readings returns the text of a tool use, and its words in other ways, with one space between them and nothing of the
// structure: with the names of arguments and without, and the members of objects in several orders. In one of them at
// least each member stands right behind each other one of its object, each is the first, and each is the last.
func (u *use) readings(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(text) {
			return
		}
		for row := range orders(u.input) {
			for _, names := range []bool{false, true} {
				r := reading{row: row, names: names}
				r.WriteString(u.tool)
				r.value(u.input)
				if !yield(r.String()) {
					return
				}
			}
		}
	}
}

// readable reports whether the readings are few enough to be judged.
func (u *use) readable(text string) bool { return (1+2*orders(u.input))*len(text) <= mostRead }

// orders returns in how many orders a value is read.
func orders(v any) int {
	most := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			most = max(most, orders(element))
		}
	case map[string]any:
		if n := len(v); n > 1 {
			most = 1 + n + n%2
		}
		for _, member := range v {
			most = max(most, orders(member))
		}
	}
	return most
}

// order returns n members in one of the orders in which they are read. The first is the order of their names. The
// others are the rows of a Latin square in which each stands right behind each other one in one row (E. J. Williams,
// 1949): it exists for even numbers, so that of an odd number one more is left out.
func order(n, row int) iter.Seq[int] {
	even := n + n%2
	return func(yield func(int) bool) {
		for i := range even {
			member := i
			if row > 0 { // 0, 1, -1, 2, -2 and so on, from the one of the row
				member = (i + 1) / 2
				if i%2 == 0 {
					member = even - member
				}
				member = (member + row) % even
			}
			if member < n && !yield(member) {
				return
			}
		}
	}
}

// reading writes the words of a tool use in one way.
type reading struct {
	strings.Builder
	row   int
	names bool
}

func (r *reading) word(s string) {
	r.WriteString(" ")
	r.WriteString(s)
}

func (r *reading) value(v any) {
	switch v := v.(type) {
	case string:
		r.word(v)
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		for i := range order(len(names), r.row) {
			member := v[names[i]]
			if r.names && member != nil && member != false {
				r.word(names[i])
			}
			r.value(member)
		}
	case []any:
		for _, element := range v {
			r.value(element)
		}
	case nil:
	case bool:
		if v {
			r.word("true")
		}
	default:
		literal, _ := json.Marshal(v) // a number, which cannot fail to be written
		r.word(string(literal))
	}
}

const (
	highestRisk    = 100
	riskOfApproval = 60 // the highest of which an approval is enough
)

// worst returns the highest risk of texts, and whether a pattern holds one of them up that denies or demands an
// approval. It fails where ctx ends before all of them are judged.
func worst(ctx context.Context, c loop.Config, texts iter.Seq[string]) (risk int, held bool, err error) {
	for text := range texts {
		if err := context.Cause(ctx); err != nil {
			return 0, false, err
		}
		reading := loop.Read(text)
		d := reading.Evaluate(c, loop.Report{}, loop.History{})
		if d.Decided == loop.StagePatterns {
			if held = true; d.Needs == loop.NeedsUnblock {
				return highestRisk, held, nil
			}
			d = reading.Evaluate(c, loop.Report{}, loop.History{Approved: loop.ApprovedAction})
			risk = max(risk, riskOfApproval)
		}
		risk = max(risk, d.Score)
	}
	return risk, held, nil
}

// judging returns a loop that also judges the readings of a tool use, and a policy that approves of nothing by itself
// where a pattern holds one of them up. People see the hint, and what they approve of is told by its digest. It fails
// where ctx ends before all readings are judged.
func (u *use) judging(
	ctx context.Context, l *aql.Loop, p *policy.Policy, operations []gen.Operation, agent, text string,
) (*aql.Loop, *policy.Policy, error) {
	var configured *policy.Loop
	if p != nil {
		configured = p.Loop
	}
	c := loop.For(configured, agent)
	c.Mode, c.Risks, c.AutoApprove, c.Operations = policy.Enforcing, l.Risks, nil, loop.Operations(operations)
	of, held, err := worst(ctx, c, u.readings(text))
	if err != nil {
		return nil, nil, err
	}
	if held && configured != nil {
		p = withoutAutoApprove(p)
	}
	judging := *l
	judging.Score = func(ctx context.Context, agent string, r loop.Report) (risk int, why []string, err error) {
		if l.Score != nil {
			if risk, why, err = l.Score(ctx, agent, r); err != nil {
				return risk, why, err
			}
		}
		return max(risk, of), append(why, "All arguments were judged, also in other orders"), nil
	}
	return &judging, p, nil
}

// withoutAutoApprove returns a copy of a policy, whose loop exists.
func withoutAutoApprove(p *policy.Policy) *policy.Policy {
	other, l := *p, *p.Loop
	l.AutoApprove, l.Agents = nil, slices.Clone(l.Agents)
	for i := range l.Agents {
		l.Agents[i].AutoApprove = nil
	}
	other.Loop = &l
	return &other
}
