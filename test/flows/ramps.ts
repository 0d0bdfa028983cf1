import { flowOf } from '../../src/flows/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import type { Stack } from '../harness/stack.js';

type Handle = Awaited<ReturnType<Stack['startFlow']>>;

/** A trusted event with this body, read as the gateway would. */
export function eventOf(kind: FlowKind, body: unknown, more: Partial<FlowEvent> = {}): FlowEvent {
  const reading = flowOf(kind).readEvent(body);
  if (reading === undefined) throw new Error('that is no event');
  return trusted(reading.status ?? '', { status: reading.status, facts: reading.facts, source: 'webhook', ...more });
}

/** How a flow ended; one that closes as Failed or Cancelled is queried. Skips time. */
export async function endOf(handle: Handle): Promise<FlowReport> {
  await handle.result().catch(() => undefined);
  return handle.query<FlowReport>('flow');
}

/** Lets time pass, ten minutes and then another ten, until the flow is parked. */
export async function parked(bench: Stack, handle: Handle, turns = 8): Promise<FlowReport> {
  const isParked = (report: FlowReport) => report.view.state === 'parked';
  for (let turn = 1; turn <= turns; turn += 1) {
    const report = await handle.query<FlowReport>('flow');
    if (isParked(report)) return report;
    await bench.pass(600_000);
  }
  return untilFlow(handle, isParked);
}

/** A person's order. */
export function order(handle: Handle, action: string, note = 'looked it up'): Promise<unknown> {
  return handle.executeUpdate('resolve', { args: [{ action, note, actor: 'ada' }] });
}

/** Moves the sandbox's transaction by hand, step by step. */
export async function move(bench: Stack, reference: string, ...statuses: readonly string[]): Promise<void> {
  for (const status of statuses) await bench.move(reference, status);
}

/** Counts calls of the service from now on, by operation. */
export function countCalls(bench: Stack, ...operations: readonly string[]): Record<string, number> {
  const service = serviceOf(bench);
  const counts: Record<string, number> = {};
  for (const operation of operations) {
    const call = service[operation]?.bind(service);
    counts[operation] = 0;
    service[operation] = (argument) => {
      counts[operation] = (counts[operation] ?? 0) + 1;
      return call?.(argument) ?? Promise.reject(new Error(`no ${operation}`));
    };
  }
  return counts;
}

function serviceOf(bench: Stack) {
  return bench.deps.service as unknown as Record<string, (argument: unknown) => Promise<unknown>>;
}

export const stagesOf = ({ view }: FlowReport): readonly string[] => [
  ...new Set(view.timeline.map(({ stage }) => stage)),
];
