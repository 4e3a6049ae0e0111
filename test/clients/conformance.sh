#!/usr/bin/env bash
# Runs the conformance suites of MCP, the released one and the newest, against the example over HTTP. Exactly the
# scenarios of conformance.tsv may fail, each with as many checks as it says there, for the reason that it gives.
# Needs Go, node and npm; the suites need node 22, which npm installs where it is missing.
set -euo pipefail
cd "$(dirname "$0")"

bin="$PWD/../../bin"
install() { # install FOLDER PACKAGE...
	mkdir -p "$bin/$1"
	(cd "$bin/$1" && shift && npm install --no-package-lock --no-audit --no-fund --silent --no-save "$@")
}
install conformance-released @modelcontextprotocol/conformance@0.1.16
install conformance-newest @modelcontextprotocol/conformance@0.2.0-alpha.12
node=node
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
	install node22 node@22
	node="$bin/node22/node_modules/node/bin/node"
fi
go -C ../../examples/todo build -o "$bin/todo" .

log=$(mktemp)
"$bin/todo" -db :memory: -transport http -addr 127.0.0.1:0 2>"$log" &
server=$!
results=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$log" "$results"' EXIT
url=
until [ -n "$url" ]; do
	kill -0 "$server" 2>/dev/null || { cat "$log" >&2; exit 1; } # the server has ended
	sleep 0.1
	url=$(sed -n 's/.*url=\(http[^ ]*\).*/\1/p' "$log")
done

suite() { # suite RUN FOLDER ARGUMENT...: appends the scenarios that failed, with the number of their checks
	local run=$1 folder=$2
	shift 2
	(cd "$results" && "$node" "$bin/$folder/node_modules/@modelcontextprotocol/conformance/dist/index.js" \
		server --url "$url" "$@" >"$run.log" 2>&1) || true # it fails where a scenario does
	grep -q '^Total: ' "$results/$run.log" || { cat "$results/$run.log" >&2; exit 1; }
	sed -n "s/^✗ \([^:]*\): [0-9]* passed, \([0-9]*\) failed.*/$run\t\1\t\2/p" "$results/$run.log" >>"$results/failed"
	echo "  ok conformance $run: $(sed -n 's/^Total: //p' "$results/$run.log")"
}
suite 0.1.16 conformance-released
suite 2025-11-25 conformance-newest --suite all --spec-version 2025-11-25
suite 2026-07-28 conformance-newest --suite all --spec-version 2026-07-28

if ! diff <(tail -n +2 conformance.tsv | cut -f1-3 | LC_ALL=C sort) <(LC_ALL=C sort "$results/failed"); then
	echo "the scenarios that fail are not those of test/clients/conformance.tsv (<: listed there, >: failed now)" >&2
	exit 1
fi
