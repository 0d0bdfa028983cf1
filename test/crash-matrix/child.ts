import type { Said } from './crash-points.js';

export type Order = 'release' | 'shutdown';

/** What the test decided for this process. */
export function config(): unknown {
  return JSON.parse(process.argv[2] ?? '');
}

export function say(said: Said): void {
  process.send?.(said);
}

/** Carries out the test's orders. A process whose test is gone ends. */
export function onOrders(orders: Record<Order, () => void | Promise<void>>): void {
  process.on('message', (order: Order) => {
    void carryOut(order);
  });
  process.on('disconnect', () => process.exit(1));

  async function carryOut(order: Order): Promise<void> {
    await orders[order]();
    if (order === 'shutdown') process.exit(0);
  }
}
