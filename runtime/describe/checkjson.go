package describe

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/gen"
)

// checkOperationJSON returns an error for examples, defaults and bounds of an operation that are not JSON.
func checkOperationJSON(o *gen.Operation) error {
	var faults []error
	for i := range o.Examples {
		if params := o.Examples[i].Params; params != "" && !json.Valid([]byte(params)) {
			faults = append(faults, fmt.Errorf("operation %s: example %q is not JSON", o.Name, params))
		}
	}
	if err := checkParamsJSON(o.Params); err != nil {
		faults = append(faults, fmt.Errorf("operation %s: %w", o.Name, err))
	}
	return errors.Join(faults...)
}

// checkTypeJSON returns an error for defaults and bounds of the fields of a type that are not JSON.
func checkTypeJSON(t *gen.Type) error {
	if err := checkParamsJSON(t.Fields); err != nil {
		return fmt.Errorf("type %s: %w", t.Name, err)
	}
	return nil
}

func checkParamsJSON(params []gen.Param) error {
	var faults []error
	for i := range params {
		for p := &params[i]; p != nil; p = p.Items {
			for _, value := range [...]struct{ what, text string }{
				{"default", p.Default}, {"minimum", p.Minimum}, {"maximum", p.Maximum},
			} {
				if value.text != "" && !json.Valid([]byte(value.text)) {
					faults = append(faults, fmt.Errorf("%s: %s %q is not JSON", params[i].Name, value.what, value.text))
				}
			}
		}
	}
	return errors.Join(faults...)
}
