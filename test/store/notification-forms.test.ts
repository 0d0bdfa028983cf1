import { describe, expect, it } from '@jest/globals';
import type { Receiver } from '../callbacks/receiver.js';
import { HOUR, MINUTE, withNotifying } from './notifying.js';
import type { TemporaryStore } from './temporary-store.js';

const ROUTING_KEY = 'R0UT1NGKEY0123456789';

describe('the notifier', () => {
  let temporary: TemporaryStore;
  let receiver: Receiver;
  const { process, targetsOf, idOf, park } = withNotifying((opened) => ({ temporary, receiver } = opened));

  it('sends Slack one message for many matters, and PagerDuty an incident for each, or one for many, resolved by its key', async () => {
    const pager = `pagerduty:${receiver.url.replace('http://', `http://${ROUTING_KEY}@`)}/pager`;
    const { store, notifier } = await process({ targets: targetsOf(`slack:${receiver.url}/slack,${pager}`) });
    await park(store, 'crypto-send/s-1');
    await notifier.round();
    const consoleUrl = 'https://towline.example/console#/flow/crypto-send/s-1';
    const [slack, page] = [...receiver.received].sort((one) => ('text' in one.body ? -1 : 1));
    const named = ['crypto-send/s-1', '1000.50 KES', 'no_settlement', '`towline show crypto-send/s-1`'];
    for (const one of [...named, `<${consoleUrl}|console>`, 'docs/parked-flows.md#no_settlement'])
      expect(slack?.body.text).toContain(one);
    expect(page?.body).toMatchObject({
      routing_key: ROUTING_KEY,
      event_action: 'trigger',
      dedup_key: 'parked/crypto-send/s-1/2026-01-01T00:00:00.000Z',
      payload: { severity: 'error', source: 'towline', class: 'no_settlement', component: 'crypto-send/s-1' },
      links: [expect.anything(), { href: consoleUrl, text: 'console' }],
    });

    receiver.received.splice(0);
    for (let flow = 0; flow < 11; flow += 1) await park(store, `crypto-send/many-${flow}`);
    await store.matters.resolve(idOf('crypto-send/s-1'));
    await notifier.round();
    const bodies = receiver.received.map(({ body }) => body);
    const texts = bodies.flatMap(({ text }) => text ?? []);
    expect(texts).toHaveLength(2);
    expect(texts[0]).toContain('11 × no_settlement');
    expect(texts[1]).toContain('crypto-send/s-1');
    expect(bodies.filter(({ event_action: action }) => action !== undefined)).toEqual([
      expect.objectContaining({ event_action: 'trigger', payload: expect.objectContaining({ severity: 'error' }) }),
      { routing_key: ROUTING_KEY, event_action: 'resolve', dedup_key: idOf('crypto-send/s-1') },
    ]);
  });

  it('sends Slack a dozen messages for 600 flows that one cause parks within five minutes, and another cause at once', async () => {
    const { store, notifier } = await process({ targets: targetsOf(`slack:${receiver.url}/slack`) });
    for (let round = 0; round < 300; round += 1) {
      await park(store, `crypto-send/one-${round}`);
      await park(store, `crypto-send/two-${round}`);
      await notifier.round();
      temporary.clock.advance(1_000);
    }
    temporary.clock.advance(2 * MINUTE);
    await notifier.round();
    const texts = receiver.received.map(({ body }) => String(body.text));
    expect(texts.length).toBeLessThanOrEqual(15);
    const together = texts.flatMap((text) => Number(/(\d+) × no_settlement/.exec(text)?.[1] ?? 1));
    expect(together.reduce((sum, one) => sum + one, 0)).toBe(600);
    const content = {
      kind: 'parked',
      flowId: 'onramp/o',
      since: '2026-01-01T00:00:00.000Z',
      reason: 'conflict',
    } as const;
    await store.matters.open('parked/onramp/o/2026-01-01T00:00:00.000Z', content);
    await notifier.round();
    expect(receiver.received.at(-1)?.body.text).toContain('onramp/o');
  });

  it('raises a PagerDuty incident to critical with a reminder, and links the runbook at DOCS_URL', async () => {
    const pager = `pagerduty:${receiver.url.replace('http://', `http://${ROUTING_KEY}@`)}/pager`;
    const places = { gatewayUrl: 'https://towline.example', namespace: 'default', docsUrl: 'https://docs.example/v1' };
    const { store, notifier } = await process({ targets: targetsOf(pager), places });
    await park(store, 'crypto-send/s-2');
    await notifier.round();
    temporary.clock.advance(HOUR);
    await notifier.round();
    const runbook = 'https://docs.example/v1/docs/parked-flows.md#no_settlement';
    expect(receiver.received.map(({ body }) => body)).toMatchObject(
      ['error', 'critical'].map((severity) => ({
        event_action: 'trigger',
        dedup_key: idOf('crypto-send/s-2'),
        payload: { severity, custom_details: { runbook } },
      })),
    );
  });

  it('sends a heartbeat once a minute from one of several processes, as could_not_check while Temporal is away', async () => {
    let isAway = false;
    const heartbeatUrl = () => `${receiver.url}/ping`;
    const askTemporal = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve());
    const parts = { targets: () => [], heartbeatUrl, askTemporal };
    const [one, other] = [await process(parts), await process(parts)];
    const paths: string[] = [];
    receiver.answer = ({ body }) => {
      paths.push(`${body.status} ${body.notChecked}`);
      return 204;
    };
    for (let second = 0; second < 120; second += 10) {
      for (const { notifier } of [one, other]) await notifier.round();
      temporary.clock.advance(10_000);
    }
    isAway = true;
    for (const { notifier } of [one, other]) await notifier.round();
    expect(paths).toEqual(['ok ', 'ok ', 'could_not_check temporal']);
  });

  it('uses the receivers and the heartbeat URL that are set at that moment', async () => {
    let now = 'first';
    const { store, notifier } = await process({
      targets: () => targetsOf(`${receiver.url}/${now}`)(),
      heartbeatUrl: () => `${receiver.url}/${now}/ping`,
      askTemporal: () => Promise.resolve(),
    });
    const came = async () => {
      await notifier.round();
      return receiver.received.splice(0).map(({ path, body }) => `${path} ${body.type}`);
    };
    await park(store, 'bridge-transfer/order-1');
    expect(await came()).toEqual(['/first matter.opened', '/first/ping heartbeat']);
    now = 'second';
    temporary.clock.advance(MINUTE);
    await park(store, 'bridge-transfer/order-2');
    expect(await came()).toEqual(['/second matter.opened', '/second/ping heartbeat']);
    expect(await came()).toEqual([]);
  });
});
