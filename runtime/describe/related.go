package describe

import "github.com/aqltag/aqltag/runtime/gen"

// relatedInfos returns the relations of a type that requests can select, as fields of it.
func relatedInfos(t *gen.Type) []parameterInfo {
	infos := parameterInfos(t.Related)
	for i := range infos {
		note := "A relation"
		if len(t.Related[i].Presets) == 0 {
			note += ": only where fields names it"
		}
		infos[i].Description = sentences(infos[i].Description, note)
	}
	return infos
}

// tellRelated adds to the description of a selection what relations the results of an operation have.
func tellRelated(a *gen.Definitions, o *gen.Operation, params []parameterInfo) {
	note := a.Resource(o).RelatedNote()
	for i := range o.Params {
		if note != "" && o.Params[i].Type == gen.TypeSelection {
			params[i].Description = sentences(params[i].Description, note)
		}
	}
}
