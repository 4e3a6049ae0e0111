package gen

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Qualify gives the types of packages that are joined names of their own: where several packages have different types
// of one name, the name of the package is put in front, as in BillingInvoice. It is the name of the folder, with those
// above as far as they are needed. The types of a package at the root of its module keep their names. Where folders do
// not tell packages apart, as with several roots, the names are numbered, in the order of the names of the packages'
// operations. What the names become does not depend on the order of the packages. Types that are equal, with all that
// they refer to, are one type.
//
// Qualify changes nothing of what it is given, and returns it where there is nothing to rename. The error names the
// types for which there is no name.
func Qualify(packages []Definitions) ([]Definitions, error) {
	count := make(map[string]int)
	shared := false
	for i := range packages {
		for k := range packages[i].Types {
			name := packages[i].Types[k].Name
			count[name]++
			shared = shared || count[name] > 1
		}
	}
	if !shared {
		return packages, nil
	}
	q := qualifier{packages: packages, count: count}
	q.compare()
	if err := q.rename(); err != nil || len(q.renamed) == 0 {
		return packages, err
	}
	out := slices.Clone(packages)
	for i := range out {
		if names := q.renamed[i]; len(names) > 0 {
			out[i] = names.definitions(out[i])
		}
	}
	return out, nil
}

// qualifier renames the types of packages.
type qualifier struct {
	packages []Definitions
	count    map[string]int      // packages that have a type of the name
	class    []map[string]string // by package and name: equal for equal types
	renamed  map[int]renaming    // by package
}

// renaming has the new names of types by the old ones.
type renaming map[string]string

// compare tells types of one name apart that differ, and those that refer to such types.
func (q *qualifier) compare() {
	q.class = make([]map[string]string, len(q.packages))
	references := make([]map[string][]string, len(q.packages))
	different := make(map[string][]*Type)
	for i := range q.packages {
		q.class[i], references[i] = make(map[string]string), make(map[string][]string)
		for k := range q.packages[i].Types {
			if t := &q.packages[i].Types[k]; q.count[t.Name] > 1 {
				known := different[t.Name]
				at := slices.IndexFunc(known, func(other *Type) bool { return reflect.DeepEqual(t, other) })
				if at < 0 {
					at, different[t.Name] = len(known), append(known, t)
				}
				q.class[i][t.Name] = fmt.Sprint(t.Name, at)
				t.refer(func(name string) { references[i][t.Name] = append(references[i][t.Name], name) })
			}
		}
	}
	for before := 0; ; {
		numbers := make(map[string]int)
		next := make([]map[string]string, len(q.packages))
		for i, classes := range q.class {
			next[i] = make(map[string]string, len(classes))
			for name, class := range classes {
				key := class
				for _, to := range references[i][name] {
					key += "\x00" + q.class[i][to]
				}
				if _, known := numbers[key]; !known {
					numbers[key] = len(numbers)
				}
				next[i][name] = fmt.Sprint(name, numbers[key])
			}
		}
		q.class = next
		if len(numbers) == before {
			return
		}
		before = len(numbers)
	}
}

// rename finds the names of types that differ.
func (q *qualifier) rename() error {
	q.renamed = make(map[int]renaming)
	taken := make(map[string]bool)
	var names []string
	for name, n := range q.count {
		taken[name] = true
		if n > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		folders := make(map[string][]string) // of the packages, by class
		for i := range q.packages {
			if class, has := q.class[i][name]; has {
				folders[class] = append(folders[class], q.packages[i].folder())
			}
		}
		if len(folders) == 1 {
			continue
		}
		renamed, ok := distinct(name, folders, taken)
		if !ok {
			renamed, ok = q.numbered(name, taken)
		}
		if !ok {
			return fmt.Errorf("two different types are called %q; rename one of them", name)
		}
		for i := range q.packages {
			to := renamed[q.class[i][name]]
			if _, has := q.class[i][name]; !has || to == name {
				continue
			}
			if q.renamed[i] == nil {
				q.renamed[i] = make(renaming)
			}
			q.renamed[i][name], taken[to] = to, true
		}
	}
	return nil
}

