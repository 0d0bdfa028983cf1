import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  createWebhookMatch,
  labelSettlement,
  labelCallback,
  labelWebhook,
} from '../../src/gateway/inbound/match-webhook.js';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import type { InboxRow } from '../../src/protocol/events.js';
import type { Store } from '../../src/store/store.js';
import { withTemporaryStore } from '../store/temporary-store.js';
import { newReference } from '../harness/references.js';

const WITHDRAWAL = 'transaction.withdrawal.status.updated';
const DEPOSIT = 'transaction.deposit.status.updated';
const ANY = 'transaction.status.updated';
const ON_CHAIN = 'deposit.onchain.successful';

describe('the labels of an account webhook by its content alone', () => {
  it('are none that throw, whatever its event is', () => {
    for (const event of [{ toString: 1 }, [], 7, null, true])
      expect(() => labelWebhook({ event, data: { provider_reference_id: 'r', status: 'SETTLING' } })).not.toThrow();
  });

  it.each([
    [
      'a record',
      { event: 'kyc.status.changed', data: { kycId: 'r', status: 'APPROVED' } },
      'kyc-check/r',
      'r',
      'APPROVED',
    ],
    ['the bridge', { provider_reference_id: 'r', status: 'SETTLING' }, 'bridge-transfer/r', 'r', 'SETTLING'],
    [
      'the bridge',
      { event: ANY, data: { provider_reference_id: 'r', status: 'SETTLING' } },
      'bridge-transfer/r',
      'r',
      'SETTLING',
    ],
    [
      'a refund',
      { event: WITHDRAWAL, data: { referenceId: 'r.refund', status: 'SUCCESSFUL' } },
      null,
      'r.refund',
      'SUCCESSFUL',
    ],
  ] as const)('are those of %s: %j', (_what, body, flowId, reference, status) => {
    const labels = labelWebhook(body);
    if (flowId === null) expect(labels).toMatchObject({ flowId, reference, status });
    else expect(labels).toEqual({ flowId, reference, status });
  });

  it.each([
    [{ event: DEPOSIT, data: { referenceId: 'r', status: 'SUCCESSFUL' } }],
    [{ event: WITHDRAWAL, data: { referenceId: 'r', status: 'SUCCESSFUL' } }],
    [{ event: ON_CHAIN, data: { reference_id: 'r', status: 'SUCCESSFUL' } }],
    [{ event: WITHDRAWAL, data: { provider_reference_id: 'r', status: 'FAILED' } }],
    [{ reference_id: 'r', status: 'SUCCESSFUL' }],
  ])('leave it to the claims if several kinds are possible: %j', (body) =>
    expect(labelWebhook(body)).toEqual({ flowId: null, reference: 'r', status: expect.any(String), toMatch: true }),
  );

  it.each([[{}], ['text'], [null], [{ event: 7, data: { referenceId: '..' } }]])('are none for %j', (body) => {
    expect(labelWebhook(body)).toEqual({ flowId: null, reference: null, status: null });
  });

  it('take no empty or numeric reference of the bridge for one', () => {
    for (const provider_reference_id of ['', 7])
      expect(
        labelWebhook({ event: WITHDRAWAL, data: { provider_reference_id, referenceId: 'r', status: 'SUCCESSFUL' } }),
      ).toMatchObject({
        reference: 'r',
        toMatch: true,
      });
  });
});

describe('the labels of other events', () => {
  it('of a callback are those of its path, whatever is in its body', () => {
    expect(
      labelCallback('bank-withdrawal', 'r', 'bank-withdrawal/r', { referenceId: 'x', status: 'SUCCESSFUL' }),
    ).toEqual({
      flowId: 'bank-withdrawal/r',
      reference: 'r',
      status: 'SUCCESSFUL',
    });
  });

  it('of a settlement are those of a bridge transfer, and none without its reference', () => {
    const body = { provider_reference_id: 'r', status: 'COMPLETED' };
    expect(labelSettlement(body)).toEqual({ flowId: 'bridge-transfer/r', reference: 'r', status: 'COMPLETED' });
    expect(labelSettlement({ ...body, provider_reference_id: '..' })).toMatchObject({ flowId: null, reference: null });
  });
});

