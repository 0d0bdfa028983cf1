import type { Stack } from './stack.js';

/*
 * Holds three witnesses against one another: the sandbox's ledger, the flows as the gateway shows them, and the inbox.
 * It shares no code with the product: plain HTTP and arithmetic of its own.
 */

export interface Reconciled {
  /** I1: most executions per (operation, reference); and references of completed or refunded flows without exactly one. */
  readonly mostExecutions: number;
  readonly notExactlyOne: readonly string[];
  /** I2. */
  readonly flows: number;
  readonly byState: Readonly<Record<string, number>>;
  /** I4: settled and refunded, or refunded twice. */
  readonly settledAndRefunded: readonly string[];
  /** I6 and I8: what the service says against what the flow says. */
  readonly contradictions: readonly string[];
  /** I7: executed without a flow. */
  readonly orphans: readonly string[];
  /** I5: rows that are in no final state. */
  readonly unsettledRows: number;
}

/** States of inbox rows that nobody has said the last word on. */
const OPEN_ROWS = ['waiting', 'delivered'];

export async function reconcile(stack: Stack, references: readonly string[]): Promise<Reconciled> {
  const { executions } = (await stack.control('GET', '/executions')) as { executions: Execution[] };
  const counts = new Map<string, number>();
  for (const { operation, reference } of executions) {
    const key = `${operation} ${reference}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const byState: Record<string, number> = {};
  const notExactlyOne: string[] = [];
  const settledAndRefunded: string[] = [];
  const contradictions: string[] = [];
  for (const reference of references) {
    const { body: flow } = await stack.get(`/flows/bridge-transfer/${reference}`);
    const state = String(flow['state']);
    byState[state] = (byState[state] ?? 0) + 1;
    const deposits = counts.get(`createBridgeDeposit ${reference}`) ?? 0;
    const refunds = counts.get(`sendCrypto ${reference}.refund`) ?? 0;
    if ((state === 'completed' || state === 'refunded') && deposits !== 1) notExactlyOne.push(reference);
    if (deposits === 0) continue;
    const status = String((await stack.control('GET', `/deposits/${reference}`))['deposits'][0].status);
    if ((status === 'COMPLETED' && refunds > 0) || refunds > 1) settledAndRefunded.push(reference);
    if (contradicts(status, state)) contradictions.push(`${reference}: ${status} at the service, ${state} here`);
  }
  const known = new Set(references);
  const orphans = [...counts.keys()]
    .map((key) => key.split(' ')[1] ?? '')
    .filter((reference) => !known.has(reference.replace(/\.refund$/, '')));
  const open = await Promise.all(OPEN_ROWS.map((state) => stack.get(`/events?state=${state}`)));
  return {
    mostExecutions: Math.max(0, ...counts.values()),
    notExactlyOne,
    flows: references.length,
    byState,
    settledAndRefunded,
    contradictions,
    orphans,
    unsettledRows: open.reduce((sum, { body }) => sum + (body['events'] as unknown[]).length, 0),
  };
}

interface Execution {
  readonly operation: string;
  readonly reference: string;
}

/** Cells of the matrix service × flow that must never be seen. */
function contradicts(status: string, state: string): boolean {
  if (state === 'completed') return status === 'FAILED' || status === 'REFUNDED';
  if (state === 'refunded') return status === 'COMPLETED';
  if (state === 'failed' || state === 'expired' || state === 'cancelled') return status !== 'FAILED';
  return false;
}
