import { describe, expect, it } from '@jest/globals';
import { createOrderActivities } from '../../activities/orders.js';
import type { OrderToAdmit } from '../../activities/types.js';
import { APPROVE_QUOTE, type FourEyes } from '../../src/protocol/four-eyes.js';
import { UPDATES } from '../../src/protocol/vocabulary.js';
import { proofOfOrder } from '../../src/store/order-proof.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { depsOver } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

const PARKED = { reason: 'no_settlement', since: '2026-01-01T00:00:00.000Z', evidence: { n: 1 } } as const;

describe('admitOrder', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  interface Given extends Partial<Omit<OrderToAdmit, 'order'>> {
    readonly actor?: string;
    readonly note?: string;
    /** Absent: it came through no gateway. */
    readonly provenWith?: { readonly second: string | null };
    readonly fourEyes?: FourEyes;
    readonly over?: Partial<Store>;
  }
  const admit = async ({ actor = 'ada', provenWith, fourEyes, over = {}, ...given }: Given) => {
    const flowId = given.flowId ?? `bridge-transfer/${newReference('order')}`;
    const update = UPDATES.resolve;
    const content = { actor, ...(given.note === undefined ? {} : { note: given.note }) };
    const sent = { flowId, update, order: content };
    const proof = provenWith && proofOfOrder(store, sent, { id: 'o-1', ...provenWith });
    const order = { ...content, ...(proof && { proof }) };
    const deps = depsOver({ ...store, ...over }, fourEyes && { fourEyes });
    const { admitOrder } = createOrderActivities(deps);
    const asked = { update, action: 'mark-failed', order, parked: PARKED, ...given, flowId };
    const verdict = await admitOrder(asked);
    const [entry, ...others] = await store.audit.list({ flowId, limit: 10 });
    expect(others).toEqual([]);
    return { verdict, entry };
  };
  const two: FourEyes = { actions: ['mark-failed'], above: new Map() };

  it("admits an order with a gateway's proof under the names in it, and records nothing more", async () => {
    const alone = await admit({ provenWith: { second: null } });
    expect(alone).toEqual({ verdict: { kind: 'admitted', by: 'ada' }, entry: undefined });
    const both = await admit({ provenWith: { second: 'bob' }, fourEyes: two });
    expect(both).toEqual({ verdict: { kind: 'admitted', by: 'ada and bob' }, entry: undefined });
  });

  it("admits an order of another Temporal client as unproven, and records it with the flow's evidence", async () => {
    const { verdict, entry } = await admit({ note: 'seen', actor: 'ada' });
    expect(verdict).toEqual({ kind: 'admitted', by: 'ada (unproven)' });
    expect(entry).toMatchObject({
      kind: 'order',
      action: 'mark-failed',
      actor: 'ada',
      means: 'unproven',
      details: { note: 'seen', parked: PARKED },
    });
    const bare = await admit({ parked: undefined as never });
    expect(bare.entry?.details).toMatchObject({ note: '', parked: null });
  });

  it('shows a short and plain name of another Temporal client', async () => {
    const { verdict, entry } = await admit({ actor: `a\u202Eda\n${'x'.repeat(200)}` });
    const name = `a?da?${'x'.repeat(95)}`;
    expect(verdict).toEqual({ kind: 'admitted', by: `${name} (unproven)` });
    expect(entry?.actor).toBe(name);
  });

  it('refuses an order that needs two persons from another client, and from a gateway with other settings of FOUR_EYES', async () => {
    const other = await admit({ fourEyes: two, note: 'alone' });
    expect(other.verdict).toMatchObject({ kind: 'refused' });
    expect(other.entry).toMatchObject({
      kind: 'refused',
      means: 'unproven',
      details: { note: 'alone', why: expect.any(String) },
    });
    const gateway = await admit({ fourEyes: two, provenWith: { second: null } });
    expect(gateway.verdict).toMatchObject({ kind: 'refused' });
    expect(gateway.entry).toMatchObject({ kind: 'refused', details: { note: '' } });
  });

  it.each([
    ['needs two persons', two],
    ['needs one', undefined],
  ])('refuses a wrong proof, also one of another flow, and records that: the order %s', async (_what, fourEyes) => {
    const { admitOrder } = createOrderActivities(depsOver(store, fourEyes && { fourEyes }));
    const update = UPDATES.resolve;
    const order = { actor: 'ada', note: 'seen' };
    const ofAnother = proofOfOrder(store, { flowId: 'onramp/another', update, order }, { id: 'o-1', second: null });
    for (const proof of [{ id: 'o-1', second: 'bob', mac: 'x' }, ofAnother, 'text' as never, null as never]) {
      const flowId = `bridge-transfer/${newReference('forged')}`;
      const verdict = await admitOrder({ flowId, update, action: 'mark-failed', order: { ...order, proof } });
      expect(verdict).toMatchObject({ kind: 'refused' });
      expect(await store.audit.list({ flowId, limit: 9 })).toMatchObject([{ kind: 'refused', means: 'unproven' }]);
    }
  });

  it("refuses one person's approval of a quote above the limit of its currency, and without a known amount", async () => {
    const flowId = `bridge-transfer/${newReference('quote')}`;
    const input = transferInput('x');
    const currency = String(input['source_currency']).toUpperCase();
    const limits = (limit: string): FourEyes => ({ actions: [], above: new Map([[currency, limit]]) });
    const approve = async (given: Given) => {
      const asked = { action: APPROVE_QUOTE, provenWith: { second: null }, ...given };
      return (await admit({ ...asked, flowId: given.flowId ?? `${flowId}-${newReference('q')}` })).verdict.kind;
    };
    expect(await approve({ input, fourEyes: limits('999999999') })).toBe('admitted');
    expect(await approve({ input, fourEyes: limits('0.01') })).toBe('refused');
    expect(await approve({ fourEyes: limits('999999999') })).toBe('refused');
    expect(await approve({ input, flowId: 'of-no-kind', fourEyes: limits('999999999') })).toBe('refused');
  });

  it("reads the store's keys again for a proof by a key that another process has just made", async () => {
    let refreshed = 0;
    const late = (isNew: boolean): Partial<Store> => ({
      macs: (purpose, text) => (refreshed > 0 ? store.macs(purpose, text) : []),
      refreshKeys: async () => {
        refreshed += isNew ? 1 : 0;
        return isNew;
      },
    });
    const unknown = await admit({ provenWith: { second: null }, over: late(false) });
    expect(unknown.verdict).toMatchObject({ kind: 'refused' });
    const known = await admit({ provenWith: { second: null }, over: late(true) });
    expect(known.verdict).toEqual({ kind: 'admitted', by: 'ada' });
    // A new key alone proves nothing.
    const none = await admit({ over: { refreshKeys: async () => true } });
    expect(none.verdict).toEqual({ kind: 'admitted', by: 'ada (unproven)' });
  });

  it('fails as store_unavailable while the store is away', async () => {
    const audit = { ...store.audit, append: () => Promise.reject(new StoreUnavailableError('SQLITE_IOERR')) };
    await expect(admit({ over: { audit } })).rejects.toMatchObject({ type: 'store_unavailable', nonRetryable: false });
  });
});
