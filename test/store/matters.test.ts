import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createKeyring } from '../../src/keys/index.js';
import type { MatterContent } from '../../src/protocol/matters.js';
import { type DueMatter, type MatterStore, openEventMatter } from '../../src/store/matters.js';
import { describeStores } from './store-kinds.js';
import { keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const content = (flowId: string): MatterContent => ({ kind: 'parked', flowId, since: '2026-01-01T00:00:00.000Z' });
const ID = 'parked/onramp/a/2026-01-01T00:00:00.000Z';

describeStores('a matter', (kind) => {
  let temporary: TemporaryStore;
  let matters: MatterStore;
  let startMs: number;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    matters = (await temporary.open()).matters;
    startMs = temporary.clock.now();
  });
  afterEach(() => temporary.remove());

  const due = async () => (await matters.due(9)).matters;
  const dueIds = async () => (await due()).map(({ id }) => id);
  const only = async (): Promise<DueMatter> => {
    const [first, ...others] = await due();
    if (first === undefined || others.length > 0) throw new Error('not exactly one is due');
    return first;
  };

  it('is due at once with its content, and does not change when it is opened again', async () => {
    await matters.open(ID, content('onramp/a'));
    temporary.clock.advance(1_000);
    await matters.open(ID, content('onramp/b'));
    expect(await matters.due(9)).toEqual({
      nowMs: startMs + 1_000,
      matters: [{ id: ID, content: content('onramp/a'), openedAtMs: startMs, resolvedAtMs: undefined, sent: {} }],
    });
    expect(await matters.countOpen()).toBe(1);
  });

  it('is due again at the time that keep gives, or never again', async () => {
    await matters.open(ID, content('onramp/a'));
    const sent = { slack: { level: 0 } };
    await matters.keep(await only(), { sent, dueAtMs: startMs + 500 });
    temporary.clock.advance(499);
    expect(await due()).toEqual([]);
    temporary.clock.advance(1);
    expect(await only()).toMatchObject({ id: ID, sent, openedAtMs: startMs });
    await matters.keep(await only(), { sent, dueAtMs: undefined });
    temporary.clock.advance(86_400_000);
    expect(await due()).toEqual([]);
    expect(await matters.countOpen()).toBe(0);
  });

  it('that is resolved is due once more, whatever keep writes of a state before it', async () => {
    await matters.open(ID, content('onramp/a'));
    const before = await only();
    temporary.clock.advance(10);
    await matters.resolve(ID);
    await matters.keep(before, { sent: { slack: { level: 1 } }, dueAtMs: startMs + 99_999 });
    const resolved = await only();
    expect(resolved).toMatchObject({ resolvedAtMs: startMs + 10, sent: { slack: { level: 1 } } });
    expect(await matters.countOpen()).toBe(0);
    await matters.keep(resolved, { sent: { slack: { level: 1, resolved: true } }, dueAtMs: undefined });
    temporary.clock.advance(10);
    // What is over once stays over at that time.
    await matters.resolve(ID);
    expect(await due()).toEqual([]);
  });

  it('that was resolved before it was opened is not opened later', async () => {
    await matters.resolve(ID);
    await matters.open(ID, content('onramp/a'));
    expect(await due()).toEqual([]);
    expect(await matters.countOpen()).toBe(0);
  });

  it('is a new one after reopen under the same id, only after it was resolved', async () => {
    await matters.open(ID, content('onramp/a'));
    const first = await only();
    temporary.clock.advance(10);
    await matters.reopen(ID, content('onramp/b'));
    expect(await only()).toEqual(first);
    await matters.resolve(ID);
    await matters.keep(await only(), { sent: { slack: { level: 2 } }, dueAtMs: undefined });
    temporary.clock.advance(10);
    await matters.reopen(ID, content('onramp/b'));
    const again = {
      id: ID,
      content: content('onramp/b'),
      openedAtMs: startMs + 20,
      resolvedAtMs: undefined,
      sent: {},
    };
    expect(await only()).toEqual(again);
    await matters.keep(first, { sent: { slack: { level: 9 } }, dueAtMs: undefined });
    expect(await only()).toEqual(again);
  });

  it('is listed by due before those that a receiver has, then by the longest wait, up to a number', async () => {
    for (const name of ['sent', 'late', 'new']) await matters.open(name, content(`onramp/${name}`));
    const [sent, late] = await due();
    if (sent === undefined || late === undefined) throw new Error('too few');
    await matters.keep(sent, { sent: { slack: { level: 0 } }, dueAtMs: startMs - 100 });
    await matters.keep(late, { sent: {}, dueAtMs: startMs - 50 });
    expect(await dueIds()).toEqual(['late', 'new', 'sent']);
    expect((await matters.due(2)).matters.map(({ id }) => id)).toEqual(['late', 'new']);
  });

  it('whose content cannot be decrypted, or was sealed for another one, has the flow and kind of its id, as unreadable', async () => {
    const other = createKeyring([{ id: 'other', bytes: new Uint8Array(32).fill(3) }, keyring.active]);
    await (await temporary.open({ keyring: other })).matters.open(ID, content('onramp/a'));
    const unreadable = { ...content('onramp/a'), unreadable: true };
    expect((await only()).content).toEqual(unreadable);
    await temporary.execute(`UPDATE matters SET sent = 'no JSON'`);
    expect(await only()).toMatchObject({ id: ID, sent: {} });
    await matters.open('parked/onramp/b/x', content('onramp/b'));
    await temporary.execute(
      `UPDATE matters SET content = (SELECT content FROM matters WHERE id = 'parked/onramp/b/x')`,
    );
    expect((await due()).find(({ id }) => id === ID)?.content).toEqual(unreadable);
  });

  it('is deleted by purge if it was resolved, or had nothing left to send, before a moment', async () => {
    const before = new Date(startMs + 100);
    for (const name of ['open', 'done', 'kept', 'late']) await matters.open(name, content(`onramp/${name}`));
    await matters.resolve('done');
    const all = await due();
    const kept = all.find(({ id }) => id === 'kept');
    if (kept) await matters.keep(kept, { sent: {}, dueAtMs: undefined });
    temporary.clock.advance(100);
    await matters.resolve('late');
    await matters.open('new', content('onramp/new'));
    await matters.purge(before);
    const left = await temporary.execute('SELECT id FROM matters ORDER BY id');
    expect(left.map(({ id }) => id)).toEqual(['late', 'new', 'open']);
  });

  it('about an event is one for each event and kind', async () => {
    const about = { kind: 'event_quarantined', flowId: 'onramp/a', eventId: 'evt_1' } as const;
    await openEventMatter(matters, about);
    await openEventMatter(matters, about);
    await openEventMatter(matters, { ...about, eventId: 'evt_2' });
    const found = await due();
    expect(found.map(({ id }) => id).toSorted()).toEqual(['event_quarantined/evt_1', 'event_quarantined/evt_2']);
    expect(found.find(({ id }) => id.endsWith('1'))?.content).toMatchObject(about);
  });
});
