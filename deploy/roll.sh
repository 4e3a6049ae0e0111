#!/bin/sh
# Replaces adapters of compose.yaml by those of a new version, one after the other: takes one out of the proxy, waits
# for the calls that it serves, makes its container anew, and puts it back when it answers.
set -eu
cd "$(dirname "$0")"

proxy() { # proxy COMMAND...: says something to HAProxy, on its socket
	echo "$*" | socat -t 5 stdio UNIX-CONNECT:run/admin.sock
}

stat() { # stat ADAPTER COLUMN: one column of what HAProxy knows of an adapter
	proxy show stat -1 4 -1 | awk -F, -v adapter="$1" -v column="$2" '
		/^#/ { for (i = 1; i <= NF; i++) if ($i == column) at = i }
		$1 == "adapters" && $2 == adapter { print $at }'
}

[ $# -gt 0 ] || { echo "usage: $0 ADAPTER..." >&2; exit 2; }
for adapter; do
	proxy set server "adapters/$adapter" state maint
	left=30
	until [ "$(stat "$adapter" scur)" = 0 ] || [ $left = 0 ]; do # event streams do not end before the adapter does
		sleep 1
		left=$((left - 1))
	done
	docker compose up --detach --no-deps "$adapter"
	proxy set server "adapters/$adapter" state ready
	until [ "$(stat "$adapter" status)" = UP ]; do sleep 1; done
	echo "$adapter is replaced"
done
