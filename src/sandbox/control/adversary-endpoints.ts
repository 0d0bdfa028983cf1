import { z } from 'zod';
import type { BridgeStatus } from '../../contract/vocabulary.js';
import type { Deposits } from '../bridge/deposits.js';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import { type Adversary, Mischief } from '../deliveries/adversary.js';
import { type Deliveries, type Delivery, DELIVERY_JOB } from '../deliveries/deliveries.js';
import type { Transport, DeliverOrder } from '../deliveries/deliver.js';
import { settlementBody } from '../provider.js';
import { badMembers, Refusal, unknownReference } from '../refusal.js';
import type { LiveSettings } from '../settings.js';
import type { Transaction, Transactions } from '../transactions/transactions.js';
import type { Scheduler } from '../scheduler.js';
import { type Endpoint, endpoint } from './endpoint.js';
import { STREAMS } from '../deliveries/message.js';
import type { Kind } from '../transactions/kind.js';

/** Effects on webhooks in transit, and a forger. */
export function createAdversaryEndpoints(deps: {
  database: Database;
  adversary: Adversary;
  deposits: Deposits;
  transactions: Transactions;
  kindOf: (operation: string) => Kind;
  transport: Transport;
  settings: LiveSettings;
  clock: Clock;
  settlementUrl: () => string;
}): Endpoint[] {
  const { database, adversary, deposits, transactions, kindOf, transport, settings, clock, settlementUrl } = deps;

  function lieAbout(reference: string, status: string | undefined): { url: string | undefined; body: object } {
    const [deposit] = deposits.ofReference(reference);
    if (deposit !== undefined) {
      const body = settlementBody(deposit, (status ?? 'COMPLETED') as BridgeStatus, clock);
      return { url: settlementUrl(), body };
    }
    const [transaction] = transactions.ofReference(reference) as readonly Transaction<never>[];
    if (transaction === undefined) throw unknownReference('Bridge deposit or transaction', reference);
    const kind = kindOf(transaction.operation);
    const body = kind.data(transaction, status ?? 'SUCCESSFUL', clock.iso());
    return { url: kind.callbackUrl(transaction.body), body };
  }

  return [
    endpoint({
      method: 'POST',
      path: '/adversary',
      summary: 'What is done to webhooks from now on: {stream?, duplicate?, drop?, reorder?, …}; {} for nothing',
      input: Mischief.extend({ stream: z.enum(STREAMS).optional() }),
      async handle({ input: { stream, ...mischief } }) {
        await database.write(() => adversary.set(stream === undefined ? STREAMS : [stream], mischief));
        return adversary.current();
      },
    }),
    endpoint({
      method: 'GET',
      path: '/adversary',
      summary: 'What is done to webhooks',
      handle: () => adversary.current(),
    }),
    endpoint({
      method: 'POST',
      path: '/forge',
      summary: 'Posts an unsigned settlement, or callback, with every fact right: {reference, status?, url?, members?}',
      input: z.strictObject({
        reference: z.string().min(1),
        /** @default COMPLETED for a bridge deposit, else SUCCESSFUL */
        status: z.string().min(1).optional(),
        /** Target URL; else the provider's settlement URL, or the callback URL. */
        url: z.url().optional(),
        /** Members of the body to replace. */
        members: z.record(z.string(), z.unknown()).optional(),
      }),
      async handle({ input: { reference, status, url, members } }) {
        const lie = lieAbout(reference, status);
        const target = url ?? lie.url;
        if (target === undefined) throw badMembers([{ path: 'url', message: 'it has no callback URL: give url' }]);
        const body = JSON.stringify({ ...lie.body, ...members });
        try {
          const answer = await transport.post(target, body, {}, settings.current().deliveryTimeoutMs);
          return { url: target, sent: JSON.parse(body) as unknown, answer };
        } catch (error) {
          throw new Refusal(502, 'NO_ANSWER', `${target} did not answer: ${(error as Error).message}`);
        }
      },
    }),
  ];
}

/** The deliveries and their receivers, and sending one again. */
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
