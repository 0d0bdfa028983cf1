import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { FlowEvent } from '../../../src/protocol/messages.js';

/** The signals that Temporal took for a flow: the events of each signal in its history, in order. */
export async function signalsOf(client: Client, flowId: string): Promise<readonly (readonly FlowEvent[])[]> {
  const { events } = await client.workflow.getHandle(flowId).fetchHistory();
  const converter = client.options.loadedDataConverter;
  const payloads = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }): Payload[] =>
    signal?.signalName === 'events' ? (signal.input?.payloads ?? []) : [],
  );
  return Promise.all(
    payloads.map((payload) => decodeFromPayloadsAtIndex<readonly FlowEvent[]>(converter, 0, [payload])),
  );
}
