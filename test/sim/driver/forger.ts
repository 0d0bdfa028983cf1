import { operations } from '../../../src/contract/index.js';
import type { World } from '../world/world.js';
import type { Journal } from './driver.js';

/** Anyone may post to the settlement path: such a settlement must move nothing by itself. */
export function startForger(world: World, journal: Journal): void {
  const { weather, chance, timeline, deliveries } = world;
  if (!weather.forgery) return;
  const targets = journal.flows.filter(({ kind }) => kind === 'bridge-transfer');
  for (const { reference } of targets) {
    for (let times = chance.int(1, 3); times > 0; times -= 1) {
      const status = chance.one(['COMPLETED', 'FAILED', 'SETTLING']);
      const body = {
        provider_reference_id: reference,
        status,
        amount: 100,
        currency: 'ZAR',
        settled_at: '2026-01-05T08:00:00Z',
      };
      timeline.in(chance.int(100, 40 * 60_000), () => deliveries.forge(operations.reportSettlement.path, body));
    }
  }
}
