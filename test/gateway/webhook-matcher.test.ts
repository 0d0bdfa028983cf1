import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createUnreadableFlows } from '../../src/gateway/dispatch/unreadable-flows.js';
import { createWebhookMatcher, type WebhookMatcherDeps } from '../../src/gateway/dispatch/webhook-matcher.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { until } from '../harness/until.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';

const silent = pino({ enabled: false });
const MATCHED = { flowId: 'bank-checkout/r', reference: 'r', status: null };

let temporary: TemporaryStore;
let store: Store;
let nowMs: number;
beforeEach(async () => {
  temporary = await makeTemporaryStore('libsql');
  store = await temporary.open();
  nowMs = 0;
});
afterEach(() => temporary.remove());

const came = async (n: number) =>
  (await store.inbox.receive(anEvent({ source: 'webhook', flowId: null, toMatch: true, body: { n } }))).id;
/** It looks by itself only once: at its start. */
const matcherWith = (more: Partial<WebhookMatcherDeps>) =>
  createWebhookMatcher({
    inbox: store.inbox,
    matters: store.matters,
    matchOf: () => Promise.resolve(MATCHED),
    dispatcher: { nudge: () => undefined },
    unreadable: createUnreadableFlows(silent, () => nowMs),
    drain: { finish: async (inFlight) => void (await inFlight) },
    logger: silent,
    everyMs: 3_600_000,
    ...more,
  });
const left = async () => (await store.inbox.toMatch({ proven: true, most: 100 })).map(({ id }) => id);

it('a gateway that stops matches the account webhook in hand, and leaves the rest in the inbox', async () => {
  const [inHand, ...rest] = [await came(1), await came(2), await came(3)];
  let begun = false;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const matcher = matcherWith({
    matchOf: async () => {
      begun = true;
      await held;
      return MATCHED;
    },
  });
  matcher.start();
  await until('the first match', () => begun);
  const stopped = matcher.stop();
  release();
  await stopped;
  expect(await store.inbox.get(inHand)).toMatchObject({ flowId: 'bank-checkout/r' });
  expect(await left()).toEqual(rest);
});

it('all account webhooks are matched, also if there are more than one page of them', async () => {
  for (let n = 0; n < 40; n += 1) await came(n);
  const matcher = matcherWith({});
  matcher.start();
  await until('all matched', async () => (await left()).length === 0);
  await matcher.stop();
});

it('an account webhook without its key waits for it for an hour, and is then quarantined: a person is called', async () => {
  const [closed, other] = [await came(1), await came(2)];
  const close = (row: InboxRow) => (row.id === closed ? { ...row, body: undefined, unreadable: 'no key' } : row);
  const inbox: WebhookMatcherDeps['inbox'] = {
    ...store.inbox,
    toMatch: async (query) => (await store.inbox.toMatch(query)).map(close),
  };
  const matcher = matcherWith({ inbox });
  matcher.start();
  // The one behind it does not wait for it.
  await until('the other', async () => (await store.inbox.get(other))?.flowId === MATCHED.flowId);
  expect(await left()).toEqual([closed]);
  expect((await store.matters.due(10)).matters).toEqual([]);
  nowMs += 3_600_000;
  matcher.nudge(true);
  await until('its end', async () => (await left()).length === 0);
  await matcher.stop();
  expect(await store.inbox.get(closed)).toMatchObject({ state: 'quarantined', flowId: null });
  expect((await store.matters.due(10)).matters).toMatchObject([
    { content: { kind: 'event_quarantined', eventId: closed } },
  ]);
});

it('the failure of one match is that of its webhook; if the store is away, the others wait, too', async () => {
  const [broken, other] = [await came(1), await came(2)];
  let thrown: Error = new StoreUnavailableError('AWAY', 'database');
  let tries = 0;
  const matcher = matcherWith({
    matchOf: async (body) => {
      tries += 1;
      if ((body as { n: number }).n === 1) throw thrown;
      return MATCHED;
    },
  });
  matcher.start();
  await until('the first try', () => tries === 1);
  await matcher.stop();
  expect([tries, await left()]).toEqual([1, [broken, other]]);
  thrown = new TypeError('of this claim alone');
  matcher.start();
  await until('the other', async () => (await store.inbox.get(other))?.flowId === MATCHED.flowId);
  await matcher.stop();
  expect(await left()).toEqual([broken]);
});
