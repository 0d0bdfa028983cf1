import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { describeStores } from '../store/store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const DAY_MS = 24 * 60 * 60 * 1000;

describeStores('the body of an event', (kind) => {
  let temporary: TemporaryStore;
  let gateway: GatewayUnderTest | undefined;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    gateway = undefined;
  });
  afterEach(async () => {
    await gateway?.close();
    await temporary.remove();
  });

  /**
   * A gateway that starts this long after the events came. Temporal is down, so it is unknown whether an event has a
   * flow.
   */
  const gatewayAfter = (days: number, env: Record<string, string> = {}) => {
    const nowMs = () => temporary.clock.now() + days * DAY_MS;
    return gatewayUnderTest({ storePath: temporary.place, temporalAddress: '127.0.0.1:1', gateway: { nowMs }, env });
  };

  it('is kept for 90 days, and cleared then if the event was dealt with; its content is known for ever', async () => {
    const { inbox } = await temporary.open();
    // More than one piece of what is cleared at once.
    const settled = Array.from({ length: 600 }, () => anEvent());
    const waiting = anEvent({ flowId: 'bridge-transfer/nobody' });
    await Promise.all([...settled, waiting].map((event) => inbox.receive(event)));
    await inbox.settle(settled.map(({ id }) => ({ id, state: 'late' as const })));
    const withBody = async () => (await inbox.list({ limit: 1000 })).filter(({ body }) => body !== undefined);

    gateway = await gatewayAfter(89);
    await gateway.close();
    expect(await withBody()).toHaveLength(601);

    gateway = await gatewayAfter(91);
    await until('the bodies to be cleared', async () => (await withBody()).length === 1);
    expect((await withBody()).map(({ id }) => id)).toEqual([waiting.id]);
    const [first] = settled;
    const again = anEvent({ contentHash: first?.contentHash ?? '' });
    expect(await inbox.receive(again)).toEqual({ kind: 'duplicate', id: first?.id });
    expect(gateway.log.find(({ msg }) => String(msg).includes('were cleared'))).toMatchObject({ purged: 600 });
  });

  it('is kept as long as the settings say, and so is an answer of the service', async () => {
    const { inbox, claims } = await temporary.open();
    const event = anEvent();
    await inbox.receive(event);
    await inbox.settle([{ id: event.id, state: 'late' }]);
    const key = { account: 'default', operation: 'sendCrypto', reference: 'r1' };
    await claims.reserve(key, { owner: 'a', flowId: 'crypto-send/r1', fingerprint: 'f' });
    await claims.markSending(key, 'a');
    await claims.recordAnswer(key, { id: 'KOT-1' });
    const body = async () => (await inbox.get(event.id))?.body;

    gateway = await gatewayAfter(29, { EVENT_BODIES_KEPT_DAYS: '30', ANSWERS_KEPT_DAYS: '7' });
    await until('the answer to be cleared', async () => (await claims.get(key))?.erased === true);
    await gateway.close();
    expect(await body()).toEqual(event.body);

    gateway = await gatewayAfter(31, { EVENT_BODIES_KEPT_DAYS: '30' });
    await until('the body to be cleared', async () => (await body()) === undefined);
    expect(gateway.log.find(({ msg }) => String(msg).includes('answers of the service'))).toBeUndefined();
  });
});
