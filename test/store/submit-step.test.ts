import { describe, expect, it } from '@jest/globals';
import { createFlowStepActivities } from '../../activities/flow-steps.js';
import { pinOf } from '../../activities/claims.js';
import type { SendStepOrder } from '../../activities/types.js';
import { ownCallbackUrl } from '../../src/flows/capability.js';
import type { CallOptions } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import cryptoSend from '../kinds/crypto-send.js';
import invoicePayment from '../kinds/invoice-payment.js';
import onramp from '../kinds/onramp.js';
import { asActivity, depsOver, missing, refuses } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

const cutOff = () => Promise.reject(new TypeError('cut off'));

describe('submitStep', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  type Service = Record<string, (argument: never, options?: CallOptions) => Promise<unknown>>;
  /** One step, sent once or more with a service of its own each time. */
  const step = (kind: string, name: string, inputOf: (reference: string) => object, operation: string) => {
    const reference = newReference('step');
    const flowId = `${kind}/${reference}`;
    const key = { account: 'default', operation, reference };
    const submit = async (service: Service, more: Partial<SendStepOrder> = {}) => {
      const deps = depsOver(store, { service });
      const made = createFlowStepActivities(deps);
      const pin = await pinOf(deps);
      const { input } = await made.describeStep({ flowId, step: name, input: inputOf(reference), pin });
      return asActivity(() => made.submitStep({ flowId, step: name, input, pin, reviewedEventIds: [], ...more }));
    };
    const ordered = () => store.claims.orderSendAgain(key, 'next', { actor: 'ann', note: 'not there' });
    return { reference, flowId, key, submit, ordered, phase: async () => (await store.claims.get(key))?.phase };
  };
  const send = () => step('crypto-send', 'send', cryptoSend.input, 'sendCrypto');
  const pay = () => step('invoice-payment', 'pay', invoicePayment.input, 'payInvoice');
  const generate = () => step('invoice-payment', 'generate', invoicePayment.input, 'createInvoice');

  it('sends the body of the operation with our callback URL, within the time of its flow', async () => {
    const { reference, flowId, submit, phase } = step('onramp', 'create', onramp.input, 'createOnramp');
    const sent: unknown[] = [];
    const createOnramp = async (body: never, options?: CallOptions) => {
      sent.push(body, options?.mostMs, options?.stillValid?.());
      return { id: 'S-1' };
    };
    expect(await submit({ createOnramp }, { mostMs: 4_321 })).toMatchObject({
      kind: 'accepted',
      answer: { id: 'S-1' },
    });
    const callbackUrl = ownCallbackUrl(depsOver(store), flowId);
    expect(sent).toEqual([
      expect.objectContaining({ referenceId: reference, fiatAmount: 1000.5, callbackUrl }),
      4_321,
      true,
    ]);
    expect(await phase()).toBe('answered');
  });

  it('returns unknown for a refusal if the service shows the record, and rejected if not', async () => {
    const shown = async () => ({ status: 'PENDING' });
    const { submit, phase } = send();
    expect(await submit({ sendCrypto: refuses, getCryptoSend: shown })).toMatchObject({ kind: 'unknown' });
    expect(await phase()).toBe('sending');
    expect(await send().submit({ sendCrypto: refuses, getCryptoSend: missing })).toMatchObject({ kind: 'rejected' });
  });

  it('fails as not_sent for a repeat while the lookup is refused, and sends with unasked', async () => {
    const { submit, ordered } = send();
    await submit({ sendCrypto: cutOff });
    await ordered();
    const service = { sendCrypto: async () => ({ id: 'S-2' }), getCryptoSend: refuses };
    await expect(submit(service)).rejects.toMatchObject({ type: 'not_sent' });
    expect(await submit(service, { unasked: true })).toMatchObject({ kind: 'accepted', answer: { id: 'S-2' } });
  });

  it('returns duplicate for a repeat if the record has other facts', async () => {
    const { submit, ordered } = send();
    await submit({ sendCrypto: cutOff });
    await ordered();
    const other = async () => ({ status: 'PENDING', cryptoAmount: '999' });
    expect(await submit({ getCryptoSend: other })).toMatchObject({ kind: 'duplicate' });
  });

  it('sends a repeat although there is a record that may be older', async () => {
    const { submit, ordered } = generate();
    await submit({ createInvoice: cutOff });
    await ordered();
    const service = { createInvoice: async () => ({ id: 'I-1' }), getInvoice: async () => ({ status: 'PENDING' }) };
    expect(await submit(service)).toMatchObject({ kind: 'accepted', answer: { id: 'I-1' } });
  });

  it('returns done-elsewhere, before a first send, if others have paid', async () => {
    const paid = async () => ({ status: 'SUCCESSFUL', amount: '1000.5', currency: 'KES' });
    const { submit, phase } = pay();
    expect(await submit({ getInvoicePayment: paid })).toMatchObject({
      kind: 'done-elsewhere',
      found: { says: 'paid', reading: { status: 'SUCCESSFUL' } },
    });
    expect(await phase()).toBe('reserved');
  });

  it('returns contradicted against an event that shows it done, and sends if a person has decided about that event', async () => {
    const { flowId, submit } = send();
    const { id } = await store.inbox.receive(anEvent({ flowId, status: 'SUCCESS', contentHash: flowId }));
    const service = { sendCrypto: async () => ({ id: 'S-1' }) };
    expect(await submit(service)).toEqual({ kind: 'contradicted' });
    expect(await submit(service, { reviewedEventIds: [id] })).toMatchObject({ kind: 'accepted' });
  });
});
