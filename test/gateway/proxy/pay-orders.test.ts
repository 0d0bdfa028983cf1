import { beforeEach, describe, expect, it } from '@jest/globals';
import { createPayOrders } from '../../../src/gateway/proxy/pay-orders.js';
import type { Store } from '../../../src/store/store.js';
import { newReference } from '../../harness/references.js';
import { withTemporaryStore } from '../../store/temporary-store.js';

describe('orders to pay in the audit log', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  let flowId: string;
  beforeEach(() => {
    flowId = `invoice-payment/${newReference()}`;
  });
  const orderOf = (subject: string) => ({ flowId, subject, actor: 'shop', means: 'token' }) as const;
  const entries = async () => {
    const found = await store.audit.list({ flowId, limit: 100, oldestFirst: true });
    return found.map(({ kind, subject }) => `${kind} ${subject}`);
  };
  const refuse = (subject: string) => store.audit.append({ ...orderOf(subject), kind: 'refused', action: 'pay' });

  it('are there once, however many come at once; again if one was refused since, and not if another one was', async () => {
    const record = createPayOrders(store.audit);
    const all = (subject: string) => Promise.all(Array.from({ length: 30 }, () => record(orderOf(subject))));
    await Promise.all([all('pay-a'), all('pay-b')]);
    expect((await entries()).toSorted()).toEqual(['order pay-a', 'order pay-b']);
    await refuse('pay-a');
    await Promise.all([all('pay-a'), all('pay-b')]);
    expect((await entries()).slice(2)).toEqual(['refused pay-a', 'order pay-a']);
  });

  it('are recorded after one that could not be', async () => {
    const full = new Error('full');
    let isDown = true;
    const append: Store['audit']['append'] = (note) => (isDown ? Promise.reject(full) : store.audit.append(note));
    const record = createPayOrders({ ...store.audit, append });
    await expect(record(orderOf('pay-c'))).rejects.toBe(full);
    isDown = false;
    await record(orderOf('pay-c'));
    expect(await entries()).toEqual(['order pay-c']);
  });
});
