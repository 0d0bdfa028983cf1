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

/**
 * An account webhook may be of any flow. Only the bridge says `provider_reference_id`; the other kinds are told by their
 * events' names, which come with them. Until then they are kept as unmatched.
 */
export function labelWebhook(body: unknown): EventLabels {
  const labels = labelSettlement(body);
  return saysProviderReference(body) ? labels : { ...labels, flowId: null };
}

function saysProviderReference(body: unknown): boolean {
  const data = member(body, 'data') ?? body;
  return typeof member(data, 'provider_reference_id') === 'string';
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function wordOf(reading: EventReading | undefined): string | null {
  const status = reading?.status;
  return typeof status === 'string' && WORD.test(status) ? status : null;
}
