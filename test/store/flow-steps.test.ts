import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createFlowStepActivities } from '../../activities/flow-steps.js';
import { pinOf } from '../../activities/claims.js';
import type { StatusOrder } from '../../activities/types.js';
import { RateLimitedError, ServiceUnavailableError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import { LIVE_OPERATIONS } from '../../src/protocol/live-operations.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import bridgeTransfer from '../kinds/bridge-transfer.js';
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

describe('the activities of a flow, by the definition of its kind:', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));
  const activities = (replaced: Replaced = {}) => createFlowStepActivities(depsOver(store, replaced));

  describe('lookAtStatus', () => {
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

    it('makes one lookup if that suffices', async () => {
      const { found, asked } = await onrampLooked({ [first]: async () => legs });
      expect(found).toMatchObject({ says: 'shown', record: { status: 'CRYPTO_PENDING' } });
      expect(asked).toEqual([first]);
    });

    it('makes the second lookup if the first one does not suffice, or has no record', async () => {
      const half = await onrampLooked({ [first]: async () => ({ onchain: { status: 'PENDING' } }), [second]: paid });
      expect(half.found).toMatchObject({
        says: 'shown',
        record: { status: 'CRYPTO_PENDING', facts: { fiatAmount: '1000.5', currency: 'KES' } },
      });
      expect(half.asked).toEqual([first, second]);
      const unknown = await onrampLooked({ [first]: missing, [second]: paid });
      expect(unknown.found).toMatchObject({ says: 'shown', record: { status: 'FIAT_SUCCESSFUL' } });
    });

    it('returns absent only if neither lookup has a record', async () => {
      expect((await onrampLooked({ [first]: missing, [second]: missing })).found).toEqual({ says: 'absent' });
    });

    it('returns cannot-tell if one lookup has no record, and the other is refused or fails', async () => {
      const refused = await onrampLooked({ [first]: missing, [second]: refuses });
      expect(refused.found).toMatchObject({ says: 'cannot-tell', refused: true });
      const away = await onrampLooked({ [first]: missing, [second]: down });
      expect(away.found).toMatchObject({ says: 'cannot-tell', refused: false });
    });

    it('returns what the first lookup shows if the second one is refused or has no record, and cannot-tell if it fails', async () => {
      const onChain = async () => ({ onchain: { status: 'SUCCESSFUL' } });
      for (const other of [refuses, missing]) {
        const { found } = await onrampLooked({ [first]: onChain, [second]: other });
        expect(found).toMatchObject({ says: 'shown', record: { status: 'CRYPTO_SUCCESSFUL' } });
      }
      const { found } = await onrampLooked({ [first]: onChain, [second]: down });
      expect(found).toMatchObject({ says: 'cannot-tell', refused: false });
    });

    it('returns cannot-tell, without a second lookup, if the first one is refused', async () => {
      const { found, asked } = await onrampLooked({ [first]: refuses, [second]: paid });
      expect(found).toMatchObject({ says: 'cannot-tell', refused: true });
      expect(asked).toEqual([first]);
    });

    it('returns cannot-tell if a fact of the record cannot be read: it may be the status of another payment', async () => {
      const unreadable = { ...legs, mobile_money: { status: 'SUCCESSFUL', amount: undefined } };
      const { found } = await onrampLooked({ [first]: async () => unreadable });
      expect(found).toEqual({ says: 'cannot-tell', why: expect.any(String), refused: false });
    });

    it('returns cannot-tell as refused for a kind without a lookup', async () => {
      const reference = newReference('no-lookup');
      const order = { flowId: `bank-checkout/${reference}`, input: bankCheckout.input(reference) };
      const found = await inAttempt(1, () => activities().lookAtStatus(order));
      expect(found).toEqual({ says: 'cannot-tell', why: expect.any(String), refused: true });
    });

    it('makes the one lookup of a kind that has one', async () => {
      const reference = newReference('one');
      const made = activities({ service: { getCryptoSend: async () => ({ status: 'PENDING' }) } });
      const order = { flowId: `crypto-send/${reference}`, input: cryptoSend.input(reference) };
      expect(await inAttempt(1, () => made.lookAtStatus(order))).toMatchObject({
        says: 'shown',
        record: { status: 'PENDING' },
      });
    });
  });

  describe('lookAtStatus by a lookup that only the live service has', () => {
    const looked = async (answer: () => Promise<unknown>, more: { readonly by?: string } = {}) => {
      const reference = newReference('live');
      const isBridge = more.by !== undefined;
      const made = activities({ service: { getBankWithdrawal: answer, getBridgeDeposit: answer } });
      const [kind, input] = isBridge ? ['bridge-transfer', bridgeTransfer] : ['bank-withdrawal', bankWithdrawal];
      const order = { flowId: `${kind}/${reference}`, input: input.input(reference), live: LIVE_OPERATIONS, ...more };
      return inAttempt(1, () => made.lookAtStatus(order as never));
    };

    it('returns no-lookup if the service has no record: it may know only some of them', async () => {
      expect(await looked(missing)).toEqual({ says: 'no-lookup' });
    });

    it('returns proves-nothing for a record with neither our reference nor an amount', async () => {
      expect(await looked(async () => ({ status: 'SUCCESSFUL', currency: 'ZAR' }))).toEqual({ says: 'proves-nothing' });
      expect(await looked(async () => ({ status: 'SUCCESSFUL', amount: '1' }))).toMatchObject({ says: 'shown' });
    });

    it("returns shown for a record with the service's own reference, if it was asked for by that", async () => {
      const record = { status: 'COMPLETED', kotani_reference_id: 'theirs' };
      expect(await looked(async () => record, { by: 'theirs' })).toMatchObject({ says: 'shown' });
    });
  });

  describe('awaitStatus', () => {
    const waited = (answer: () => Promise<unknown>, more: Partial<StatusOrder> = {}, attempt = 1) => {
      const reference = newReference('waited');
      const made = activities({ service: { getCryptoSend: answer } });
      const order = { flowId: `crypto-send/${reference}`, input: cryptoSend.input(reference), known: ['PENDING'] };
      return inAttempt(attempt, () => made.awaitStatus({ ...order, firstLookMs: 0, timeScale: 1, ...more }));
    };
    const shows = (status: string | null) => async () => ({ status });
    const soon = { type: 'not_yet', nonRetryable: false, nextRetryDelay: 2_000 };
    const unasked = () => Promise.reject(new Error('it was asked'));

    it('returns a status that its flow has not seen', async () => {
      expect(await waited(shows('SUCCESS'))).toMatchObject({ status: 'SUCCESS', facts: {} });
    });

    it.each([
      ['the status is known', shows('PENDING')],
      ['there is no status', shows(null)],
      ['the service does not show it yet', missing],
      ['the lookup is refused', refuses],
    ])('fails as not_yet while %s', async (_, answer) => {
      await expect(waited(answer)).rejects.toMatchObject(soon);
    });

    it('waits as usual for a word that ends nothing, once its flow has seen twenty words', async () => {
      const known = Array.from({ length: 20 }, (_, n) => `TICK-${n}`);
      await expect(waited(shows('TICK-20'), { known })).rejects.toMatchObject(soon);
      expect(await waited(shows('TICK-19'), { known: known.slice(0, 19) })).toMatchObject({ status: 'TICK-19' });
      expect(await waited(shows('SUCCESS'), { known })).toMatchObject({ status: 'SUCCESS' });
    });

    it('fails as service_unavailable if the service is away, for as long as that asks', async () => {
      const away = { type: 'service_unavailable', nonRetryable: false };
      await expect(waited(down)).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
      await expect(waited(busy(90_000))).rejects.toMatchObject({ ...away, nextRetryDelay: 90_000 });
      await expect(waited(busy(500))).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
    });

    it('makes the first lookup only after firstLookMs, and at once if that is 0', async () => {
      const later = { firstLookMs: 45_000 };
      await expect(waited(unasked, later)).rejects.toMatchObject({ ...soon, nextRetryDelay: 45_000 });
      expect(await waited(shows('SUCCESS'), later, 2)).toMatchObject({ status: 'SUCCESS' });
      expect(await waited(shows('SUCCESS'), { firstLookMs: 0 }, 1)).toMatchObject({ status: 'SUCCESS' });
    });

    it('looks up less often while a person decides, and not more often than atLeastMs', async () => {
      const pending = shows('PENDING');
      await expect(waited(pending, { isParked: true })).rejects.toMatchObject({ nextRetryDelay: 15_000 });
      await expect(waited(pending, { atLeastMs: 10_000 })).rejects.toMatchObject({ nextRetryDelay: 10_000 });
      await expect(waited(pending, { atLeastMs: 100 })).rejects.toMatchObject({ nextRetryDelay: 2_000 });
      await expect(waited(pending, { timeScale: 0.5 })).rejects.toMatchObject({ nextRetryDelay: 1_000 });
    });
  });

  describe('lookAtStep', () => {
    const looked = (answer: () => Promise<unknown>, more: Record<string, unknown> = {}) => {
      const reference = newReference('step');
      const made = activities({ service: { getInvoice: answer } });
      const input = { ...invoicePayment.input(reference), ...more };
      return inAttempt(1, () => made.lookAtStep({ flowId: `invoice-payment/${reference}`, step: 'generate', input }));
    };
    const invoice = { amount: '1000.5', currency: 'KES' };
    const soon = { type: 'not_yet', nonRetryable: false, nextRetryDelay: 2_000 };

    it('returns the facts of the record', async () => {
      expect(await looked(async () => ({ invoice, accountNumber: '0012345678' }))).toEqual({
        ...invoice,
        bankAccount: '…5678',
      });
    });

    it.each([
      ['there is no record', missing],
      ['the record shows no invoice', async () => ({ status: 'PENDING' })],
      ['the lookup is refused', refuses],
      ['a fact cannot be read', async () => ({ invoice: { ...invoice, amount: {} }, accountNumber: '1' })],
    ])('fails as not_yet while %s', async (_, answer) => {
      await expect(looked(answer)).rejects.toMatchObject(soon);
    });

    it("fails as not_yet for a shorter time if its flow's time is scaled", async () => {
      await expect(looked(missing, { timeScale: 0.1 })).rejects.toMatchObject({ ...soon, nextRetryDelay: 200 });
    });

    it('fails as service_unavailable if the service is away, for as long as that asks', async () => {
      const away = { type: 'service_unavailable', nonRetryable: false };
      await expect(looked(down)).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
      await expect(looked(busy(90_000))).rejects.toMatchObject({ ...away, nextRetryDelay: 90_000 });
      await expect(looked(busy(500))).rejects.toMatchObject({ ...away, nextRetryDelay: 2_000 });
    });

    it('fails for good, as invalid_input, for an operation without a lookup', async () => {
      const reference = newReference('no-lookup');
      const order = { flowId: `bank-checkout/${reference}`, step: 'checkout', input: bankCheckout.input(reference) };
      await expect(inAttempt(1, () => activities().lookAtStep(order))).rejects.toMatchObject({
        type: 'invalid_input',
        nonRetryable: true,
      });
    });

    it('fails for good, as invalid_input, if its kind has no such step', async () => {
      const reference = newReference('no-step');
      const pin = await pinOf({ store, account: 'default' });
      const order = { flowId: `crypto-send/${reference}`, step: 'resend', input: cryptoSend.input(reference), pin };
      await expect(inAttempt(1, () => activities().describeStep(order))).rejects.toMatchObject({
        type: 'invalid_input',
        nonRetryable: true,
      });
    });
  });

  describe('prepareFlow', () => {
    const prepared = async (flowId: string, input: unknown, replaced: Replaced = {}, more: object = {}) =>
      inAttempt(1, () => activities(replaced).prepareFlow({ flowId, input, ...more }));
    const sendOf = (reference: string, more: object = {}) => ({ ...cryptoSend.input(reference), ...more });
    const ended = { type: 'invalid_input', nonRetryable: true };
    /** The members of the input that the failure names. */
    const wrongMembers = async (flowId: string, input: unknown): Promise<readonly string[]> => {
      const failure = await prepared(flowId, input).catch((error: unknown) => error);
      expect(failure).toMatchObject(ended);
      return (failure as Error).message.split('; ').map((problem) => problem.split(': ', 1)[0] ?? '');
    };

    it('returns each step whose part of the input is there, with its claim and its facts', async () => {
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

    it("refuses a flow id that is not of the input's reference, or of no kind", async () => {
      const reference = newReference('id');
      for (const flowId of [`crypto-send/${reference}-2`, `lottery/${reference}`])
        await expect(prepared(flowId, sendOf(reference))).rejects.toMatchObject(ended);
    });

    it('names the members of the input that are wrong', async () => {
      const reference = newReference('wrong');
      const flowId = `crypto-send/${reference}`;
      const { chain: _chain, ...rest } = sendOf(reference, { cryptoAmount: '-1' });
      expect((await wrongMembers(flowId, rest)).toSorted()).toEqual(['chain', 'cryptoAmount']);
      expect(await wrongMembers(flowId, 'text')).toEqual(['input']);
      const invoice = invoicePayment.input(reference);
      const nested = { ...invoice, bank: { ...invoice.bank, bankCode: { no: 7 } } };
      expect(await wrongMembers(`invoice-payment/${reference}`, nested)).toEqual(['bank.bankCode']);
    });

    it('refuses an amount above the limit of its token, also one that describeStep is given later', async () => {
      const reference = newReference('large');
      const limits = { maxAmounts: new Map([['USDC', '1']]) };
      const input = sendOf(reference, { token: 'USDC', cryptoAmount: '1.01' });
      const flowId = `crypto-send/${reference}`;
      await expect(prepared(flowId, input, limits)).rejects.toMatchObject(ended);
      const order = { flowId, step: 'send', input, pin: await pinOf({ store, account: 'default' }) };
      await expect(inAttempt(1, () => activities(limits).describeStep(order))).rejects.toMatchObject(ended);
      expect(await prepared(flowId, { ...input, cryptoAmount: '1' }, limits)).toMatchObject({
        input: { cryptoAmount: '1' },
      });
    });

    it('refuses a callback URL that the sender of callbacks does not allow', async () => {
      const reference = newReference('url');
      const callbacks = {
        problemOf: (url: string) => (url.includes('inside') ? 'leads inside' : undefined),
        send: () => Promise.reject(new Error('not here')),
      };
      const to = (host: string) =>
        prepared(`crypto-send/${reference}`, sendOf(reference, { callbackUrl: `https://${host}/` }), { callbacks });
      await expect(to('inside.example')).rejects.toMatchObject(ended);
      expect(await to('shop.example')).toMatchObject({ input: { callbackUrl: 'https://shop.example/' } });
      expect(await prepared(`crypto-send/${reference}`, sendOf(reference), { callbacks })).toMatchObject({ input: {} });
    });

    it('refuses an input that came unencrypted, as plaintext_input, unless that is allowed', async () => {
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

    it('pins a flow that was reset to the epoch before the present one, and every other flow to the present one', async () => {
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
