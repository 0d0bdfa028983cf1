import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createUnreadableFlows } from '../../src/gateway/dispatch/unreadable-flows.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { openConnection } from '../../src/store/libsql/connection.js';
import { turnOf } from '../../src/store/sql-connection.js';
import { createKeyring } from '../../src/keys/index.js';
import { anEvent, openAt } from '../store/temporary-store.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';

const NEW_KEY = { id: 'new', bytes: new Uint8Array(32).fill(9) };
const TEST_KEY = { id: 'test', bytes: new Uint8Array(32).fill(7) };

describe('an event that is sealed with a key that the gateway does not have', () => {
  it('holds its flow back, with a line of the log and a figure', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-unreadable-'));
    const storePath = join(folder, 'store.db');
    const tested = await gatewayUnderTest({ storePath });
    const rotated = await openAt(storePath, { keyring: createKeyring([NEW_KEY, TEST_KEY]) });
    const event = anEvent({ flowId: 'bridge-transfer/sealed' });
    await rotated.inbox.receive(event);

    const said = () => tested.log.filter(({ msg }) => String(msg).includes('PAYLOAD_KEYS'));
    await until('the log to say so', () => said().length > 0);
    expect(said()).toMatchObject([
      { level: 50, flowId: event.flowId, events: [event.id], why: expect.stringContaining(NEW_KEY.id) },
    ]);
    expect(await tested.store.inbox.get(event.id)).toMatchObject({ state: 'waiting' });
    const metrics = await fetch(`${tested.url}/metrics`, { headers: { authorization: 'Bearer dev-token' } });
    expect(await metrics.text()).toMatch(/^towline_events_unreadable_flows 1$/m);

    await rotated.close();
    await tested.close();
    await rm(folder, { recursive: true });
  });
});

describe('an event whose seal is broken', () => {
  it('is quarantined with an alarm, of which people are notified, does not hold up its flow, and is new when it is sent again; a replay answers what is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-unreadable-'));
    const storePath = join(folder, 'store.db');
    const flowId = 'bridge-transfer/damaged';
    const before = await openAt(storePath, { keyring: createKeyring([TEST_KEY]) });
    const [broken, next] = [anEvent({ flowId }), anEvent({ flowId })];
    // Which flow this one is about is in its body alone.
    const webhook = anEvent({ source: 'webhook', flowId: null, toMatch: true });
    for (const event of [broken, next, webhook]) await before.inbox.receive(event);
    await before.close();
    const db = await openConnection({ path: storePath });
    const damage = `UPDATE inbox SET body = (SELECT body FROM inbox WHERE id = ?) WHERE id = ?`;
    for (const { id } of [broken, webhook]) await db.write([{ sql: damage, params: [next.id, id] }], turnOf.meta);
    await db.close();

    const tested = await gatewayUnderTest({ storePath, env: { GATEWAY_TOKENS: 'op:operator:secret-of-the-operator' } });
    const auth = { authorization: 'Bearer secret-of-the-operator' };
    for (const { id } of [broken, webhook]) {
      await until('the quarantine', async () => (await tested.store.inbox.get(id))?.state === 'quarantined');
    }
    const { matters } = await tested.store.matters.due(100);
    const said = matters.map(({ content: { since: _since, ...content } }) => content);
    expect(said).toHaveLength(2);
    expect(said).toContainEqual({ kind: 'event_quarantined', flowId, eventId: broken.id });
    expect(said).toContainEqual({ kind: 'event_quarantined', eventId: webhook.id });
    const flow = await tested.client.workflow.start('bridgeTransfer', {
      workflowId: flowId,
      taskQueue: tested.taskQueue,
      args: [{}],
    });
    await tested.store.inbox.releaseWaiting(flowId);
    await until(
      'the next one to reach its flow',
      async () => (await tested.store.inbox.get(next.id))?.state === 'delivered',
    );
    await flow.terminate();
    const alarms = tested.log.filter(({ alarm }) => alarm === 'event_quarantined');
    expect(alarms.filter((line) => line['flowId'] === flowId)).toMatchObject([{ level: 50, event: broken.id }]);
    expect(alarms.filter((line) => line['flowId'] === undefined)).toMatchObject([{ level: 50, event: webhook.id }]);
    const listed = await fetch(`${tested.url}/events?state=quarantined`, { headers: auth });
    expect(((await listed.json()) as { events: unknown }).events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: broken.id, state: 'quarantined' }),
        expect.objectContaining({ id: webhook.id, state: 'quarantined' }),
      ]),
    );
    const replayed = await fetch(`${tested.url}/events/${broken.id}/replay`, { method: 'POST', headers: auth });
    expect([replayed.status, await replayed.json()]).toMatchObject([409, { data: { code: 'event_damaged' } }]);
    const metrics = await fetch(`${tested.url}/metrics`, { headers: auth });
    expect(await metrics.text()).toMatch(/^towline_events\{state="quarantined"\} 2$/m);
    const again = { ...broken, id: anEvent().id };
    expect(await tested.store.inbox.receive(again)).toMatchObject({ kind: 'stored', id: again.id });
    expect(await tested.store.inbox.receive({ ...again, id: anEvent().id })).toMatchObject({ kind: 'duplicate' });
    await tested.close();
    await rm(folder, { recursive: true });
  });
});

describe('flows with an event that cannot be opened', () => {
  const rowOf = (members: object) => ({ ...anEvent(), ...members }) as unknown as InboxRow;

  it('wait for the key for an hour, and no longer', () => {
    let nowMs = 0;
    const flows = createUnreadableFlows(pino({ level: 'silent' }), () => nowMs);
    const closed = rowOf({ unreadable: 'No payload key has the id new' });
    const batch = { flowId: 'bridge-transfer/r', rows: [rowOf({}), closed] };
    expect(flows.examine(batch)).toBe('key may come');
    nowMs += 3_599_999;
    expect(flows.examine(batch)).toBe('key may come');
    expect(flows.count()).toBe(1);
    nowMs += 1;
    expect(flows.examine(batch)).toEqual([closed]);
    expect(flows.count()).toBe(0);
    expect(flows.examine({ ...batch, rows: [rowOf({})] })).toEqual([]);
  });
});
