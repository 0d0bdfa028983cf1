import type { FlowReport } from '../../src/api/flow.js';
import { inTurns } from '../../src/in-turns.js';
import type { Stack } from '../harness/stack.js';
import { newReference } from '../harness/references.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

/** The settle window is (2 s + 60 s) × this. */
export const TIME_SCALE = 0.01;

/** A rule of the sandbox for the deposit. */
export type Fault = Readonly<Record<string, unknown>> & { readonly kind: string };

export const LOST: Fault = { kind: 'answer-lost' };
export const ERROR_AFTER: Fault = { kind: 'error-after', status: 503 };
export const UNREADABLE: readonly Fault[] = [
  'html',
  'truncated',
  'wrong-shape',
  'no-reason',
  'empty',
  'not-an-object',
].map((variant) => ({ kind: 'garbage', variant }));
export const REPEAT_MODES = ['same-result', 'conflict', 'rejected', 'execute-again'] as const;

export interface DepositEnd {
  /** While its outcome was unknown. */
  readonly meanwhile: string;
  readonly state: string;
  readonly executions: number;
}

export const PAID_ONCE: DepositEnd = { meanwhile: 'running', state: 'completed', executions: 1 };

/** Starts n flows under a fault of the deposit, and gives them the events of a transfer that was paid. */
export async function depositsUnder(
  bench: Stack,
  fault: Fault,
  n: number,
  repeatMode: (typeof REPEAT_MODES)[number] = 'same-result',
): Promise<readonly DepositEnd[]> {
  await bench.control('DELETE', '/faults');
  await bench.control('POST', '/settings', { repeatMode });
  await bench.control('POST', '/faults', { operation: 'createBridgeDeposit', rate: 1, ...fault });
  const references = Array.from({ length: n }, () => newReference(fault.kind));
  return inTurns(references, 16, async (reference) => {
    // No person is asked before the events come: the wait for them is long.
    const handle = await bench.start(transferInput(reference));
    const { view } = await untilFlow(handle, (report) => report.view.stage === 'outcome-unknown');
    const facts = { serviceReference: `k-${reference}` };
    await handle.signal('events', [trusted('DEPOSIT_CONFIRMED', { facts }), trusted('COMPLETED', { facts })]);
    const { view: end } = (await handle.result()) as FlowReport;
    const executions = await bench.executions('createBridgeDeposit', reference);
    return { meanwhile: view.state, state: end.state, executions };
  });
}
