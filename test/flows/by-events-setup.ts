import { expect } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { flowInput } from '../harness/kind.js';
import type { NamedKind } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import type { Stack } from '../harness/stack.js';

export interface Started {
  readonly reference: string;
  readonly handle: WorkflowHandle;
}

export async function startAs(
  bench: Stack,
  kind: NamedKind,
  word: string,
  options: { ending?: string; more?: Record<string, unknown> } = {},
): Promise<Started> {
  const reference = newReference(word);
  // What the bench's sandbox does with it: unless a test says otherwise, accept it and never send an event.
  await bench.control('POST', '/scenarios', {
    reference,
    ending: options.ending ?? kind.open.ending,
    operation: kind.record,
  });
  const handle = await bench.startFlow(kind.kind, reference, { ...flowInput(kind, reference), ...options.more });
  return { reference, handle };
}

/** How it ended; one that closes as Failed or Cancelled is queried. Skips time. */
export async function endOf(handle: WorkflowHandle): Promise<FlowReport['view']> {
  await handle.result().catch(() => undefined);
  return (await handle.query<FlowReport>('flow')).view;
}

/** Refused by name, with a reason and without the value, and nothing is sent. */
export async function expectRefused(
  bench: Stack,
  kind: NamedKind,
  more: Record<string, unknown>,
  member: string,
): Promise<void> {
  const { reference, handle } = await startAs(bench, kind, 'wrong', { more });
  const { outcome } = await endOf(handle);
  expect(outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
  expect(outcome?.detail).toContain(member);
  expect(await bench.executions(kind.record, reference)).toBe(0);
}
