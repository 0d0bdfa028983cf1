import { flowOf } from '../../flows/index.js';
import type { EventReading } from '../../flows/flow.js';
import type { FlowKind } from '../../flows/vocabulary.js';
import { flowAddress } from '../http/flow-path.js';

/** What the inbox row is filed under. */
export interface EventLabels {
  readonly flowId: string | null;
  readonly reference: string | null;
  readonly status: string | null;
}

/** A status word may be shown and logged; a long text in its place may be anything. */
const WORD = /^[\w .:-]{1,64}$/;

/** A callback belongs to the flow of its path, whatever its body says. */
export function labelCallback(kind: FlowKind, reference: string, flowId: string, body: unknown): EventLabels {
  return { flowId, reference, status: wordOf(flowOf(kind)?.readEvent(body)) };
}

/** A settlement names its flow in its body, and is always one of a bridge transfer. */
export function labelSettlement(body: unknown): EventLabels {
  const reading = flowOf('bridge-transfer')?.readEvent(body);
  const address = flowAddress('bridge-transfer', reading?.reference);
  return { flowId: address?.flowId ?? null, reference: address?.reference ?? null, status: wordOf(reading) };
}

export function wordOf(reading: EventReading | undefined): string | null {
  const status = reading?.status;
  return typeof status === 'string' && WORD.test(status) ? status : null;
}
