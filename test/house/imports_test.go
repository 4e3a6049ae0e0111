package house_test

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

// allowed lists, for every folder of the released modules, the folders of ours it may import. Tests may import more.
var allowed = map[string][]string{
	"model":            {"runtime/gen"},
	"runtime/gen":      {},
	"internal/scratch": {},
	"tagparse":         {"runtime/words"},
	"internal/scan": {
		"internal/diag", "internal/load", "internal/scan/comment", "internal/scan/gotype", "internal/scan/jsonvalue",
		"internal/scan/naming", "internal/scan/params", "internal/scan/shapes", "internal/scan/source",
		"internal/scan/tags", "internal/scan/wiretype", "model", "runtime/gen", "runtime/words", "tagparse",
	},
	"internal/diag": {"model", "runtime/words"},
	"internal/propose": {
		"internal/atomicfile", "internal/diag", "internal/load", "internal/plainfile", "internal/scan",
		"internal/scan/gotype", "internal/scan/naming", "internal/scan/shapes", "model", "runtime/gen",
	},
	"internal/scantest":     {"internal/load", "internal/scan"},
	"internal/scan/comment": {"internal/scan/naming", "runtime/words"},
	"internal/scan/existing": {
		"internal/diag", "internal/scan/foreigntag", "internal/scan/gotype", "internal/scan/jsonvalue",
		"internal/scan/shapes", "internal/scan/source", "internal/scan/tags", "tagparse",
	},
	"internal/scan/gotype":    {"internal/load", "model"},
	"internal/scan/jsonvalue": {"internal/diag", "internal/scan/naming", "internal/scan/shapes", "runtime/gen"},
	"internal/scan/naming":    {"runtime/gen"},
	"internal/scan/params": {
		"internal/diag", "internal/scan/comment", "internal/scan/existing", "internal/scan/gotype",
		"internal/scan/jsonvalue", "internal/scan/naming", "internal/scan/shapes", "internal/scan/source",
		"internal/scan/tags", "runtime/gen", "tagparse",
	},
	"internal/scan/shapes": {
		"internal/diag", "internal/scan/gotype", "internal/scan/naming", "internal/scan/source", "internal/scan/tags",
		"model", "runtime", "runtime/gen",
	},
	"internal/scan/source": {"internal/diag", "internal/load", "model", "tagparse"},
	"internal/scan/tags": {
		"internal/diag", "internal/scan/foreigntag", "internal/scan/naming", "internal/scan/source", "tagparse",
	},
	"internal/scan/wiretype": {
		"internal/diag", "internal/load", "internal/scan/comment", "internal/scan/gotype", "internal/scan/naming",
		"internal/scan/shapes", "internal/scan/source", "model", "runtime/gen",
	},
	"internal/atomicfile": {},
	"internal/generate": {
		"emit", "internal/diag", "internal/load", "internal/outfile", "internal/runcache", "internal/scan", "model",
		"runtime/gen",
	},
	"internal/outfile":              {"internal/atomicfile", "internal/plainfile"},
	"internal/plainfile":            {},
	"internal/scan/foreigntag":      {"internal/diag", "tagparse"},
	"internal/scan/sourcetest":      {"internal/load", "internal/scan/source", "runtime"},
	"internal/load":                 {"internal/atomicfile", "internal/plainfile"},
	"runtime/words":                 {},
	"runtime/describe/fingerprint":  {"runtime/gen"},
	"emit":                          {"model", "runtime/describe/fingerprint", "runtime/gen"},
	"internal/runcache":             {"internal/load"},
	"runtime/internal/search":       {"runtime/words"},
	"runtime/jsonschema":            {"runtime/gen"},
	"runtime/describe/reference":    {"runtime/describe", "runtime/gen", "runtime/words"},
	"internal/catalogue":            {"runtime/gen"},
	"runtime/describe":              {"runtime/gen", "runtime/internal/search", "runtime/jsonschema", "runtime/words"},
	"internal/compat":               {"runtime/describe", "runtime/gen", "runtime/words"},
	"internal/export":               {"runtime/describe", "runtime/gen"},
	"internal/export/exporttest":    {"runtime/describe"},
	"internal/export/introspection": {"internal/export", "runtime/describe", "runtime/gen"},
	"internal/export/jsonschema":    {"internal/export", "runtime/gen", "runtime/jsonschema"},
	"internal/export/openapi": {"internal/export", "internal/export/jsonschema", "runtime/describe",
		"runtime/gen", "runtime/jsonschema", "runtime/words"},
	"internal/export/markdown":      {"internal/export", "runtime/describe", "runtime/describe/reference", "runtime/gen"},
	"internal/export/llms":          {"internal/export", "runtime/describe", "runtime/gen", "runtime/words"},
	"internal/export/adapterschema": {"internal/export", "runtime/gen"},
	"runtime/describe/manifest":     {"runtime/gen"},
	"runtime/approve": {"runtime/gen", "runtime/identity", "runtime/internal/wire", "runtime/store",
		"runtime/words"},
	"runtime/operator": {"runtime/approve", "runtime/audit", "runtime/console/setup", "runtime/execution", "runtime/gen",
		"runtime/identity", "runtime/internal/account", "runtime/internal/desk", "runtime/internal/invite",
		"runtime/internal/logout", "runtime/internal/loopback", "runtime/internal/meter", "runtime/internal/usage",
		"runtime/passphrase", "runtime/quota", "runtime/store", "runtime/verify", "runtime/words"},
	"runtime/console": {"runtime", "runtime/approve", "runtime/audit", "runtime/console/internal/calls",
		"runtime/console/internal/chart", "runtime/console/setup", "runtime/execution", "runtime/gen", "runtime/identity",
		"runtime/internal/checks", "runtime/internal/connections", "runtime/internal/desk", "runtime/internal/invite",
		"runtime/internal/logout", "runtime/internal/loopback", "runtime/internal/passkey", "runtime/internal/usage",
		"runtime/observe", "runtime/passphrase", "runtime/policy", "runtime/store", "runtime/verify", "runtime/words"},
	"runtime/console/internal/calls": {"runtime/identity", "runtime/observe"},
	"runtime/console/internal/chart": {},
	"runtime/console/setup": {"runtime", "runtime/audit", "runtime/execution", "runtime/gen", "runtime/identity",
		"runtime/internal/loopback", "runtime/observe", "runtime/policy", "runtime/store"},
	"runtime/console/oidc":     {"runtime/console/setup", "runtime/identity", "runtime/internal/loopback"},
	"runtime/console/webauthn": {"runtime/console/setup"},
	"runtime/internal/invite":  {"runtime/identity", "runtime/internal/logout", "runtime/store"},
	"runtime/internal/logout":  {"runtime/identity", "runtime/store"},
	"runtime/internal/passkey": {"runtime/console/setup", "runtime/identity", "runtime/store"},
	"runtime/passphrase":       {"runtime/identity", "runtime/store"},
	"runtime/internal/usage":   {"runtime/identity", "runtime/internal/desk", "runtime/quota", "runtime/words"},
	"runtime/internal/desk": {"runtime/approve", "runtime/audit", "runtime/identity", "runtime/verify",
		"runtime/words"},
	"runtime": {"runtime/approve", "runtime/audit", "runtime/describe", "runtime/describe/fingerprint",
		"runtime/describe/manifest", "runtime/describe/reference", "runtime/execution", "runtime/gen", "runtime/identity",
		"runtime/internal/agents", "runtime/internal/codec", "runtime/internal/collection", "runtime/internal/cursor",
		"runtime/internal/gate", "runtime/internal/meter", "runtime/internal/observer", "runtime/internal/related",
		"runtime/internal/wire", "runtime/loop", "runtime/observe", "runtime/policy", "runtime/quota", "runtime/store",
		"runtime/trust", "runtime/verify", "runtime/words"},
	"runtime/observe":                {},
	"runtime/observe/otel":           {"runtime", "runtime/observe"},
	"runtime/observe/otel/telemetry": {"runtime", "runtime/observe/otel", "runtime/serve"},
	"runtime/internal/connections":   {},
	"runtime/internal/loopback":      {},
	"runtime/internal/checks":        {},
	"runtime/internal/observer":      {"runtime/observe"},
	"runtime/internal/agents": {"runtime/approve", "runtime/audit", "runtime/execution", "runtime/gen",
		"runtime/identity", "runtime/loop", "runtime/policy", "runtime/store", "runtime/verify"},
	"runtime/internal/codec": {
		"runtime/gen", "runtime/internal/collection", "runtime/internal/related", "runtime/internal/wire",
	},
	"runtime/computed":            {"runtime/gen", "runtime/internal/codec"},
	"runtime/internal/collection": {},
	"runtime/internal/cursor":     {},
	"runtime/internal/decompose":  {},
	"runtime/internal/related":    {"runtime/gen"},
	"runtime/internal/notes":      {"runtime", "runtime/gen"},
	"runtime/internal/schematest": {},
	"runtime/internal/rpc":        {"runtime/internal/wire"},
	"runtime/internal/wire":       {},
	"runtime/identity":            {"runtime/internal/account"},
	"runtime/internal/account":    {},
	"runtime/internal/gate": {"runtime/approve", "runtime/audit", "runtime/gen", "runtime/identity",
		"runtime/internal/meter", "runtime/policy", "runtime/quota", "runtime/store", "runtime/trust"},
	"runtime/internal/meter":          {"runtime/gen", "runtime/quota", "runtime/store"},
	"runtime/trust":                   {"runtime/gen"},
	"runtime/quota":                   {"runtime/gen"},
	"runtime/audit":                   {"runtime/identity", "runtime/internal/wire", "runtime/store"},
	"runtime/policy":                  {"runtime/gen", "runtime/identity", "runtime/internal/wire", "runtime/words"},
	"runtime/policy/policyfile":       {"runtime/gen", "runtime/policy", "runtime/words"},
	"runtime/sqlquery":                {"runtime", "runtime/gen", "runtime/internal/collection"},
	"runtime/sqlquery/pgxquery":       {"runtime", "runtime/sqlquery"},
	"runtime/store":                   {},
	"runtime/verify":                  {"runtime/approve", "runtime/audit", "runtime/identity", "runtime/store"},
	"runtime/verify/verifytest":       {"runtime/approve", "runtime/identity", "runtime/store", "runtime/verify"},
	"runtime/store/storetest":         {"runtime/store"},
	"runtime/store/sqlite":            {"runtime/store"},
	"runtime/execution":               {"runtime/store"},
	"runtime/loop":                    {"runtime/gen", "runtime/internal/decompose", "runtime/policy"},
	"runtime/execution/executiontest": {"runtime/execution", "runtime/store"},
	"runtime/execution/river":         {"runtime/execution", "runtime/store", "runtime/store/postgres"},
	"runtime/aqltest": {"conform", "internal/compat", "internal/export/introspection", "runtime", "runtime/describe",
		"runtime/words"},
	"runtime/mcpserver": {
		"runtime", "runtime/describe", "runtime/identity", "runtime/internal/loopback", "runtime/internal/rpc",
		"runtime/internal/wire", "runtime/mcpserver/internal/front", "runtime/observe", "runtime/words",
	},
	"runtime/mcpserver/internal/front": {"runtime/internal/rpc"},
	"runtime/serve": {"runtime", "runtime/approve", "runtime/audit", "runtime/console/setup", "runtime/describe",
		"runtime/identity", "runtime/internal/account", "runtime/internal/checks", "runtime/internal/connections",
		"runtime/internal/gate", "runtime/internal/loopback", "runtime/mcpserver", "runtime/notify",
		"runtime/observe", "runtime/operator", "runtime/policy", "runtime/policy/policyfile", "runtime/store",
		"runtime/toolhook"},
	"runtime/notify": {"runtime/approve", "runtime/console/setup", "runtime/gen", "runtime/identity", "runtime/store",
		"runtime/verify", "runtime/words"},
	"runtime/notify/desktop":       {"runtime/notify", "runtime/verify"},
	"runtime/notify/internal/post": {"runtime/internal/loopback"},
	"runtime/notify/ntfy":          {"runtime/notify", "runtime/notify/internal/post", "runtime/verify"},
	"runtime/notify/webhook": {"runtime/notify", "runtime/notify/internal/post", "runtime/verify",
		"runtime/words"},
	"runtime/toolhook": {"runtime", "runtime/gen", "runtime/identity", "runtime/internal/wire", "runtime/loop",
		"runtime/policy", "runtime/store"},
	"conform":           {"runtime/words"},
	"internal/call":     {"conform", "internal/plainfile", "runtime/gen", "runtime/words"},
	"internal/connect":  {},
	"conform/mcpclient": {"conform"},
	"aqlvet":            {"internal/diag", "internal/scan", "model"},
	"aqlvet/golangci":   {"aqlvet"},
	"cmd/aql-dongle": {
		"runtime", "runtime/console", "runtime/gen", "runtime/notify", "runtime/notify/desktop", "runtime/notify/ntfy",
		"runtime/notify/webhook", "runtime/operator", "runtime/serve", "runtime/store/sqlite", "runtime/toolhook",
	},
	"cmd/aql-tag": {
		"aqlvet", "conform", "conform/mcpclient", "internal/atomicfile", "internal/call", "internal/compat",
		"internal/connect", "internal/diag", "internal/export",
		"internal/export/adapterschema", "internal/export/introspection", "internal/export/jsonschema",
		"internal/export/llms", "internal/export/markdown", "internal/export/openapi", "internal/generate",
		"internal/outfile", "internal/plainfile", "internal/propose", "internal/runcache", "internal/scan", "model",
		"runtime/audit",
		"runtime/describe", "runtime/describe/manifest", "runtime/gen", "runtime/identity", "runtime/loop",
		"runtime/policy", "runtime/policy/policyfile", "runtime/words",
	},
	"runtime/store/redis":                 {"runtime/store"},
	"runtime/store/redis/redistest":       {},
	"runtime/store/postgres":              {"runtime/store"},
	"runtime/store/postgres/postgrestest": {},
}