describe('the flow of an account webhook, by the claims,', () => {
  let store: Store;
  let reference: string;
  withTemporaryStore((opened) => (store = opened));
  beforeEach(() => {
    reference = newReference();
  });

  const key = (operation: string) => ({ account: 'default', operation, reference });
  const sent = async (kind: string, operation: string) => {
    await store.claims.reserve(key(operation), { owner: 'o', flowId: `${kind}/${reference}`, fingerprint: 'f' });
    await store.claims.markSending(key(operation), 'o');
  };
  const refused = (operation: string) =>
    store.claims.recordRejection(key(operation), 'o', { httpStatus: 400, message: 'no' });
  const match = (event: string) =>
    createWebhookMatch(store)({ event, data: { referenceId: reference, status: 'SUCCESSFUL' } });
  const found = (kind: string) => ({
    flowId: `${kind}/${reference}`,
    reference,
    status: 'SUCCESSFUL',
  });

  it('is the one that was sent, also if its event’s name does not give its kind', async () => {
    await sent('bank-checkout', 'createBankCheckout');
    expect(await match(DEPOSIT)).toEqual(found('bank-checkout'));
    expect(await match(ANY)).toEqual(found('bank-checkout'));
  });

  it.each(['withdrawal', 'onramp', 'offramp'])(
    'is a bridge transfer, if only that was sent, for which an event of the name "%s" under its reference is no proof',
    async (operation) => {
      await sent('bridge-transfer', 'createBridgeDeposit');
      const event = `transaction.${operation}.status.updated`;
      for (const member of ['referenceId', 'provider_reference_id']) {
        for (const status of ['FAILED', 'COMPLETED']) {
          const body = { event, data: { [member]: reference, status } };
          const { flowId } = await createWebhookMatch(store)(body);
          expect(flowId).toBe(`bridge-transfer/${reference}`);
          const row = { id: 'e', source: 'webhook', proof: 'signature', receivedAt: '', body } as InboxRow;
          expect(eventOfRow(flowId!, row)).toMatchObject({ trusted: false, proof: null, status });
        }
      }
    },
  );

  it('is the withdrawal that was sent for an event of its name, also beside a bridge transfer of the same reference', async () => {
    await sent('bridge-transfer', 'createBridgeDeposit');
    await sent('bank-withdrawal', 'createBankWithdrawal');
    const data = { provider_reference_id: reference, status: 'SUCCESSFUL' };
    expect(await createWebhookMatch(store)({ event: WITHDRAWAL, data })).toEqual(found('bank-withdrawal'));
    expect(labelWebhook({ event: WITHDRAWAL, data })).toMatchObject({ flowId: null, toMatch: true });
  });

  it('is none if one without a lookup was sent, and what was begun elsewhere under its reference is watched', async () => {
    await sent('bank-checkout', 'createBankCheckout');
    const flowId = `mobile-money-watch/${reference}`;
    await store.audit.append({
      kind: 'start',
      subject: '1',
      actor: 'jane',
      role: 'admin',
      means: 'token',
      flowId,
      details: {},
    });
    expect(await match(DEPOSIT)).toMatchObject({ flowId: null, reference });
    await sent('onramp', 'createOnramp');
    expect(await match(ON_CHAIN)).toEqual(found('onramp'));
  });

  it.each(['bank-withdrawal', 'card-deposit', 'bridge-transfer'])(
    'proves nothing of a %s without a lookup if its name says nothing of its object',
    (kind) => {
      const read = (body: object, source: InboxRow['source'] = 'webhook') => {
        const row = { id: 'e', source, proof: 'signature', receivedAt: '', body } as InboxRow;
        return eventOfRow(`${kind}/${reference}`, row);
      };
      const data = { referenceId: reference, status: 'FAILED' };
      for (const body of [{ event: ANY, data }, { event: 'anything', data }, data])
        expect(read(body)).toMatchObject({ trusted: false, proof: null, status: 'FAILED' });
      expect(read(data, 'callback')).toMatchObject({ trusted: true, status: 'FAILED' });
      expect(read({ ...data, provider_reference_id: reference })).toMatchObject({
        trusted: kind === 'bridge-transfer',
      });
    },
  );

  it('is none if two of those that its name gives were sent', async () => {
    await sent('bank-checkout', 'createBankCheckout');
    await sent('card-deposit', 'createCardDeposit');
    expect(await match(DEPOSIT)).toMatchObject({ flowId: null, reference });
  });

  it('is the one under way, before one that was refused; that one, before a flow that only watches', async () => {
    await sent('bank-checkout', 'createBankCheckout');
    await refused('createBankCheckout');
    expect(await match(DEPOSIT)).toEqual(found('bank-checkout'));
    await sent('card-deposit', 'createCardDeposit');
    expect(await match(DEPOSIT)).toEqual(found('card-deposit'));
  });

  it('is one that only watches if none that its name gives was sent, though one of another name was', async () => {
    expect(await match(DEPOSIT)).toEqual(found('mobile-money-watch'));
    await store.claims.reserve(key('createBankCheckout'), {
      owner: 'o',
      flowId: `bank-checkout/${reference}`,
      fingerprint: 'f',
    });
    expect(await match(DEPOSIT)).toEqual(found('mobile-money-watch'));
  });

  it('is the onramp that was sent, refused or not, for an on-chain deposit; else the one that only watches it', async () => {
    expect(await match(ON_CHAIN)).toEqual(found('on-chain-watch'));
    await sent('onramp', 'createOnramp');
    expect(await match(ON_CHAIN)).toEqual(found('onramp'));
    await refused('createOnramp');
    expect(await match(ON_CHAIN)).toEqual(found('onramp'));
  });

  it('is the onramp for the other events of an on-chain deposit, whether it was sent or not', async () => {
    const data = { referenceId: reference, status: 'PENDING', mobile_money_status: 'PENDING' };
    const name = 'transaction.onramp.status.updated';
    const matched = () => createWebhookMatch(store)({ event: name, data });
    expect(await matched()).toMatchObject({ flowId: `onramp/${reference}`, reference });
    await sent('onramp', 'createOnramp');
    expect(await matched()).toMatchObject({ flowId: `onramp/${reference}`, reference });
  });

  it('is none if no claim is there and several kinds are possible', async () => {
    expect(await match(ANY)).toMatchObject({ flowId: null, reference });
    expect(await createWebhookMatch(store)({})).toEqual({ flowId: null, reference: null, status: null });
  });
});
