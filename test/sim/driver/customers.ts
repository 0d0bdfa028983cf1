import { operations } from '../../../src/contract/index.js';
import invoicePayment from '../../kinds/invoice-payment.js';
import { isOpen } from '../temporal/run.js';
import { TOKEN } from '../world/sandbox.js';
import type { World } from '../world/world.js';
import type { Journal, StartedByDriver } from './driver.js';

const LATEST_MS = 240_000;
const AGAIN_MS = 20_000;
const MOST_TRIES = 10;

/** Customers who pay an invoice on its own page, in flows that only make it: no event reports that. */
export function startCustomers(world: World, journal: Journal): void {
  const { quirks, timeline, temporal, sandbox, trace, wire } = world;
  for (const flow of journal.flows.filter(({ paysItself }) => paysItself)) {
    timeline.in(quirks.int(5_000, LATEST_MS), () => pay(flow));
  }

  async function pay(flow: StartedByDriver, tries = 1): Promise<void> {
    const { flowId, reference } = flow;
    const run = temporal.current(flowId);
    if (run !== undefined && !isOpen(run)) return;
    const { amount, ...order } = invoicePayment.posts.payInvoice.alone.input(reference);
    const body = { ...order, amount: Number(amount) };
    const operation = operations.payInvoice;
    const request = { operation, path: operation.path, body: JSON.stringify(body), token: TOKEN };
    const { httpStatus, text } = await sandbox.request(request);
    if (httpStatus >= 300) {
      // There is no invoice yet, or it cannot be paid.
      if (tries < MOST_TRIES) timeline.in(AGAIN_MS, () => pay(flow, tries + 1));
      return;
    }
    const { nowMs } = timeline;
    flow.paidOnPageAtMs = nowMs;
    wire.push({ atMs: nowMs, leftAtMs: nowMs, operation: operation.name, body, httpStatus, answer: text, from: 'customer' }); // prettier-ignore
    trace.fault('invoice paid on its page');
    trace.add('customer', `pays ${flowId} on its page`, String(httpStatus));
  }
}
