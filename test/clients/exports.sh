#!/usr/bin/env bash
# Exports adapters and has other people's tools validate each format. Needs Go, node and npm.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null; then
	echo "npm is missing: install the packages nodejs and npm" >&2
	exit 1
fi
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
root=$(cd ../.. && pwd)
work=$root/bin/e2e-exports
mkdir -p "$work"
cp exports.json "$work/package.json"
cp schemas.mjs "$work/"
(cd "$work" && npm install --no-package-lock --no-audit --no-fund --silent)
rm -rf "$work/out"

quiet() { # quiet COMMAND...: prints the output of a command only where it fails
	"$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
}

GOWORK=off go -C "$root/examples/todo" build -o "$work/aql-tag" github.com/aqltag/aqltag/cmd/aql-tag

# What is in the repository is what the definitions give today, whoever makes it.
for pair in introspection:introspection snapshot:snapshot.json jsonschema:jsonschema openapi:openapi.json markdown:reference.md llms:llms.txt manifest:manifest.json \
	adapter-schema:adapter_definition.json; do
	(cd "$root/examples/todo" && "$work/aql-tag" export -q -check -format "${pair%%:*}" -name todo -version 1.0.0 -o "exports/${pair#*:}" ./todo)
done
echo "  ok the example's exports are up to date"

# lint DIRECTORY: has the tools look at the OpenAPI document and the Markdown in it.
lint() (
	cd "$work"
	quiet ./node_modules/.bin/validate-api "$1/openapi.json"
	quiet ./node_modules/.bin/redocly lint --skip-rule info-license "$1/openapi.json"
	echo "  ok OpenAPI"
	# Tables have long lines.
	printf '{"config": {"line-length": false}}' >"$1/.markdownlint-cli2.jsonc"
	cd "$1"
	quiet "$work/node_modules/.bin/markdownlint-cli2" reference.md llms.md
	echo "  ok Markdown"
)

# validate DIRECTORY NAME PACKAGE FLAGS...: exports a package and has the tools look at it.
validate() {
	local directory=$1 name=$2 package=$3 out=$work/out/$2
	shift 3
	mkdir -p "$out"
	local f
	for f in openapi:openapi.json markdown:reference.md llms:llms.md jsonschema:jsonschema; do
		(cd "$directory" && "$work/aql-tag" export -q -format "${f%%:*}" -name "$name" "$@" -o "$out/${f#*:}" "$package")
	done
	echo "== $name $*"
	lint "$out"
	(cd "$work" && node schemas.mjs "$root/runtime/jsonschema/testdata/patterns.json" "$out/jsonschema")
}

# What is hard to write, as the tests of the packages have it.
mkdir -p "$work/out/hard"
cp "$root/internal/export/openapi/testdata/shop.json" "$work/out/hard/openapi.json"
cp "$root/internal/export/markdown/testdata/shop.md" "$work/out/hard/reference.md"
cp "$root/internal/export/llms/testdata/shop.md" "$work/out/hard/llms.md"
echo "== hard cases"
lint "$work/out/hard"

validate "$root/examples/todo" todo ./todo -version 1.0.0
validate "$root/examples/todo" todo_single ./todo -mode single -prefix my_
validate "$root/examples/todo" todo_semantic ./todo -profile semantic
for package in dns repository trees; do
	validate "$root/test/adopted" "$package" "./$package"
done

# The manifest of a bundle is what the tool of bundles takes.
echo "== bundle"
mkdir -p "$work/out/bundle/server"
go -C "$root/examples/todo" build -o "$work/out/bundle/server/todo" .
"$work/aql-tag" connect -format mcpb -author "The authors" -description "Keeps todos." -env TOKEN -env LEVEL=warn \
	-- "$work/out/bundle/server/todo" -db :memory: >"$work/out/bundle/manifest.json"
quiet "$work/node_modules/.bin/mcpb" validate "$work/out/bundle/manifest.json"
echo "  ok manifest"
