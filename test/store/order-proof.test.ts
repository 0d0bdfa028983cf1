import { describe, expect, it } from '@jest/globals';
import { createKeyring } from '../../src/keys/index.js';
import type { OrderProof } from '../../src/protocol/messages.js';
import { isProven, type OrderToFlow, proofOfOrder } from '../../src/store/order-proof.js';
import type { Store } from '../../src/store/store.js';
import { keyring, makeTemporaryStore, withTemporaryStore } from './temporary-store.js';

const order = { actor: 'alice', action: 'mark-completed', note: 'seen' };
const sent: OrderToFlow = { flowId: 'onramp/a', update: 'decide', order };

describe('proofOfOrder', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  const proven = (proof: unknown, more: Partial<OrderToFlow> = {}, content: object = {}) =>
    isProven(store, { ...sent, ...more, order: { ...order, ...content, proof: proof as OrderProof } });

  it('proves exactly this order to this flow, with one person or two', () => {
    for (const second of [null, 'bob']) {
      const proof = proofOfOrder(store, sent, { id: 'p1', second });
      expect(proof).toEqual({ id: 'p1', second, mac: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect(proven(proof)).toBe(true);
      expect(proven(proof, { flowId: 'onramp/b' })).toBe(false);
      expect(proven(proof, { update: 'pay' })).toBe(false);
      expect(proven(proof, {}, { actor: 'carol' })).toBe(false);
      expect(proven(proof, {}, { note: 'another' })).toBe(false);
      expect(proven({ ...proof, id: 'p2' })).toBe(false);
      expect(proven({ ...proof, second: second === null ? 'bob' : null })).toBe(false);
      expect(proven({ ...proof, second: 'carol' })).toBe(false);
    }
  });

  it('is a MAC of the store for orders alone', () => {
    const proof = proofOfOrder(store, sent, { id: 'p1', second: null });
    const text =
      '{"flowId":"onramp/a","id":"p1","order":{"action":"mark-completed","actor":"alice","note":"seen"},"second":null,"update":"decide"}';
    expect(proof.mac).toBe(store.mac('order', text));
    expect(proven({ ...proof, mac: store.mac('event', text) })).toBe(false);
  });

  it('proves nothing, and isProven does not throw, whatever a Temporal client puts in its place', () => {
    const proof = proofOfOrder(store, sent, { id: 'p1', second: null });
    const { mac: _mac, ...withoutMac } = proof;
    const wrong = [undefined, null, 'proof', 7, [], {}, withoutMac, { ...proof, id: 1 }, { ...proof, mac: 5 }];
    for (const one of [...wrong, { ...proof, second: 1 }, { ...proof, second: undefined }]) {
      expect(proven(one)).toBe(false);
    }
    for (const mac of ['', proof.mac.slice(1), `${proof.mac}0`, 'ä'.repeat(64), 'g'.repeat(64)]) {
      expect(proven({ ...proof, mac })).toBe(false);
    }
    expect(isProven(store, sent)).toBe(false);
  });

  it('proves an order after a rotation of the keys, and none at another store', async () => {
    const temporary = await makeTemporaryStore('libsql');
    const before = await temporary.open();
    const proof = proofOfOrder(before, sent, { id: 'p1', second: null });
    expect(proven(proof)).toBe(false);
    const ring = createKeyring([{ id: 'next', bytes: new Uint8Array(32).fill(9) }, keyring.active]);
    const after = await temporary.open({ keyring: ring });
    await after.keys.reseal({ epoch: 1 });
    expect(isProven(after, { ...sent, order: { ...order, proof } })).toBe(true);
    expect(proofOfOrder(after, sent, { id: 'p1', second: null }).mac).not.toBe(proof.mac);
    await temporary.remove();
  });
});