// numbered returns the names of types of one name by their class: Invoice1 for the package with the first operation, by
// name, and so on.
func (q *qualifier) numbered(name string, taken map[string]bool) (map[string]string, bool) {
	first := make(map[string]string) // operation, by class
	for i := range q.packages {
		class, has := q.class[i][name]
		if !has {
			continue
		}
		for _, o := range q.packages[i].Operations {
			if first[class] == "" || o.Name < first[class] {
				first[class] = o.Name
			}
		}
		if first[class] == "" {
			return nil, false
		}
	}
	out := make(map[string]string, len(first))
	n := 0
	byOperation := func(a, b string) int { return cmp.Compare(first[a], first[b]) }
	for _, class := range slices.SortedFunc(maps.Keys(first), byOperation) {
		for n++; taken[fmt.Sprint(name, n)]; {
			n++
		}
		out[class] = fmt.Sprint(name, n)
	}
	return out, true
}

// folder is the folder of a package in its module: "." at the root, empty if it is not known.
func (d *Definitions) folder() string {
	if len(d.Operations) == 0 || d.Operations[0].Source == "" {
		return ""
	}
	return path.Dir(d.Operations[0].Source)
}

// distinct returns the names of types of one name by their class. Each is that of the first folder of the class.
func distinct(name string, folders map[string][]string, taken map[string]bool) (map[string]string, bool) {
	first := make(map[string]string, len(folders))
	most := 1
	for class, of := range folders {
		first[class] = slices.Min(of)
		most = max(most, strings.Count(first[class], "/")+1)
		if first[class] == "" {
			return nil, false
		}
	}
	for elements := 1; elements <= most; elements++ {
		out, used := make(map[string]string, len(folders)), make(map[string]bool)
		for class, folder := range first {
			to := qualified(folder, elements, name)
			if used[to] || to != name && taken[to] {
				break
			}
			out[class], used[to] = to, true
		}
		if len(out) == len(folders) {
			return out, true
		}
	}
	return nil, false
}

// qualified puts the last elements of a folder in front of a name: BillingInvoice, ApiV2BillingInvoice.
func qualified(folder string, elements int, name string) string {
	if folder == "." {
		return name
	}
	parts := strings.Split(folder, "/")
	words := strings.FieldsFunc(strings.Join(parts[max(len(parts)-elements, 0):], "/"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var out strings.Builder
	for _, word := range words {
		out.WriteString(exported(word))
	}
	out.WriteString(exported(name))
	return out.String()
}

func exported(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

// refer calls each with the names of types that a type mentions.
func (t *Type) refer(each func(name string)) {
	var walk func(p *Param)
	walk = func(p *Param) {
		if p != nil {
			each(p.Type)
			walk(p.Items)
		}
	}
	for i := range t.Fields {
		walk(&t.Fields[i])
	}
	for i := range t.Computed {
		walk(&t.Computed[i])
	}
	walk(t.Items)
	for _, member := range t.Members {
		each(member)
	}
	each(t.Changes)
	each(t.Filters)
}

// definitions returns definitions with the new names.
func (r renaming) definitions(d Definitions) Definitions {
	d.Types, d.Operations = slices.Clone(d.Types), slices.Clone(d.Operations)
	for i := range d.Types {
		t := &d.Types[i]
		if to := r.of(t.Changes); to != t.Changes {
			if rest, ok := strings.CutPrefix(t.Description, "Changes to a "+t.Changes+"."); ok {
				t.Description = "Changes to a " + to + "." + rest
			}
			t.Changes = to
		}
		if to := r.of(t.Filters); to != t.Filters {
			t.Filters, t.Description = to, FilterDescription(to)
		}
		t.Name, t.Fields, t.Items = r.of(t.Name), r.params(t.Fields), r.param(t.Items)
		t.Computed = r.params(t.Computed)
		t.Members = slices.Clone(t.Members)
		for k := range t.Members {
			t.Members[k] = r.of(t.Members[k])
		}
	}
	d.Relations = slices.Clone(d.Relations)
	for i := range d.Relations {
		relation := &d.Relations[i]
		relation.Of, relation.Target = r.of(relation.Of), r.of(relation.Target)
	}
	for i := range d.Operations {
		o := &d.Operations[i]
		o.Params, o.Returns.Name = r.params(o.Params), r.of(o.Returns.Name)
	}
	return d
}

func (r renaming) of(name string) string { return cmp.Or(r[name], name) }

func (r renaming) params(params []Param) []Param {
	out := slices.Clone(params)
	for i := range out {
		out[i].Type, out[i].Items = r.of(out[i].Type), r.param(out[i].Items)
	}
	return out
}

func (r renaming) param(p *Param) *Param {
	if p == nil {
		return nil
	}
	out := *p
	out.Type, out.Items = r.of(p.Type), r.param(p.Items)
	return &out
}