// foreign lists the heavy dependencies that only some folders may know.
var foreign = map[string][]string{
	"github.com/modelcontextprotocol/go-sdk": {
		"runtime/mcpserver", "runtime/mcpserver/internal/front", "conform/mcpclient",
	},
	"go.yaml.in/yaml":           {"runtime/policy/policyfile"},
	"github.com/redis/go-redis": {"runtime/store/redis"},
	"github.com/coreos/go-oidc": {"runtime/console/oidc"},
	"golang.org/x/oauth2":       {"runtime/console/oidc"},
	"github.com/go-webauthn":    {"runtime/console/webauthn"},
	"github.com/godbus/dbus":    {"runtime/notify/desktop"},
	"github.com/jackc/pgx": {
		"runtime/execution/river", "runtime/sqlquery/pgxquery", "runtime/store/postgres",
		"runtime/store/postgres/postgrestest",
	},
	"go.opentelemetry.io/otel":    {"runtime/observe/otel", "runtime/observe/otel/telemetry"},
	"github.com/prometheus":       {"runtime/observe/otel/telemetry"},
	"github.com/riverqueue/river": {"runtime/execution/river"},
	"golang.org/x/tools/go/packages": {
		"internal/load", "internal/propose", "internal/scan", "internal/scan/source", "internal/scan/sourcetest",
		"internal/scan/tags",
	},
	"golang.org/x/tools/go/analysis": {"aqlvet", "aqlvet/golangci", "cmd/aql-tag"},
	"modernc.org/sqlite":             {"runtime/store/sqlite"},
}

// The house has one-way streets (design §2): each folder imports only what the table grants.
func TestImportDirections(t *testing.T) {
	seen := map[string]bool{}
	root := repository(t)
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if file, err = filepath.Rel(root, file); err != nil {
			return err
		}
		if entry.IsDir() {
			switch name := entry.Name(); {
			case file == ".":
				return nil
			case name == "testdata", name == "examples", name == "bench", name == "tools", file == "test", name == "bin",
				strings.HasPrefix(name, "."):
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
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
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
