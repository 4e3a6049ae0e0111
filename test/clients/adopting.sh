#!/usr/bin/env bash
# Does what docs/adopting.md says, from top to bottom, in a fresh module: writes its Go files, runs its commands, and compares
# what they print with the text blocks.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
version=v0.0.$(date +%s) # of this run only: what is in the module cache would win over the working tree
forget() {
	cache=$(go env GOMODCACHE)
	rm -rf "$dir" "$cache/github.com/aqltag/aqltag@$version" "$cache/cache/download/github.com/aqltag/aqltag/@v/$version".*
}
trap forget EXIT

# The reader gets the module from a proxy. This run serves the working tree as one, beside what is in the module cache; what
# is missing there comes from where it always does.
proxy=$dir/proxy/github.com/aqltag/aqltag/@v
mkdir -p "$proxy" "$dir/blocks" "$dir/module" && tree=$(git -C "$root" stash create)
echo "$version" >"$proxy/list"
echo "{\"Version\":\"$version\"}" >"$proxy/$version.info"
cp "$root/go.mod" "$proxy/$version.mod"
mapfile -t others < <(git -C "$root" ls-files '*/go.mod' | sed 's|\(.*\)/go.mod$|:!\1|') # a proxy serves one module
git -C "$root" archive --format=zip --prefix=github.com/aqltag/aqltag@$version/ -o "$proxy/$version.zip" "${tree:-HEAD}" -- \
	. "${others[@]}"
(cd "$root" && GOWORK=off go mod download && GOWORK=off go -C test/adopted mod download)
GOPROXY="file://$dir/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)"
# A cache of its own would be cleaner, but every dependency would be fetched again; the version is removed at the end.
export GOPROXY GOSUMDB=off GOWORK=off GOFLAGS=-modcacherw

# Each block becomes a file whose name has its number and its kind.
awk -v dir="$dir/blocks" '
	/^```[a-z]+$/ { file = sprintf("%s/%03d.%s", dir, ++n, substr($0, 4)); next }
	/^```$/       { file = ""; next }
	file != ""    { print > file }
' "$root/docs/adopting.md"

# The commands run in one shell, so that a later block may use what an earlier one defines. A text block is part of what the
# commands before it printed.
{
	echo "cd '$dir/module'; go mod init example.com/adopting 2>/dev/null; set -euo pipefail"
	for block in "$dir"/blocks/*; do
		case $block in
		*.go)
			file=$(sed -n '1s|^// ||p' "$block")
			echo "mkdir -p '$(dirname "$file")'; tail -n +2 '$block' >'$file'; echo; echo '== $file'"
			;;
		*.sh)
			echo "echo; sed 's/^/$ /' '$block'"
			echo "{"
			cat "$block"
			echo "} >'$block.out'; cat '$block.out'"
			last=$block.out
			;;
		*.text)
			echo "if [[ \$(cat '$last') != *\"\$(cat '$block')\"* ]]; then echo 'this is not what was printed:'; cat '$block'; exit 1; fi >&2"
			;;
		esac
	done
} >"$dir/script.sh"
bash "$dir/script.sh"

cd "$dir/module"
gofmt -l . | (! grep .)
go vet ./...
go tool aql-tag check ./...
before=$(cat branches/branches.go)
go tool aql-tag init -w ./branches >/dev/null
[[ $(cat branches/branches.go) == "$before" ]] || { echo "a second init -w changed something" >&2; exit 1; }
for code in VALIDATION_UNKNOWN_FIELD CONFIRMATION_REQUIRED; do
	grep -q "\"code\":\"$code\"" "$dir"/blocks/*.sh.out || { echo "no answer has code $code" >&2; exit 1; }
done
[[ $(git config branch.next.remote) == upstream ]] || { echo "the repository was not changed" >&2; exit 1; }
echo "  ok the walk through docs/adopting.md ends with an adapter that answers"
