import { deepStrictEqual } from 'node:assert/strict';
import { until } from '../../harness/until.js';
import { newReference } from '../../harness/references.js';
import { transferInput } from '../../harness/inputs.js';
import type { GatewayUnderTest } from './gateway-under-test.js';
import { signalsOf } from './signals.js';

/** Those of one flow go as two signals: the first event, and all others. */
const PER_FLOW = 50;

/**
 * Fault 28: events of flows on which no worker has worked yet. Then a worker starts. Throws if one is lost, or if they
 * are delivered more than once.
 */
export async function earlyEvents(
  tested: GatewayUnderTest,
  { flows, startWorker }: { readonly flows: number; readonly startWorker: () => Promise<unknown> },
): Promise<{ readonly events: number; readonly applied: number; readonly signals: number }> {
  const references = Array.from({ length: flows }, () => newReference('early'));
  const rowsOf = (reference: string) => tested.store.inbox.list({ flowId: flowIdOf(reference), limit: 500 });
  const signals = (reference: string) => signalsOf(tested.client, flowIdOf(reference));
  await Promise.all(references.map((reference) => tested.post('/flows/bridge-transfer', transferInput(reference))));
  for (const reference of references) {
    const post = async (n: number) => {
      const { status } = await tested.post(tested.callbackPath(reference), { status: 'PAYMENT_SENT', n });
      deepStrictEqual(status, 200);
    };
    await post(0);
    // The second wave comes when the first signal was sent and no worker has taken it.
    await until('the first signal', async () => (await rowsOf(reference))[0]?.state === 'delivered');
    await Promise.all(Array.from({ length: PER_FLOW - 1 }, (_, n) => post(n + 1)));
    deepStrictEqual((await signals(reference)).length, 1);
  }
  await startWorker();
  const sum = { events: 0, applied: 0, signals: 0 };
  for (const reference of references) {
    const rows = await until(`${PER_FLOW} settled rows`, async () => {
      const found = await rowsOf(reference);
      return found.length === PER_FLOW && found.every(({ settledAt }) => settledAt !== null) && found;
    });
    const delivered = await signals(reference);
    deepStrictEqual(
      delivered
        .flat()
        .map(({ id }) => id)
        .toSorted(),
      rows.map(({ id }) => id).toSorted(),
    );
    sum.events += rows.length;
    sum.applied += rows.filter(({ state }) => state === 'applied').length;
    sum.signals += delivered.length;
    // All have the same status: the flow takes the first, and recognises the others as repeats by their ids.
    deepStrictEqual(rows.filter(({ state }) => state === 'duplicate').length, PER_FLOW - 1);
  }
  return sum;
}

const flowIdOf = (reference: string): string => `bridge-transfer/${reference}`;
