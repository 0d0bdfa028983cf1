import { afterEach, beforeEach, expect, it } from 'vitest';
import { pino } from 'pino';
import { createWebhookMatcher } from '../../src/gateway/dispatch/webhook-matcher.js';
import { until } from '../harness/until.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';

let temporary: TemporaryStore;
beforeEach(async () => {
  temporary = await makeTemporaryStore('libsql');
});
afterEach(() => temporary.remove());

it('a gateway that stops matches the account webhook in hand, and leaves the rest in the inbox', async () => {
  const { inbox, matters } = await temporary.open();
  const came = async (n: number) =>
    (await inbox.receive(anEvent({ source: 'webhook', flowId: null, toMatch: true, body: { n } }))).id;
  const [inHand, ...rest] = [await came(1), await came(2), await came(3)];
  let begun = false;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const matcher = createWebhookMatcher({
    inbox,
    matters,
    matchOf: async () => {
      begun = true;
      await held;
      return { flowId: 'bank-checkout/r', reference: 'r', status: null };
    },
    dispatcher: { nudge: () => undefined },
    unreadable: { examine: () => [] },
    drain: { finish: async (inFlight) => void (await inFlight) },
    logger: pino({ enabled: false }),
    everyMs: 3_600_000,
  });
  matcher.start();
  await until('the first match', () => begun);
  const stopped = matcher.stop();
  release();
  await stopped;
  expect(await inbox.get(inHand)).toMatchObject({ flowId: 'bank-checkout/r' });
  expect((await inbox.toMatch({ proven: true, most: 10 })).map(({ id }) => id)).toEqual(rest);
});
