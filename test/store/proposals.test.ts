import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { secondPerson } from '../../src/gateway/flows/second-person.js';
import { createKeyring } from '../../src/keys/index.js';
import type { ProposalStore } from '../../src/store/proposal.js';
import { describeStores } from './store-kinds.js';
import type { Store } from '../../src/store/store.js';
import { keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const LIFE_MS = 60_000;
const key = { flowId: 'onramp/a', topic: 'decision' };
const given = {
  ...key,
  id: 'first',
  subject: '2026-01-01T00:00:00.000Z',
  action: 'mark-completed',
  choice: {},
  by: 'alice',
  note: 'seen',
};

describeStores('a proposal', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  let proposals: ProposalStore;
  let elsewhere: ProposalStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    [proposals, elsewhere] = [store.proposals, (await temporary.open()).proposals];
  });
  afterEach(() => temporary.remove());

  it('stands until it is too old or withdrawn, and no other one for the same is made meanwhile', async () => {
    const made = await proposals.propose(given, LIFE_MS);
    expect(made).toMatchObject({ ...given, confirmedBy: null, expiresAt: '2026-01-01T00:01:00.000Z' });
    expect(await elsewhere.propose({ ...given, id: 'second', by: 'bob', action: 'mark-failed' }, LIFE_MS)).toEqual(
      made,
    );
    temporary.clock.advance(LIFE_MS);
    expect(await proposals.get(key)).toBeUndefined();
    expect(await proposals.confirm(made, 'bob')).toBe(false);
    expect(await elsewhere.propose({ ...given, id: 'third' }, LIFE_MS)).toMatchObject({ id: 'third' });
    expect(await proposals.end({ ...key, id: 'third' })).toBe(true);
    expect(await elsewhere.get(key)).toBeUndefined();
  });

  it('is replaced by one for another state of the flow', async () => {
    const made = await proposals.propose(given, LIFE_MS);
    await proposals.propose({ ...given, id: 'later', subject: 'another' }, LIFE_MS);
    expect(await proposals.confirm(made, 'bob')).toBe(false);
    expect(await proposals.get(key)).toMatchObject({ id: 'later' });
  });

  it('is confirmed by exactly one of twelve at once, who may repeat that, and never by its proposer', async () => {
    const made = await proposals.propose(given, LIFE_MS);
    expect(await proposals.confirm(made, 'alice')).toBe(false);
    const people = Array.from({ length: 12 }, (_, index) => `person-${index}`);
    const tried = await Promise.all(
      people.map((person, index) => (index % 2 === 0 ? proposals : elsewhere).confirm(made, person)),
    );
    expect(tried.filter(Boolean)).toHaveLength(1);
    const winner = people[tried.indexOf(true)] ?? '';
    expect(await proposals.get(key)).toMatchObject({ confirmedBy: winner });
    expect(await elsewhere.confirm(made, winner)).toBe(true);
    expect(await elsewhere.end(made)).toBe(false);
    expect(await elsewhere.end(made, true)).toBe(true);
  });

  /** Like a gateway: checks whether this person is the second one. */
  const order = (name: string, at: Pick<Store, 'proposals' | 'audit'> = store) =>
    secondPerson(
      { store: at as Store },
      {
        caller: { name, role: 'operator', means: 'token' },
        permission: 'resolve',
        order: { action: given.action, fourEyes: { actions: [given.action], above: new Map() } },
      },
      given,
    );

  it('that was confirmed can be confirmed by another person, with the same id, or withdrawn, after a minute', async () => {
    expect(await order('alice')).toBeUndefined();
    const confirmed = await order('bob');
    expect(confirmed).toMatchObject({ by: 'alice', action: 'mark-completed' });
    const { id = '' } = confirmed ?? {};
    // Bob's order got no answer, and Bob has left.
    await expect(order('carol')).rejects.toMatchObject({ status: 409 });
    expect(await proposals.get(key)).toMatchObject({ confirmedBy: 'bob' });
    expect(await proposals.end({ ...key, id })).toBe(false);
    temporary.clock.advance(60_000);
    expect(await proposals.get(key)).toMatchObject({ confirmedBy: null });
    expect(await order('carol')).toMatchObject({ id });
    await expect(order('bob')).rejects.toMatchObject({ status: 409 });
    temporary.clock.advance(60_000);
    expect(await proposals.end({ ...key, id })).toBe(true);
  });

  it('that cannot be decrypted, or was changed without a key, has no note, and can be withdrawn but not confirmed', async () => {
    const nextKey = { id: 'next', bytes: new Uint8Array(32).fill(9) };
    const ahead = await temporary.open({ keyring: createKeyring([nextKey, keyring.active]) });
    expect(await order('alice', ahead)).toBeUndefined();
    const open = await proposals.get(key);
    expect(open).toMatchObject({ by: 'alice', note: null });
    await expect(order('bob')).rejects.toMatchObject({ status: 409 });
    const set = (column: string, value: string) => temporary.execute(`UPDATE proposals SET ${column} = '${value}'`);
    for (const [column, value, before] of [
      ['subject', 'another', given.subject],
      ['action', 'send-again', given.action],
      ['choice', 'no JSON', '{}'],
      ['proposed_by', 'carol', given.by],
    ] as const) {
      await set(column, value);
      expect(await ahead.proposals.get(key)).toMatchObject({ note: null });
      await set(column, before);
      expect(await ahead.proposals.get(key)).toMatchObject({ note: given.note });
    }
    expect(await proposals.end({ ...key, id: open?.id ?? '' })).toBe(true);
  });
});
