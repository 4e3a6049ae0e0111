package conform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Deviation is a way in which a server differs from the protocol throughout, and which the run understood: a check
// reports the violation, and all checks judge the rest by what was understood.
type Deviation struct {
	// Name is stable, such as "error-text".
	Name string `json:"name"`
	// Message says what the server does, and how the run takes it.
	Message string `json:"message"`
	// Count is the number of answers, entries or members in which it was met.
	Count int `json:"count"`
	// Evidence is the first exchange in which it was met; nil: it is about the list of tools.
	Evidence *Exchange `json:"evidence,omitempty"`
}

// The names of deviations.
const (
	entryKey       = "entry-name"
	entryText      = "entry-text"
	entryMap       = "entry-map"
	listPlace      = "list-place"
	noQueryTaken   = "introspect-without-query"
	detailPlace    = "detail-place"
	memberNames    = "member-names"
	missingDetails = "details-in-list"
	paramsForm     = "parameters-form"
	typeNames      = "type-names"
	derived        = "category-derived"
	exampleText    = "example-text"
	toolNames      = "tool-names"
	toolTwice      = "tool-twice"
	proseAround    = "text-around-json"
	protocolError  = "protocol-error"
	textError      = "error-is-text-content"
	errorText      = "error-text"
	noSuccess      = "failure-without-success"
	noEnvelope     = "no-envelope"
	hiddenFailure  = "failure-in-success"
	contentInData  = "content-in-data"
	itemsPlace     = "items-place"
	batchPlace     = "batch-place"
)

// deviationTexts says what a server does and how the run takes it; %s is what was met.
var deviationTexts = map[string]string{
	entryKey:       "The lists of introspect name their entries by %s, not by 'name'. That is taken as the name.",
	entryText:      "The lists of introspect hold names, not objects. Each text is taken as a name.",
	entryMap:       "The lists of introspect are objects with a member for each entry. Its key is taken as the name.",
	listPlace:      "The list of operations is not in 'data.operations', but %s. It is taken from there.",
	noQueryTaken:   "introspect lists the operations without the parameter 'query', and not with it.",
	detailPlace:    "Details are not in 'data.operation' or 'data.type', but %s. They are taken from there.",
	memberNames:    "Members have other names than in the protocol: %s. They are taken as those.",
	missingDetails: "introspect has no details of single operations. What the list tells of them is taken.",
	paramsForm:     "Parameters are not described by a list of objects, but by %s. They are taken from there.",
	typeNames:      "Types have other names than in the protocol: %s. They are taken as those.",
	derived:        "Operations have no 'semantic_category' of the protocol. %s is taken as the category.",
	exampleText:    "Examples are text, not requests. No values are taken from them.",
	toolNames:      "No tool is called mcp_aql or mcp_aql_…. Those that %s are taken as the adapter's.",
	toolTwice:      "Tools are listed more than once: %s. Each is taken once.",
	proseAround:    "Answers have text around their JSON. The JSON inside is taken as the answer.",
	protocolError:  "Requests are refused with errors of JSON-RPC. Those are taken as failures without a code.",
	textError:      "Failures are plain text with isError. They are taken as failures without a code.",
	errorText:      "Errors are plain text, not objects. They are taken as failures without a code.",
	noSuccess:      "Failures have no member 'success'. What has isError or an 'error' is taken as a failure.",
	noEnvelope:     "Answers have no envelope with 'success' and 'data'. The whole answer is taken as the data.",
	hiddenFailure:  "Failures are answered with 'success' true, and hidden in the data. They are taken as failures.",
	contentInData:  "Results are MCP contents inside 'data'. What their text is, JSON or not, is taken as the data.",
	itemsPlace:     "Lists are not in 'data.items', but %s. They are taken from there.",
	batchPlace:     "The results of a batch are not in 'results', but %s. They are taken from there.",
}

// met counts the deviations of a run.
type met struct {
	order []string
	all   map[string]*deviation
}

type deviation struct {
	count    int
	exchange *exchange
	what     map[string]bool
}

// deviate records a deviation; what, which may be empty, is the part of its sentence that depends on the server.
func (p *prober) deviate(name, what string, x *exchange) {
	if p.met.all == nil {
		p.met.all = map[string]*deviation{}
	}
	d := p.met.all[name]
	if d == nil {
		d = &deviation{exchange: x, what: map[string]bool{}}
		p.met.all[name] = d
		p.met.order = append(p.met.order, name)
	}
	d.count++
	if what != "" && len(d.what) < maxFindings {
		d.what[what] = true
	}
}

// export returns the deviations in the order in which they were met.
func (m *met) export() []Deviation {
	list := []Deviation{}
	for _, name := range m.order {
		d := m.all[name]
		each := Deviation{Name: name, Message: deviationTexts[name], Count: d.count}
		if strings.Contains(each.Message, "%s") {
			each.Message = fmt.Sprintf(each.Message, strings.Join(slices.Sorted(maps.Keys(d.what)), ", "))
		}
		if d.exchange != nil {
			shown := d.exchange.export()
			each.Evidence = &shown
		}
		list = append(list, each)
	}
	return list
}
