"""Starts a bridge transfer, waits for its end and lists its events, by nothing but the generated client."""

import json
import sys

from towline_gateway_client import AuthenticatedClient
from towline_gateway_client.api.events import list_events_of_flow
from towline_gateway_client.api.flows import start_bridge_transfer, wait_for_flow
from towline_gateway_client.models import BridgeTransferInput, FlowKind, FlowState, Refused

url, token, example, reference = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)

with open(example, encoding="utf-8") as file:
    transfer = BridgeTransferInput.from_dict(json.load(file))
transfer.provider_reference_id = reference

started = start_bridge_transfer.sync_detailed(client=client, body=transfer)
again = start_bridge_transfer.sync_detailed(client=client, body=transfer)

transfer.wallet_id = "another"
other = start_bridge_transfer.sync(client=client, body=transfer)
assert isinstance(other, Refused), other

kind = FlowKind.BRIDGE_TRANSFER
flow = wait_for_flow.sync(kind, reference, client=client, timeout_seconds=30)
assert flow is not None and flow.state is FlowState.COMPLETED, flow

events = list_events_of_flow.sync(kind, reference, client=client, limit=50)
print(
    json.dumps(
        {
            "started": started.status_code,
            "again": again.status_code,
            "flowId": flow.flow_id,
            "stages": [change.stage for change in flow.timeline],
            "refused": other.message,
            "events": sorted({event.state.value for event in events.events}),
        }
    )
)
