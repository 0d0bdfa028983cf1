import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createFlowStepActivities } from '../../activities/flow-steps.js';
import { pinOf } from '../../activities/claims.js';
import type { StatusOrder } from '../../activities/types.js';
import { RateLimitedError, ServiceUnavailableError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import bankCheckout from '../kinds/bank-checkout.js';
import cryptoSend from '../kinds/crypto-send.js';
import invoicePayment from '../kinds/invoice-payment.js';
import onramp from '../kinds/onramp.js';
import { depsOver, missing, refuses, type Replaced } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const inAttempt = <T>(attempt: number, run: () => Promise<T>): Promise<T> =>
  new MockActivityEnvironment({ attempt }, { logger: silent }).run(run) as Promise<T>;

const down = () => Promise.reject(new ServiceUnavailableError('getCryptoSend', 'timeout'));
const busy = (afterMs: number) => () => Promise.reject(new RateLimitedError('getCryptoSend', afterMs));

describe('the activities that work from the definition of a kind', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));
  const activities = (replaced: Replaced = {}) => createFlowStepActivities(depsOver(store, replaced));

  describe('the status of a flow', () => {
    type Lookups = Readonly<Record<string, () => Promise<unknown>>>;
    /** What an onramp is said to be, and which lookups were made. */
    const onrampLooked = async (service: Lookups) => {
      const asked: string[] = [];
      const noting = Object.entries(service).map(([name, answer]) => [
        name,
        () => {
          asked.push(name);
          return answer();
        },
      ]);
      const made = activities({ service: Object.fromEntries(noting) as Lookups });
      const reference = newReference('looked');
      const order = { flowId: `onramp/${reference}`, input: onramp.input(reference) };
      return { found: await inAttempt(1, () => made.lookAtStatus(order)), asked };
    };
    const paid = async () => ({ status: 'SUCCESSFUL', amount: '1000.5', currency: 'KES' });
    const [first, second] = ['getOnChainDeposit', 'getMobileMoneyDeposit'];
    const legs = { mobile_money: { status: 'SUCCESSFUL' }, onchain: { status: 'PENDING' } };

    it('is read from one lookup if that suffices', async () => {
      const { found, asked } = await onrampLooked({ [first]: async () => legs });
      expect(found).toMatchObject({ says: 'shown', record: { status: 'CRYPTO_PENDING' } });
      expect(asked).toEqual([first]);
    });

    it('is read from both if the first one does not suffice, or does not know it', async () => {
      const half = await onrampLooked({ [first]: async () => ({ onchain: { status: 'PENDING' } }), [second]: paid });
      expect(half.found).toMatchObject({
        says: 'shown',
        record: { status: 'CRYPTO_PENDING', facts: { fiatAmount: '1000.5', currency: 'KES' } },
      });
      expect(half.asked).toEqual([first, second]);
      const unknown = await onrampLooked({ [first]: missing, [second]: paid });
      expect(unknown.found).toMatchObject({ says: 'shown', record: { status: 'FIAT_SUCCESSFUL' } });
    });

    it('is absent only if neither lookup knows it', async () => {
      expect((await onrampLooked({ [first]: missing, [second]: missing })).found).toEqual({ says: 'absent' });
    });

    it('is not absent if one does not know it, and the other refuses to say or is away', async () => {
      const refused = await onrampLooked({ [first]: missing, [second]: refuses });
      expect(refused.found).toMatchObject({ says: 'cannot-tell', refused: true });
      const away = await onrampLooked({ [first]: missing, [second]: down });
      expect(away.found).toMatchObject({ says: 'cannot-tell', refused: false });
    });

    it('is what the first lookup shows if the second one is refused, or knows nothing; not if it is away', async () => {
      const onChain = async () => ({ onchain: { status: 'SUCCESSFUL' } });
      for (const other of [refuses, missing]) {
        const { found } = await onrampLooked({ [first]: onChain, [second]: other });
        expect(found).toMatchObject({ says: 'shown', record: { status: 'CRYPTO_SUCCESSFUL' } });
      }
      const { found } = await onrampLooked({ [first]: onChain, [second]: down });
      expect(found).toMatchObject({ says: 'cannot-tell', refused: false });
    });

    it('is unknown, without another question, if the first lookup cannot tell', async () => {
      const { found, asked } = await onrampLooked({ [first]: refuses, [second]: paid });
      expect(found).toMatchObject({ says: 'cannot-tell', refused: true, why: expect.stringContaining('403') });
      expect(asked).toEqual([first]);
    });

    it('is unknown if a fact of the record cannot be read: it may be the status of another payment', async () => {
      const unreadable = { ...legs, mobile_money: { status: 'SUCCESSFUL', amount: undefined } };
      const { found } = await onrampLooked({ [first]: async () => unreadable });
      expect(found).toEqual({ says: 'cannot-tell', why: expect.stringContaining('fiatAmount'), refused: false });
    });

    it('is refused, and not only unknown, for a kind without a lookup', async () => {
      const reference = newReference('no-lookup');
      const order = { flowId: `bank-checkout/${reference}`, input: bankCheckout.input(reference) };
      const found = await inAttempt(1, () => activities().lookAtStatus(order));
      expect(found).toEqual({ says: 'cannot-tell', why: expect.any(String), refused: true });
    });

    it('of a kind without a second lookup is read from its one', async () => {
      const reference = newReference('one');
      const made = activities({ service: { getCryptoSend: async () => ({ status: 'PENDING' }) } });
      const order = { flowId: `crypto-send/${reference}`, input: cryptoSend.input(reference) };
      expect(await inAttempt(1, () => made.lookAtStatus(order))).toMatchObject({
        says: 'shown',
        record: { status: 'PENDING' },
      });
    });
  });

  describe('the wait for another status', () => {
    const waited = (answer: () => Promise<unknown>, more: Partial<StatusOrder> = {}, attempt = 1) => {
      const reference = newReference('waited');
      const made = activities({ service: { getCryptoSend: answer } });
      const order = { flowId: `crypto-send/${reference}`, input: cryptoSend.input(reference), known: ['PENDING'] };
      return inAttempt(attempt, () => made.awaitStatus({ ...order, firstLookMs: 0, timeScale: 1, ...more }));
    };
    const shows = (status: string | null) => async () => ({ status });
    const soon = { type: 'not_yet', nonRetryable: false, nextRetryDelay: 2_000 };
    const unasked = () => Promise.reject(new Error('it was asked'));

    it('ends with a status that its flow does not know', async () => {
      expect(await waited(shows('SUCCESS'))).toMatchObject({ status: 'SUCCESS', facts: {} });
    });

    it.each([
      ['the status is known', shows('PENDING')],
      ['there is no status', shows(null)],
      ['the service does not show it yet', missing],
      ['the lookup is refused', refuses],
    ])('goes on while %s', async (_, answer) => {
      await expect(waited(answer)).rejects.toMatchObject(soon);
    });

    it('goes on if the service is away, and leaves it alone for as long as it asks', async () => {
      const away = { type: 'service_unavailable', nonRetryable: false };
      await expect(waited(down)).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
      await expect(waited(busy(90_000))).rejects.toMatchObject({ ...away, nextRetryDelay: 90_000 });
      await expect(waited(busy(500))).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
    });

    it('asks for the first time only after the time that its definition gives, and at once if that is none', async () => {
      const later = { firstLookMs: 45_000 };
      await expect(waited(unasked, later)).rejects.toMatchObject({ ...soon, nextRetryDelay: 45_000 });
      expect(await waited(shows('SUCCESS'), later, 2)).toMatchObject({ status: 'SUCCESS' });
      expect(await waited(shows('SUCCESS'), { firstLookMs: 0 }, 1)).toMatchObject({ status: 'SUCCESS' });
    });

    it('asks less often while a person decides, and no more often than it may', async () => {
      const pending = shows('PENDING');
      await expect(waited(pending, { isParked: true })).rejects.toMatchObject({ nextRetryDelay: 15_000 });
      await expect(waited(pending, { atLeastMs: 10_000 })).rejects.toMatchObject({ nextRetryDelay: 10_000 });
      await expect(waited(pending, { atLeastMs: 100 })).rejects.toMatchObject({ nextRetryDelay: 2_000 });
      await expect(waited(pending, { timeScale: 0.5 })).rejects.toMatchObject({ nextRetryDelay: 1_000 });
    });
  });

  describe('the lookup of one step', () => {
    const looked = (answer: () => Promise<unknown>, more: Record<string, unknown> = {}) => {
      const reference = newReference('step');
      const made = activities({ service: { getInvoice: answer } });
      const input = { ...invoicePayment.input(reference), ...more };
      return inAttempt(1, () => made.lookAtStep({ flowId: `invoice-payment/${reference}`, step: 'generate', input }));
    };
    const invoice = { amount: '1000.5', currency: 'KES' };
    const soon = { type: 'not_yet', nonRetryable: false, nextRetryDelay: 2_000 };

    it('ends with the facts of its record', async () => {
      expect(await looked(async () => ({ invoice, accountNumber: '0012345678' }))).toEqual({
        ...invoice,
        bankAccount: '…5678',
      });
    });

    it.each([
      ['there is no record', missing, /does not show it yet/],
      ['the record shows no invoice', async () => ({ status: 'PENDING' }), /does not show it yet/],
      ['the lookup is refused', refuses, /refused \(403\)/],
      [
        'a fact cannot be read',
        async () => ({ invoice: { ...invoice, amount: {} }, accountNumber: '1' }),
        /cannot be read/,
      ],
    ])('goes on while %s', async (_, answer, message) => {
      await expect(looked(answer)).rejects.toMatchObject({ ...soon, message: expect.stringMatching(message) });
    });

    it('takes its turns in the time scale of its flow', async () => {
      await expect(looked(missing, { timeScale: 0.1 })).rejects.toMatchObject({ ...soon, nextRetryDelay: 200 });
    });

    it('goes on if the service is away, and leaves it alone for as long as it asks', async () => {
      const away = { type: 'service_unavailable', nonRetryable: false };
      await expect(looked(down)).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
      await expect(looked(busy(90_000))).rejects.toMatchObject({ ...away, nextRetryDelay: 90_000 });
      await expect(looked(busy(500))).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
    });

    it('at an operation that cannot be looked up ends the flow, instead of going on for ever', async () => {
      const reference = newReference('no-lookup');
      const order = { flowId: `bank-checkout/${reference}`, step: 'checkout', input: bankCheckout.input(reference) };
      await expect(inAttempt(1, () => activities().lookAtStep(order))).rejects.toMatchObject({
        type: 'invalid_input',
        nonRetryable: true,
        message: expect.stringContaining('createBankCheckout'),
      });
    });
  });

  describe('the preparation of a flow', () => {
    const prepared = async (flowId: string, input: unknown, replaced: Replaced = {}, more: object = {}) =>
      inAttempt(1, () => activities(replaced).prepareFlow({ flowId, input, ...more }));
    const sendOf = (reference: string, more: object = {}) => ({ ...cryptoSend.input(reference), ...more });
    const ended = (message: RegExp) => ({
      type: 'invalid_input',
      nonRetryable: true,
      message: expect.stringMatching(message),
    });

    it('names each POST whose part of the input is there, with its claim and its facts', async () => {
      const reference = newReference('prepared');
      const flowId = `invoice-payment/${reference}`;
      const pin = await pinOf({ store, account: 'default' });
      const { payment, ...input } = invoicePayment.input(reference);
      const both = await prepared(flowId, { ...input, payment });
      const claim = { reference, flowId, pin, fingerprint: expect.stringMatching(/./) };
      expect(both).toMatchObject({
        pin,
        fingerprint: expect.stringMatching(/./),
        allowPlaintext: false,
        input: { pay: 'generated', amount: '1000.5' },
        windows: { settleMs: 68_000, postMs: 8_000 },
        steps: {
          generate: { claim: { ...claim, operation: 'createInvoice' }, facts: { amount: '1000.5', currency: 'KES' } },
          pay: { claim: { ...claim, operation: 'payInvoice' }, facts: { paidAmount: '1000.5' } },
        },
      });
      const later = await prepared(flowId, input);
      expect(Object.keys(later.steps)).toEqual(['generate']);
      const described = await inAttempt(1, () =>
        activities().describeStep({ flowId, step: 'pay', input: { ...input, payment }, pin }),
      );
      expect(described).toEqual({ ...both.steps['pay'], input: both.input });
    });

    it('refuses an id that is not of its reference, or of no kind, so that one reference is one flow', async () => {
      const reference = newReference('id');
      await expect(prepared(`crypto-send/${reference}-2`, sendOf(reference))).rejects.toMatchObject(
        ended(new RegExp(`must be "crypto-send/${reference}"`)),
      );
      await expect(prepared(`lottery/${reference}`, sendOf(reference))).rejects.toMatchObject(ended(/no flow kind/));
    });

    it('names the members that are wrong', async () => {
      const reference = newReference('wrong');
      const flowId = `crypto-send/${reference}`;
      const { chain: _chain, ...rest } = sendOf(reference, { cryptoAmount: '-1' });
      await expect(prepared(flowId, rest)).rejects.toMatchObject(ended(/^(?=.*\bchain: )(?=.*\bcryptoAmount: ).*; /));
      await expect(prepared(flowId, 'text')).rejects.toMatchObject(ended(/^input: /));
      const invoice = invoicePayment.input(reference);
      const nested = { ...invoice, bank: { ...invoice.bank, bankCode: { no: 7 } } };
      await expect(prepared(`invoice-payment/${reference}`, nested)).rejects.toMatchObject(ended(/\bbank\.bankCode: /));
    });

    it('refuses an amount above the limit, also of what a step was given later', async () => {
      const reference = newReference('large');
      const limits = { maxAmounts: new Map([['USDC', '1']]) };
      const input = sendOf(reference, { token: 'USDC', cryptoAmount: '1.01' });
      const flowId = `crypto-send/${reference}`;
      await expect(prepared(flowId, input, limits)).rejects.toMatchObject(ended(/^cryptoAmount: must be at most 1 /));
      const order = { flowId, step: 'send', input, pin: await pinOf({ store, account: 'default' }) };
      await expect(inAttempt(1, () => activities(limits).describeStep(order))).rejects.toMatchObject(
        ended(/^cryptoAmount: must be at most 1 /),
      );
      expect(await prepared(flowId, { ...input, cryptoAmount: '1' }, limits)).toMatchObject({
        input: { cryptoAmount: '1' },
      });
    });

    it('refuses a callback URL that leads to a forbidden place', async () => {
      const reference = newReference('url');
      const callbacks = {
        problemOf: (url: string) => (url.includes('inside') ? 'leads inside' : undefined),
        send: () => Promise.reject(new Error('not here')),
      };
      const to = (host: string) =>
        prepared(`crypto-send/${reference}`, sendOf(reference, { callbackUrl: `https://${host}/` }), { callbacks });
      await expect(to('inside.example')).rejects.toMatchObject(ended(/^callbackUrl: leads inside$/));
      expect(await to('shop.example')).toMatchObject({ input: { callbackUrl: 'https://shop.example/' } });
      expect(await prepared(`crypto-send/${reference}`, sendOf(reference), { callbacks })).toMatchObject({ input: {} });
    });

    it('takes an input that came unencrypted only if that is allowed', async () => {
      const reference = newReference('plain');
      const raw = { __plaintext: sendOf(reference) };
      await expect(prepared(`crypto-send/${reference}`, raw)).rejects.toMatchObject({
        type: 'plaintext_input',
        nonRetryable: true,
      });
      expect(await prepared(`crypto-send/${reference}`, raw, { allowPlaintext: true })).toMatchObject({
        allowPlaintext: true,
        input: { referenceId: reference },
      });
    });

    it('pins a flow that was reset to the epoch before this one, and another one to this one', async () => {
      const reference = newReference('pinned');
      const raised = { ...store, deployment: { ...store.deployment, read: async () => ({ id: 's', epoch: 3 }) } };
      const epochOf = async (more: object) =>
        (await prepared(`crypto-send/${reference}`, sendOf(reference), { store: raised as Store }, more)).pin.epoch;
      expect([await epochOf({}), await epochOf({ wasReset: false }), await epochOf({ wasReset: true })]).toEqual([
        3, 3, 2,
      ]);
    });
  });
});
