#!/usr/bin/env bash
# Starts a bridge transfer by HTTP and waits until it ends or parks. Repeating it is safe: one reference is one flow.
# Needs a running Towline (`npm start`); GATEWAY_URL and TOWLINE_TOKEN name another one than this machine's.
set -euo pipefail
cd "$(dirname "$0")"

gateway=${GATEWAY_URL:-http://127.0.0.1:8400}
auth="Authorization: Bearer ${TOWLINE_TOKEN:-dev-token}"
reference=${1:-order-$(date +%s)}

sed "s/order-1001/$reference/" bridge-transfer.json |
  curl -sS --fail-with-body "$gateway/flows/bridge-transfer" -H "$auth" -H 'Content-Type: application/json' -d @-
echo
curl -sS --fail-with-body "$gateway/flows/bridge-transfer/$reference/wait?timeoutSeconds=30" -H "$auth"
echo
