import { proxyActivities, sleep } from '@temporalio/workflow';
import type * as activities from './naive-activities.js';
import type { Order } from './service.js';

/** Temporal's own retries: for ever, a second after the first failure, and ever more slowly. */
const { sendMoney, statusOf } = proxyActivities<typeof activities>({ startToCloseTimeout: '10 seconds' });

/** The flow as most would first write it: send, then poll until it is over. It fails if an activity does. */
export async function naiveFlow(order: Order): Promise<string> {
  await sendMoney(order);
  for (;;) {
    const status = await statusOf(order.referenceId);
    if (status !== 'pending') return status;
    await sleep('1 second');
  }
}
