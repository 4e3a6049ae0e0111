#!/usr/bin/env bash
# Runs the conformance suites of MCP, the released one and the newest, over HTTP against three servers: the example; the
# program in the folder fixture, which has the tools, resources and prompts that the suites want to use; and the same
# with the adapter attached to a server of the SDK. Exactly the scenarios of conformance.tsv may fail, each with as many
# checks as it says there, for the reason that it gives.
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
go -C .. build -o "$bin/fixture" ./clients/fixture

results=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$results"' EXIT

suite() { # suite NAME URL RUN FOLDER ARGUMENT...: notes the scenarios that fail, with the number of their checks
	local name=$1 url=$2 run=$3 folder=$4
	shift 4
	local log="$results/$name-$run.log"
	(cd "$results" && "$node" "$bin/$folder/node_modules/@modelcontextprotocol/conformance/dist/index.js" \
		server --url "$url" "$@" >"$log" 2>&1) || true # it fails where a scenario does
	grep -q '^Total: ' "$log" || { cat "$log" >&2; exit 1; }
	sed -n "s/^✗ \([^:]*\): [0-9]* passed, \([0-9]*\) failed.*/$name\t$run\t\1\t\2/p" "$log" >>"$results/failed"
	echo "  ok conformance of $name, $run: $(sed -n 's/^Total: //p' "$log")"
}

suites() { # suites NAME PROGRAM ARGUMENT...: starts a server and runs all suites against it
	local name=$1 log="$results/$1.stderr" url=
	shift
	: >"$log" # before it is read
	"$@" 2>"$log" &
	server=$!
	until [ -n "$url" ]; do
		kill -0 "$server" 2>/dev/null || { cat "$log" >&2; exit 1; } # the server has ended
		sleep 0.1
		url=$(sed -n 's/.*url=\(http[^ ]*\).*/\1/p' "$log")
	done
	suite "$name" "$url" 0.1.16 conformance-released
	suite "$name" "$url" 2025-11-25 conformance-newest --suite all --spec-version 2025-11-25
	suite "$name" "$url" 2026-07-28 conformance-newest --suite all --spec-version 2026-07-28
	kill "$server"
	wait "$server" || true
	server=
}

suites todo "$bin/todo" -db :memory: -transport http -addr 127.0.0.1:0
suites fixture "$bin/fixture" -transport http -addr 127.0.0.1:0
suites attached "$bin/fixture" -attached

if ! diff <(tail -n +2 conformance.tsv | cut -f1-4 | LC_ALL=C sort) <(LC_ALL=C sort "$results/failed"); then
	echo "the scenarios that fail are not those of test/clients/conformance.tsv (<: listed there, >: failed now)" >&2
	exit 1
fi
