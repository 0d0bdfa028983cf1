import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { EVENTS_SIGNAL } from '../../src/protocol/vocabulary.js';
import { inTurns } from '../../src/in-turns.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer } from '../setup/transfers.js';

const READ_AT_ONCE = 8;

/**
 * How long each event took from its source (the gateway, or this process) to its flow's history, ms: for events between
 * the two moments. Read from the histories, so that it costs nothing during the measurement.
 */
export async function lagsOf(
  { client }: Stack,
  references: readonly string[],
  [fromMs, toMs]: readonly [number, number],
): Promise<readonly number[]> {
  const ofEach = await inTurns(references, READ_AT_ONCE, async (reference) => {
    const { events = [] } = await client.workflow.getHandle(flowIdOfTransfer(reference)).fetchHistory();
    const lags: number[] = [];
    for (const { eventTime, workflowExecutionSignaledEventAttributes: signal } of events ?? []) {
      if (signal?.signalName !== EVENTS_SIGNAL) continue;
      const atMs = Number(eventTime?.seconds) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
      const [batch] = await decodeArrayFromPayloads(client.options.loadedDataConverter, signal.input?.payloads);
      for (const { receivedAt } of batch as readonly FlowEvent[]) {
        const receivedMs = Date.parse(receivedAt);
        if (receivedMs >= fromMs && receivedMs <= toMs) lags.push(atMs - receivedMs);
      }
    }
    return lags;
  });
  return ofEach.flat();
}
