#!/usr/bin/env bash
# Does what the README says, in a fresh module: writes its Go files, runs its commands, and calls the result.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
version=v0.0.$(date +%s) # of this run only: what is in the module cache would win over the working tree
forget() {
	cache=$(go env GOMODCACHE)
	rm -rf "$dir" "$cache/github.com/aqltag/aqltag@$version" "$cache/cache/download/github.com/aqltag/aqltag/@v/$version".*
}
trap forget EXIT
cd "$dir"

# The reader gets the module from a proxy. This run serves the working tree as one, beside what is in the module cache.
proxy=$dir/proxy/github.com/aqltag/aqltag/@v
mkdir -p "$proxy" && tree=$(git -C "$root" stash create)
echo "$version" >"$proxy/list"
echo "{\"Version\":\"$version\"}" >"$proxy/$version.info"
cp "$root/go.mod" "$proxy/$version.mod"
mapfile -t others < <(git -C "$root" ls-files '*/go.mod' | sed 's|\(.*\)/go.mod$|:!\1|') # a proxy serves one module
git -C "$root" archive --format=zip --prefix=github.com/aqltag/aqltag@$version/ -o "$proxy/$version.zip" "${tree:-HEAD}" -- \
	. "${others[@]}"
(cd "$root" && GOWORK=off go mod download)
GOPROXY="file://$dir/proxy,file://$(go env GOMODCACHE)/cache/download"
# A cache of its own would be cleaner, but every dependency would be fetched again; the version is removed at the end.
export GOPROXY GOSUMDB=off GOWORK=off GOFLAGS=-modcacherw
go mod init example.com/notes 2>/dev/null

# Go blocks name their file in the first line; sh blocks become one script.
awk -v dir="$dir" '
	/^```go$/ { getline; sub("// ", ""); file = dir "/" $0; parent = file; sub("/[^/]*$", "", parent); system("mkdir -p " parent); next }
	/^```sh$/ { file = dir "/commands.sh"; next }
	/^```$/   { file = ""; next }
	file != "" { print > file }
' "$root/README.md"

# make demo and make test are run by make ci itself.
grep -v '^make ' commands.sh >script.sh
echo "== the README's commands"
cat script.sh
bash -euxo pipefail script.sh

gofmt -l . | (! grep .)

# The commands that stand in the README's tables.
go tool aql-tag lint ./notes
go tool aql-tag export -format snapshot -o released.json ./notes
go tool aql-tag check -against released.json ./notes
go tool aql-tag export -format markdown -o reference.md ./notes
go tool aql-tag export -format markdown -o reference.md -check ./notes
go tool aql-tag conform -q -allow-destructive -level 1 -- ./notes-adapter

answer=$(printf '%s\n' \
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"readme","version":"1"}}}' \
	'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
	'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp_aql_create","arguments":{"operation":"create_note","params":{"note_id":"first","title":"Hello"}}}}' |
	./notes-adapter)
case $answer in
*'{\"success\":true,\"data\":{\"note_id\":\"first\",\"title\":\"Hello\",\"tags\":[]}}'*) echo "  ok the README's adapter answers" ;;
*) echo "unexpected answer: $answer" >&2; exit 1 ;;
esac
