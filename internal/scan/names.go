package scan

import (
	"go/token"
	"go/types"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/tagparse"
)

// keepsNames reports whether an //aql:names directive in a file of the package keeps the names below parameters as
// encoding/json writes them.
func keepsNames(p *source.Program, own *types.Package) bool {
	loaded := p.Packages[own]
	if loaded == nil {
		return false
	}
	keeps := false
	for _, file := range loaded.Syntax {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				line, ok := strings.CutPrefix(comment.Text, "//")
				if !ok || !strings.HasPrefix(line, "aql:names") {
					continue
				}
				d, problems, _ := tagparse.ParseDirective(line)
				for _, problem := range problems {
					p.ReportProblem(diag.Error, problem, "", func(i int) token.Pos { return comment.Pos() + 2 + token.Pos(i) })
				}
				keeps = keeps || d.Name == "names" && len(problems) == 0
			}
		}
	}
	return keeps
}
