package emit

import (
	"strconv"

	"github.com/aqltag/aqltag/runtime/gen"
)

// execution returns the member that says how an operation runs that outlives its call. call is the function.
func (g *generator) execution(l *gen.Lifecycle, call string) string {
	var lifecycle, m members
	lifecycle.flag("Durable", l.Durable)
	if l.Retry > 0 {
		lifecycle.add("Retry", strconv.Itoa(l.Retry))
	}
	lifecycle.add("Keep", g.duration(l.Keep))
	lifecycle.text("Once", l.Once)
	lifecycle.flag("Asks", l.Asks)
	if len(lifecycle) > 0 {
		m.add("Lifecycle", g.gen("Lifecycle")+"{"+lifecycle.String()+"}")
	}
	m.add("Run", g.names.use(pathAQL, "aql")+".RunFunc("+call+")")
	return "Execution: &" + g.gen("Execution") + "{" + m.String() + "}"
}
