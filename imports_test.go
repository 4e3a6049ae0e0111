package aqltag_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/aqltag/aqltag"

// allowed lists, for every folder of the root module, the folders of ours it may import. Tests may import more.
var allowed = map[string][]string{
	"model":                               {},
	"tagparse":                            {},
	"scan":                                {"tagparse", "model", "model/leak", "scan/load"},
	"scan/load":                           {},
	"model/leak":                          {},
	"model/table":                         {"model"},
	"model/fingerprint":                   {"model"},
	"emit":                                {"model", "model/fingerprint", "model/table"},
	"scan/manifest":                       {"scan/load"},
	"project":                             {"model"},
	"project/compatibility":               {"model", "project"},
	"project/jsonschema":                  {"model", "project"},
	"project/openapi":                     {"model", "project", "project/jsonschema"},
	"project/markdown":                    {"model", "project"},
	"project/llms":                        {"model", "project"},
	"project/adapterschema":               {"model"},
	"project/manifest":                    {"model"},
	"runtime":                             {"model", "model/fingerprint", "model/leak", "model/table", "project", "project/manifest", "runtime/codec", "runtime/wire", "runtime/gate", "runtime/identity", "runtime/trust", "runtime/policy", "runtime/quota", "runtime/audit", "runtime/store"},
	"runtime/codec":                       {"model", "runtime/wire", "runtime/codec/pattern"},
	"runtime/codec/pattern":               {},
	"runtime/wire":                        {},
	"runtime/identity":                    {},
	"runtime/gate":                        {"model", "runtime/audit", "runtime/identity", "runtime/policy", "runtime/quota", "runtime/store", "runtime/trust"},
	"runtime/trust":                       {"model"},
	"runtime/quota":                       {"model", "runtime/store"},
	"runtime/audit":                       {"runtime/identity", "runtime/store"},
	"runtime/policy":                      {"model", "model/leak", "runtime/identity"},
	"runtime/store":                       {},
	"runtime/store/storetest":             {"runtime/store"},
	"runtime/store/sqlite":                {"runtime/store"},
	"runtime/aqltest":                     {"conform", "model/leak", "project", "project/compatibility", "runtime"},
	"runtime/mcpserver":                   {"runtime", "runtime/identity", "project"},
	"runtime/serve":                       {"runtime", "runtime/mcpserver", "runtime/audit", "runtime/policy", "runtime/store", "project"},
	"conform":                             {},
	"conform/mcpclient":                   {"conform"},
	"aqlvet":                              {"model", "scan"},
	"aqlvet/golangci":                     {"aqlvet"},
	"cmd/aql-tag":                         {"aqlvet", "scan", "scan/load", "scan/manifest", "emit", "model", "project", "project/adapterschema", "project/compatibility", "project/jsonschema", "project/llms", "project/manifest", "project/markdown", "project/openapi", "runtime/policy", "runtime/identity", "runtime/audit", "conform", "conform/mcpclient"},
	"runtime/store/redis":                 {"runtime/store"},
	"runtime/store/redis/redistest":       {},
	"runtime/store/postgres":              {"runtime/store"},
	"runtime/store/postgres/postgrestest": {},
}

// foreign lists the heavy dependencies that only some folders may know.
var foreign = map[string][]string{
	"github.com/modelcontextprotocol/go-sdk": {"runtime/mcpserver", "conform/mcpclient"},
	"github.com/invopop/jsonschema":          {"project/jsonschema"},
	"go.yaml.in/yaml":                        {"runtime/policy"},
	"github.com/redis/go-redis":              {"runtime/store/redis"},
	"github.com/jackc/pgx":                   {"runtime/store/postgres", "runtime/store/postgres/postgrestest"},
	"golang.org/x/tools/go/packages":         {"scan", "scan/load"},
	"golang.org/x/tools/go/analysis":         {"aqlvet", "aqlvet/golangci", "cmd/aql-tag"},
	"modernc.org/sqlite":                     {"runtime/store/sqlite"},
}

// The house has one-way streets (design §2): each folder imports only what the table grants.
func TestImportDirections(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch name := entry.Name(); {
			case file == ".":
				return nil
			case name == "testdata", name == "examples", name == "bench", name == "adopted", name == "tools", name == "e2e", name == "tests", strings.HasPrefix(name, "."):
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		folder := path.Dir(filepath.ToSlash(file))
		grants, known := allowed[folder]
		if !known {
			t.Errorf("%s: folder %s is not in the table of this test", file, folder)
			return nil
		}
		seen[folder] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if ours, ok := strings.CutPrefix(imported, module+"/"); ok && !slices.Contains(grants, ours) {
				t.Errorf("%s imports %s; %s may import only %v", file, ours, folder, grants)
			}
			for heavy, owners := range foreign {
				if strings.HasPrefix(imported, heavy) && !slices.Contains(owners, folder) {
					t.Errorf("%s imports %s, which only %v may", file, imported, owners)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range allowed {
		if !seen[folder] {
			t.Errorf("folder %s is in the table but holds no code", folder)
		}
	}
}
