#!/usr/bin/env bash
# Runs cycle.mjs with both TypeScript clients over stdio and HTTP, and integers.mjs. Needs Go, node and npm.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null; then
	echo "npm is missing: install the packages nodejs and npm" >&2
	exit 1
fi
mkdir -p ../../bin/e2e
cp package.json *.mjs ../../bin/e2e/
(cd ../../bin/e2e && npm install --no-package-lock --no-audit --no-fund --silent)
go -C ../../examples/todo build -o "$PWD/../../bin/todo" .
go -C .. build -o "$PWD/../../bin/accounts" ./clients/accounts

for library in sdk client; do
	node ../../bin/e2e/cycle.mjs "$library" stdio "$PWD/../../bin/todo"
	node ../../bin/e2e/integers.mjs "$library" "$PWD/../../bin/accounts"
done

log=$(mktemp)
trap 'kill "$server" 2>/dev/null || true; rm -f "$log"' EXIT
../../bin/todo -db :memory: -transport http -addr 127.0.0.1:0 2>"$log" &
server=$!
url=
until [ -n "$url" ]; do
	kill -0 "$server" 2>/dev/null || { cat "$log" >&2; exit 1; } # the server has ended
	sleep 0.1
	url=$(sed -n 's/.*url=\(http[^ ]*\).*/\1/p' "$log")
done
for library in sdk client; do
	node ../../bin/e2e/cycle.mjs "$library" http "$url"
done
kill -TERM "$server"
wait "$server"
echo "  ok the server shut down cleanly"
