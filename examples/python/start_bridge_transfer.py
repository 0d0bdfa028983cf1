"""
Starts a bridge transfer from Python, waits for its end, and reads it back. No code of Towline's is needed: the workflow
type, the task queue, the id, and a payload codec.

    pip install -r examples/python/requirements.txt
    python examples/python/start_bridge_transfer.py order-1006

Repeating it is safe: one reference is one flow. Needs a running Towline (`npm start`), TEMPORAL_ADDRESS as that prints it,
and its payload keys: PAYLOAD_KEYS, or the key file in TOWLINE_HOME.
"""

import asyncio
import dataclasses
import json
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from payload_codec import TowlineCodec, read_keys

ADDRESS = os.environ["TEMPORAL_ADDRESS"]
NAMESPACE = os.environ.get("TEMPORAL_NAMESPACE", "default")
TASK_QUEUE = os.environ.get("TASK_QUEUE", "towline")
EXAMPLE = Path(__file__).parent.parent / "bridge-transfer.json"


def payload_keys() -> dict[str, bytes]:
    if "PAYLOAD_KEYS" in os.environ:
        return read_keys(os.environ["PAYLOAD_KEYS"].split(","))
    return read_keys(Path(os.environ.get("TOWLINE_HOME", ".towline"), "keys").read_text().splitlines())


async def shown(flow: WorkflowHandle) -> dict:
    """
    Where it stands, at any time, as it shows itself. A query that meets the flow's end may get no answer, and the next one
    does: each is given a few seconds, as the gateway does.
    """
    for tries_left in reversed(range(5)):
        try:
            return (await flow.query("flow", rpc_timeout=timedelta(seconds=3)))["view"]
        except RPCError as error:
            if error.status not in (RPCStatusCode.CANCELLED, RPCStatusCode.DEADLINE_EXCEEDED) or tries_left == 0:
                raise


async def main() -> None:
    reference = sys.argv[1] if len(sys.argv) > 1 else f"order-{time.time_ns()}"
    transfer = {**json.loads(EXAMPLE.read_text()), "provider_reference_id": reference}
    workflow_id = f"bridge-transfer/{reference}"

    converter = dataclasses.replace(
        DataConverter.default,
        payload_codec=TowlineCodec(payload_keys(), NAMESPACE),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )
    client = await Client.connect(ADDRESS, namespace=NAMESPACE, data_converter=converter)
    try:
        flow = await client.start_workflow(
            "bridgeTransfer",
            transfer,
            id=workflow_id,
            task_queue=TASK_QUEUE,
            # One reference is one flow, running or closed.
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        )
    except WorkflowAlreadyStartedError:
        flow = client.get_workflow_handle(workflow_id)  # it has ended already
    print(f"{workflow_id} runs")

    try:
        view = (await flow.result())["view"]
        print(f"{workflow_id}: {view['state']}. {view['outcome']['detail']}")
    except WorkflowFailureError as failure:
        # Failed and expired flows; the type is the reason. (Cancelled ones have no type.)
        cause = failure.cause
        print(f"{workflow_id} did not complete: {cause.type if isinstance(cause, ApplicationError) else cause}")

    view = await shown(flow)
    print(json.dumps({"reference": view["reference"], "state": view["state"], "timeline": len(view["timeline"])}))


asyncio.run(main())
# Threads of the SDK may outlive the interpreter's end and abort it (temporalio/sdk-python issue 300). A program that runs
# on does not need this.
sys.stdout.flush()
os._exit(0)
