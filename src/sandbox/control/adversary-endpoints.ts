import { z } from 'zod';
import type { Deposits } from '../bridge/deposits.js';
import type { Clock } from '../clock.js';
import { BRIDGE_STATUSES } from '../../contract/vocabulary.js';
import type { Database } from '../database.js';
import type { Adversary } from '../deliveries/adversary.js';
import { STREAMS } from '../deliveries/message.js';
import { Mischief } from '../deliveries/mischief.js';
import type { Transport } from '../deliveries/post.js';
import { settlementBody } from '../provider/settlement-body.js';
import { Refusal, unknownReference } from '../refusal.js';
import type { LiveSettings } from '../settings.js';
import { type Endpoint, endpoint } from './endpoint.js';

/** What is done to webhooks on their way, and a forger. */
export function createAdversaryEndpoints(deps: {
  database: Database;
  adversary: Adversary;
  deposits: Deposits;
  transport: Transport;
  settings: LiveSettings;
  clock: Clock;
  settlementUrl: () => string;
}): Endpoint[] {
  const { database, adversary, deposits, transport, settings, clock, settlementUrl } = deps;
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
      summary: 'Posts an unsigned settlement with every fact right: {reference, status?, url?, members?}',
      input: z.strictObject({
        reference: z.string().min(1),
        status: z.enum(BRIDGE_STATUSES).default('COMPLETED'),
        /** Where to; else where the provider posts. */
        url: z.url().optional(),
        /** Members of the body to replace. */
        members: z.record(z.string(), z.unknown()).optional(),
      }),
      async handle({ input: { reference, status, url = settlementUrl(), members } }) {
        const [deposit] = deposits.ofReference(reference);
        if (deposit === undefined) throw unknownReference('Bridge deposit', reference);
        const body = JSON.stringify({ ...settlementBody(deposit, status, clock), ...members });
        try {
          const answer = await transport.post(url, body, {}, settings.current().deliveryTimeoutMs);
          return { url, sent: JSON.parse(body) as unknown, answer };
        } catch (error) {
          throw new Refusal(502, 'NO_ANSWER', `${url} did not answer: ${(error as Error).message}`);
        }
      },
    }),
  ];
}
