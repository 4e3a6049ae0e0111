package console

// section is a page that the navigation leads to.
type section struct {
	page, path, label string
	has               func(*Options) bool // whether this console has the page; nil: each one has
}

// sections are the pages that the navigation leads to, in their order.
var sections = []section{
	{"inbox", "/", "Waiting", nil},
	{"calls", "/calls", "Calls", func(o *Options) bool { return o.Observe != nil }},
	{"executions", "/executions", "Executions", hasExecutions},
	{"agents", "/agents", "Agents", hasAgents},
	{"audit", "/audit", "Audit", hasRecords},
	{"quotas", "/quotas", "Quotas", hasQuotas},
	{"policy", "/policy", "Policy", hasPolicy},
	{"health", "/health", "Health", func(o *Options) bool { return o.Health != nil }},
	{"passkeys", "/passkeys", "Passkeys", hasPasskeys},
}

// link is a link of the navigation.
type link struct {
	Address, Label string
	Here           bool // it leads to the page that it stands on
}

// links returns the navigation of a page.
func (c *console) links(page string) []link {
	var all []link
	for _, s := range sections {
		if s.has == nil || s.has(&c.o) {
			all = append(all, link{c.o.Path + s.path, s.label, s.page == page})
		}
	}
	return all
}
