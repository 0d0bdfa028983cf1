import type { Payload, PayloadCodec } from '@temporalio/common';
import type { FlowReport } from '../../src/api/flow.js';
import { startWorker } from '../../src/temporal/worker.js';
import { NAMESPACE } from '../harness/fixed.js';
import type { Stack } from '../harness/stack.js';

/** A worker of a stack that can hold the completion of a flow on its way to Temporal. */
export interface HoldingWorker {
  /**
   * Temporal gets the first completion of this flow only after the work, and refuses it if an event came meanwhile. (It
   * then takes no event until it has the second one: whoever sends without end cannot keep a flow open.)
   */
  beforeCompletion(flowId: string, work: () => Promise<unknown>): void;
  shutdown(): Promise<void>;
}

const silent = { info() {}, warn() {}, error() {}, debug() {} };

/**
 * The SDK encodes a flow's result after the workflow's code has returned it and before Temporal gets it: a codec that
 * waits there holds exactly the moment in which an event comes too late for the code and too early for the server.
 */
export async function startHoldingWorker(stack: Stack): Promise<HoldingWorker> {
  const held = new Map<string, () => Promise<unknown>>();
  const hold: PayloadCodec = {
    async encode(payloads) {
      for (const payload of payloads) {
        const flowId = flowThatEnded(payload) ?? '';
        const work = held.get(flowId);
        held.delete(flowId);
        await work?.();
      }
      return payloads;
    },
    decode: (payloads) => Promise.resolve(payloads),
  };
  const { payloadCodecs = [] } = stack.dataConverter;
  const worker = await startWorker({
    variables: { TEMPORAL_ADDRESS: stack.address },
    namespace: NAMESPACE,
    // The first one encodes first: it sees what the workflow returned, not yet encrypted.
    dataConverter: { ...stack.dataConverter, payloadCodecs: [hold, ...payloadCodecs] },
    activities: stack.deps,
    log: silent,
    bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
    taskQueue: stack.taskQueue,
  });
  return {
    beforeCompletion: (flowId, work) => void held.set(flowId, work),
    shutdown: () => worker.shutdown(),
  };
}

/** Its id, if the payload is the report with which a flow ends. */
function flowThatEnded({ data }: Payload): string | undefined {
  try {
    const report = JSON.parse(Buffer.from(data ?? []).toString()) as Partial<FlowReport> | null;
    return report?.view?.outcome ? report.view.flowId : undefined;
  } catch {
    return undefined;
  }
}
