#!/usr/bin/env bash
# Builds the documentation site into bin/artefacts/site and checks it. Needs Go, node and npm.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null; then
	echo "npm is missing: install the packages nodejs and npm" >&2
	exit 1
fi
export npm_config_fetch_retries="${npm_config_fetch_retries:-5}"
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --loglevel=error
npm run --silent build
go run ../test/site ../bin/artefacts/site ..
