#!/usr/bin/env bash
# Has the linter of an editor look at the container file. Needs node and npm.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

if ! command -v npm >/dev/null; then
	echo "npm is missing: install the packages nodejs and npm" >&2
	exit 1
fi
work=$root/bin/deploy
mkdir -p "$work"
cp "$(dirname "$0")/package.json" "$work/"
(cd "$work" && npm install --no-package-lock --no-audit --no-fund --silent)

check() { # check FILE: what the linter finds in it, with exit code 1 if that is anything
	"$work/node_modules/.bin/dockerfile-utils" lint "$1"
}
check "$root/deploy/Containerfile"
echo "  ok deploy/Containerfile"

# It finds what is wrong, where something is.
printf 'FROM scratch\nENTRYPOINT [ "/todo-server" \nUSER\n' >"$work/broken"
if check "$work/broken" >/dev/null 2>&1; then
	echo "the linter finds nothing in a broken file" >&2
	exit 1
fi
