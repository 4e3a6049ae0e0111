package gen

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// partOf is the registry of a package in a folder with the operation get_<name>, which returns the first type.
func partOf(folder, name string, types ...WireType) *Registry {
	source := folder + "/x.go:1"
	switch folder {
	case "":
		source = ""
	case ".":
		source = "x.go:1"
	}
	return registry(types, Handler{Name: "get_" + name, Source: source, Returns: types[0].Name})
}

func object(name string, fields ...Field) WireType {
	return WireType{Name: name, Kind: KindObject, Fields: fields}
}

// B10: types of one name in several packages get the name of their package, whatever the order of the packages, and
// everything that mentions them does. Equal types are one.
func TestTypesOfOneName(t *testing.T) {
	text, number := Field{Name: "a", Go: "A", Type: "string"}, Field{Name: "a", Go: "A", Type: "integer"}
	list := func(of string) Field { return Field{Name: "l", Go: "L", Type: "array", Items: &Field{Type: of}} }
	one := func(of string) Field { return Field{Name: "o", Go: "O", Type: of} }
	patch := WireType{
		Name: "InvoicePatch", Kind: KindObject, Changes: "Invoice", Description: "Changes to a Invoice. More.",
	}
	for _, tt := range []struct {
		name  string
		parts []*Registry
		want  string // what each operation returns, and each type with what its fields are
		fault string
	}{
		{
			"equal types are one",
			[]*Registry{partOf("billing", "x", object("Invoice", text)), partOf("shop", "y", object("Invoice", text))},
			"x:Invoice y:Invoice Invoice(string)", "",
		},
		{
			"others have the folder in front",
			[]*Registry{partOf("billing", "x", object("Invoice", text)), partOf("shop", "y", object("Invoice", number))},
			"x:BillingInvoice y:ShopInvoice BillingInvoice(string) ShopInvoice(integer)", "",
		},
		{
			"a package at the root keeps its names",
			[]*Registry{partOf(".", "x", object("Invoice", text)), partOf("shop", "y", object("Invoice", number))},
			"x:Invoice y:ShopInvoice Invoice(string) ShopInvoice(integer)", "",
		},
		{
			"folders of one name have those above them",
			[]*Registry{
				partOf("api/v1", "x", object("Invoice", text)), partOf("store/v1", "y", object("Invoice", number)),
			},
			"x:ApiV1Invoice y:StoreV1Invoice ApiV1Invoice(string) StoreV1Invoice(integer)", "",
		},
		{
			"a name that is taken is left",
			[]*Registry{
				partOf("a/billing", "x", object("Invoice", text), object("BillingInvoice", text)),
				partOf("b/shop-2", "y", object("Invoice", number)),
			},
			"x:ABillingInvoice y:BShop2Invoice ABillingInvoice(string) BShop2Invoice(integer) BillingInvoice(string)", "",
		},
		{
			"two of three are equal",
			[]*Registry{
				partOf("shop", "x", object("Invoice", text)), partOf("billing", "y", object("Invoice", text)),
				partOf("stock", "z", object("Invoice", number)),
			},
			"x:BillingInvoice y:BillingInvoice z:StockInvoice BillingInvoice(string) StockInvoice(integer)", "",
		},
		{
			"what refers to such types differs too",
			[]*Registry{
				partOf("billing", "x", object("Invoice", list("Line")), object("Line", one("Tax")), object("Tax", text)),
				partOf("shop", "y", object("Invoice", list("Line")), object("Line", one("Tax")), object("Tax", number)),
			},
			"x:BillingInvoice y:ShopInvoice BillingInvoice([BillingLine]) BillingLine(BillingTax) BillingTax(string) " +
				"ShopInvoice([ShopLine]) ShopLine(ShopTax) ShopTax(integer)", "",
		},
		{
			"types that contain themselves",
			[]*Registry{
				partOf("billing", "x", object("Invoice", list("Invoice"))), partOf("shop", "y", object("Invoice", list("Invoice"))),
			},
			"x:Invoice y:Invoice Invoice([Invoice])", "",
		},
		{
			"changes go with their type",
			[]*Registry{
				partOf("billing", "x", object("Invoice", text), patch), partOf("shop", "y", object("Invoice", number), patch),
			},
			"x:BillingInvoice y:ShopInvoice BillingInvoice(string) BillingInvoicePatch(string) ShopInvoice(integer) " +
				"ShopInvoicePatch(integer)", "",
		},
		{
			"packages without a place are numbered",
			[]*Registry{partOf("", "y", object("Invoice", text)), partOf("shop", "x", object("Invoice", number))},
			"x:Invoice1 y:Invoice2 Invoice1(integer) Invoice2(string)", "",
		},
		{
			"two roots are numbered, and pass names that are taken",
			[]*Registry{
				partOf(".", "x", object("Invoice", text), object("Invoice1", text)), partOf(".", "y", object("Invoice", number)),
			},
			"x:Invoice2 y:Invoice3 Invoice1(string) Invoice2(string) Invoice3(integer)", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := summary(tt.parts[0]) + summary(tt.parts[1])
			backwards := slices.Clone(tt.parts)
			slices.Reverse(backwards)
			nested := Merge(Merge(tt.parts[0], tt.parts[1]), Merge(tt.parts[2:]...))
			for _, merged := range []*Registry{Merge(tt.parts...), Merge(backwards...), nested} {
				if err := merged.Err(); tt.fault != "" {
					if err == nil || err.Error() != tt.fault {
						t.Errorf("error %v, want %s", err, tt.fault)
					}
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, summary(merged)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				definitions := merged.Definitions()
				for _, d := range definitions.Types {
					if d.Changes != "" && !strings.HasPrefix(d.Description, "Changes to a "+d.Changes+". ") {
						t.Errorf("%s changes %s and says %q", d.Name, d.Changes, d.Description)
					}
				}
			}
			if after := summary(tt.parts[0]) + summary(tt.parts[1]); after != before {
				t.Errorf("what was merged has changed from %s to %s", before, after)
			}
		})
	}
}

// summary lists the operations of a registry with what they return, and its types with what their fields are.
func summary(r *Registry) string {
	d := r.Definitions()
	var operations, types []string
	for _, o := range d.Operations {
		operations = append(operations, strings.TrimPrefix(o.Name, "get_")+":"+o.Returns.Name)
	}
	for _, t := range d.Types {
		var fields []string
		for _, f := range t.Fields {
			if f.Items != nil {
				f.Type = "[" + f.Items.Type + "]"
			}
			fields = append(fields, f.Type)
		}
		types = append(types, fmt.Sprintf("%s(%s)", t.Name, strings.Join(fields, ",")))
	}
	slices.Sort(operations)
	slices.Sort(types)
	return strings.Join(slices.Concat(operations, types), " ")
}
