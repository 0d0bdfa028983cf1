import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createKeyring } from '../../src/keys/index.js';
import { NOTIFY_DUTY_MS, type NotifyDeps } from '../../src/notify/index.js';
import { startReceiver, type Received, type Receiver } from '../callbacks/receiver.js';
import { until } from '../harness/until.js';
import { DAY, HOUR, MINUTE, SECRET, withNotifying } from './notifying.js';
import { keyring, type TemporaryStore } from './temporary-store.js';

describe('the notifier', () => {
  let temporary: TemporaryStore;
  let receiver: Receiver;
  const { process, targetsOf, content, idOf, park } = withNotifying((opened) => ({ temporary, receiver } = opened));
  const events = () => receiver.received.map(({ body }) => `${body.type} ${body.data.level}`);
  let second: Receiver | undefined;
  afterEach(async () => {
    await second?.close();
    second = undefined;
  });
  const idsOf = (received: readonly Received[]) => received.map(({ headers }) => headers['webhook-id']);

  it('sends one signed event for a matter: what a person must know and may order, with links', async () => {
    const { store, notifier } = await process();
    await park(store, 'bridge-transfer/order-1');
    await park(store, 'bridge-transfer/order-1');
    await notifier.round();
    await notifier.round();
    expect(receiver.received).toHaveLength(1);
    const { text, headers } = receiver.received[0] as Received;
    expect(new Webhook(SECRET, {}).sign(String(headers['webhook-id']), temporaryDate(headers), text)).toBe(
      headers['webhook-signature'],
    );
    expect(JSON.parse(text)).toEqual({
      type: 'matter.opened',
      timestamp: expect.any(String),
      data: {
        matterId: 'parked/bridge-transfer/order-1/2026-01-01T00:00:00.000Z',
        ...content('bridge-transfer/order-1'),
        level: 0,
        sentence: expect.any(String),
        runbook: 'docs/parked-flows.md#no_settlement',
        links: {
          console: 'https://towline.example/console#/flow/bridge-transfer/order-1',
          flow: 'https://towline.example/flows/bridge-transfer/order-1',
          temporal: 'https://ui.example/namespaces/default/workflows/bridge-transfer%2Forder-1',
          command: 'towline show bridge-transfer/order-1',
        },
      },
    });
  });

  it('notifies once of each matter, from one of several processes, and from another one after that died', async () => {
    const [one, other] = [await process(), await process()];
    for (let flow = 0; flow < 5; flow += 1) await park(one.store, `offramp/o-${flow}`);
    await Promise.all([one, other, one, other].map(({ notifier }) => notifier.round()));
    expect(new Set(idsOf(receiver.received)).size).toBe(5);
    expect(receiver.received).toHaveLength(5);
    // The process that holds the duty stops without releasing it.
    await park(other.store, 'offramp/o-6');
    temporary.clock.advance(2 * NOTIFY_DUTY_MS);
    for (const { notifier } of [other, one]) await notifier.round();
    expect(receiver.received).toHaveLength(6);
  });

  it('reminds after one hour, four hours, and then once a day, at a rising level, and sends one resolution', async () => {
    const { store, notifier } = await process();
    await park(store, 'onramp/slow');
    for (const [passed, expected] of [
      [0, 'matter.opened 0'],
      [HOUR - 1, undefined],
      [1, 'matter.reminder 1'],
      [3 * HOUR, 'matter.reminder 2'],
      [DAY - 1, undefined],
      [1, 'matter.reminder 3'],
      [DAY, 'matter.reminder 4'],
    ] as const) {
      const before = receiver.received.length;
      temporary.clock.advance(passed);
      await notifier.round();
      await notifier.round();
      expect(events().slice(before)).toEqual(expected === undefined ? [] : [expected]);
    }
    await store.matters.resolve(idOf('onramp/slow'));
    await notifier.round();
    await notifier.round();
    temporary.clock.advance(10 * DAY);
    await notifier.round();
    expect(events().slice(5)).toEqual(['matter.resolved 4']);
    expect(new Set(idsOf(receiver.received)).size).toBe(6);
  });

  it('sends the resolution in place of a reminder if the flow is not parked any more, and nothing for a matter that was resolved before it was opened', async () => {
    const { store, notifier } = await process({ isStillOpen: () => Promise.resolve(false) });
    // The resolution came before the matter itself.
    await store.matters.resolve(idOf('onramp/quick'));
    await park(store, 'onramp/quick');
    await park(store, 'onramp/forgotten');
    await notifier.round();
    temporary.clock.advance(HOUR);
    await notifier.round();
    await notifier.round();
    expect(events()).toEqual(['matter.opened 0', 'matter.resolved 0']);
    expect(await store.matters.countOpen()).toBe(0);
  });

  it('sends new matters at once while Temporal does not answer, and reminders after two seconds', async () => {
    const asked: string[] = [];
    const timers: [number, () => void][] = [];
    const { now } = temporary.clock;
    const after = (ms: number, work: () => void) => {
      timers.push([ms, work]);
      return () => undefined;
    };
    const isStillOpen: NotifyDeps['isStillOpen'] = ({ id }) => {
      asked.push(id);
      return new Promise(() => undefined);
    };
    const { store, notifier } = await process({ isStillOpen, clock: { nowMs: now, monotonicMs: now, after } });
    for (const flowId of ['offramp/a', 'offramp/b', 'offramp/c']) await park(store, flowId);
    await notifier.round();
    temporary.clock.advance(HOUR);
    await park(store, 'offramp/new');
    expect((await store.matters.due(1)).matters.map(({ id }) => id)).toEqual([idOf('offramp/new')]);

    const round = notifier.round();
    await receiver.until(({ length }) => length === 4);
    expect(receiver.received[3]?.body.data).toMatchObject({ flowId: 'offramp/new', level: 0 });
    await until('all to be asked about', () => asked.length === 3);
    expect(receiver.received).toHaveLength(4);
    expect(timers.map(([ms]) => ms)).toEqual([2_000]);
    timers.forEach(([, work]) => work());
    await round;
    expect(events().slice(4)).toEqual(Array.from({ length: 3 }, () => 'matter.reminder 1'));
  });

  it('spreads matters over rounds if a receiver is slow, and sends each once', async () => {
    const { store, notifier } = await process();
    receiver.answer = () => {
      temporary.clock.advance(3_900);
      return 204;
    };
    for (let flow = 0; flow < 10; flow += 1) await park(store, `onramp/o-${flow}`);
    await notifier.round();
    expect(receiver.received.length).toBeLessThan(4);
    for (let round = 0; round < 10; round += 1) await notifier.round();
    expect(receiver.received).toHaveLength(10);
    expect(new Set(idsOf(receiver.received)).size).toBe(10);
  });

  it('names only the flow of a matter that cannot be decrypted, notifies of all others, and of the rest once the key is there', async () => {
    const { store, notifier } = await process();
    const nextKey = { id: 'next', bytes: new Uint8Array(32).fill(9) };
    const ahead = await temporary.open({ keyring: createKeyring([nextKey, keyring.active]) });
    await temporary.execute(
      `INSERT INTO matters (id, opened_at, due_at, sent, content) VALUES ('?', 0, 0, 'no JSON', X'00')`,
    );
    await park(ahead, 'offramp/ahead');
    await park(store, 'offramp/known');
    await notifier.round();
    await notifier.round();
    const said = () =>
      receiver.received.map(({ body: { data } }) => [data.kind, data.flowId, data.reason, data.unreadable].join('|'));
    const known = 'parked|offramp/known|no_settlement|';
    expect(said().sort()).toEqual(['matter_unreadable|||true', 'parked|offramp/ahead||true', known]);
    expect(receiver.received.find(({ body }) => body.data.flowId === 'offramp/ahead')?.body.data).toMatchObject({
      matterId: idOf('offramp/ahead'),
      since: content('offramp/ahead').since,
      unreadable: true,
      runbook: 'docs/runbook.md#matter_unreadable',
    });
    receiver.received.splice(0);
    temporary.clock.advance(HOUR);
    await (await process({ matters: ahead.matters })).notifier.round();
    expect(said().sort()).toEqual(['parked|offramp/ahead|no_settlement|', known]);
  });

  it('notifies each receiver once while another one is unavailable, and that one when it is back', async () => {
    const away = await startReceiver();
    second = away;
    away.answer = () => 503;
    const lines: object[] = [];
    const log = { info: () => undefined, warn: (detail: object) => void lines.push(detail) };
    const { store, notifier } = await process({ targets: targetsOf(`${away.url}/?key=canary,${receiver.url}`), log });
    await park(store, 'offramp/o-1');
    for (let round = 0; round < 4; round += 1) {
      await notifier.round();
      temporary.clock.advance(MINUTE);
    }
    expect(receiver.received).toHaveLength(1);
    const tries = away.received.length;
    expect(tries).toBeGreaterThan(1);
    away.answer = () => 204;
    temporary.clock.advance(5 * MINUTE);
    await notifier.round();
    await notifier.round();
    expect(away.received).toHaveLength(tries + 1);
    expect(new Set(idsOf(away.received)).size).toBe(1);
    expect(lines).not.toEqual([]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it('reminds of a contradiction until it is acknowledged, says so once, and keeps it for ever', async () => {
    const { store, notifier } = await process();
    const flowId = 'offramp/a';
    const alarm = { kind: 'late_answer_contradicts', flowId, since: 'then', operation: 'o' } as const;
    await store.matters.open('late_answer_contradicts/o/offramp/a', alarm);
    await notifier.round();
    temporary.clock.advance(2 * DAY);
    await notifier.round();
    expect(await store.matters.acknowledge(flowId, 'ann')).toBe(true);
    expect(await store.matters.acknowledge(flowId, 'ben')).toBe(false);
    await notifier.round();
    expect(receiver.received.map(({ body }) => [body.type, body.data.runbook])).toEqual([
      ['matter.opened', 'docs/runbook.md#late_answer_contradicts'],
      ['matter.reminder', 'docs/runbook.md#late_answer_contradicts'],
      ['matter.resolved', 'docs/runbook.md#late_answer_contradicts'],
    ]);
    await store.matters.purge(new Date(temporary.clock.now() + DAY));
    expect((await store.matters.contradictionsOf([flowId, 'offramp/b'])).get(flowId)).toMatchObject([
      { content: alarm, acknowledged: { by: 'ann' } },
    ]);
    expect(await store.matters.contradictedFlows('open', { limit: 10 })).toEqual([]);
    expect(await store.matters.contradictedFlows('all', { limit: 10 })).toEqual([flowId]);
  });
});

const temporaryDate = (headers: Received['headers']) => new Date(Number(headers['webhook-timestamp']) * 1_000);
