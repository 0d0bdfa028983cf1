import { z } from 'zod';
import type { Database } from '../database.js';
import type { DeliverOrder } from '../deliveries/deliver.js';
import { type Deliveries, type Delivery, DELIVERY_JOB } from '../deliveries/deliveries.js';
import { unknownReference } from '../refusal.js';
import type { Scheduler } from '../scheduler.js';
import { type Endpoint, endpoint } from './endpoint.js';

/** What was sent to whom, and sending it once more. */
export function createDeliveryEndpoints(deps: {
  database: Database;
  deliveries: Deliveries;
  scheduler: Scheduler;
}): Endpoint[] {
  const { database, deliveries, scheduler } = deps;

  function known(id: string): Delivery {
    const delivery = deliveries.get(Number(id));
    if (delivery === undefined) throw unknownReference('Delivery', id);
    return delivery;
  }

  return [
    endpoint({
      method: 'GET',
      path: '/deliveries',
      summary: 'Callbacks, webhooks and settlements, with every attempt and its answer: ?reference=&state=&stream=',
      input: z.strictObject({
        reference: z.string().optional(),
        state: z.string().optional(),
        stream: z.string().optional(),
      }),
      handle: ({ input: { stream, ...filter } }) => ({
        deliveries: deliveries.list(filter).filter((one) => stream === undefined || one.stream === stream),
      }),
    }),
    endpoint({
      method: 'POST',
      path: '/deliveries/{id}/resend',
      summary: 'Sends it once more, now, under its own webhook id; shows it with the new attempt',
      async handle({ params: { id = '' } }) {
        const { id: known_id, reference } = known(id);
        const order: DeliverOrder = { id: known_id, resent: true };
        const job = await database.write(() => scheduler.schedule(DELIVERY_JOB, 0, order));
        await scheduler.runNow(job);
        return deliveries.list({ reference }).find((one) => one.id === known_id);
      },
    }),
  ];
}
