import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ReceivedEvent } from '../../src/protocol/events.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

describeStores('the figures of a store', (kind) => {
  let temporary: TemporaryStore;
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
  });
  afterEach(() => temporary.remove());

  const claimOf = (reference: string) => ({ account: 'default', operation: 'sendCrypto', reference });
  const attempt = (reference: string) => ({
    owner: `owner-${reference}`,
    flowId: `crypto-send/${reference}`,
    fingerprint: 'f',
  });

  it('count claims in sending, and since when, until a person has decided about them', async () => {
    const store = await temporary.open();
    expect(await store.figures()).toMatchObject({ sending: 0, oldestSendingMs: undefined, leasedFlows: 0 });
    for (const reference of ['one', 'two', 'three']) {
      await store.claims.reserve(claimOf(reference), attempt(reference));
      if (reference !== 'three') await store.claims.markSending(claimOf(reference), `owner-${reference}`);
      temporary.clock.advance(1_000);
    }
    const both = await store.figures();
    expect([both.sending, both.nowMs - (both.oldestSendingMs ?? 0)]).toEqual([2, 3_000]);
    await store.claims.recordDecision(claimOf('one'), 'mark-completed', { actor: 'a', note: 'paid' });
    const rest = await store.figures();
    expect([rest.sending, rest.nowMs - (rest.oldestSendingMs ?? 0)]).toEqual([1, 2_000]);
  });

  it('have the time since when a proven event waits for a flow that has a claim', async () => {
    const store = await temporary.open();
    const event = (reference: string, proof: ReceivedEvent['proof'] = null): ReceivedEvent => ({
      id: `evt_${reference}_${proof ?? 'none'}`,
      source: 'callback',
      flowId: `crypto-send/${reference}`,
      reference,
      status: 'SUCCESSFUL',
      proof,
      contentHash: `${reference} ${proof}`,
      body: { reference },
    });
    await store.inbox.receive(event('early', 'signature'));
    temporary.clock.advance(60_000);
    await store.claims.reserve(claimOf('sent'), attempt('sent'));
    await store.inbox.receive(event('sent'));
    expect((await store.figures()).oldestWaitingMs).toBeUndefined();
    temporary.clock.advance(1_000);
    await store.inbox.receive(event('sent', 'signature'), 30_000);
    temporary.clock.advance(5_000);
    const found = await store.figures();
    expect(found.nowMs - (found.oldestWaitingMs ?? 0)).toBe(5_000);
    await store.inbox.lease({ proven: 10, unproven: 10, perFlow: 10, leaseMs: 10_000 });
    expect((await store.figures()).leasedFlows).toBeGreaterThan(0);
  });
});
