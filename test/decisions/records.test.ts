import { describe, expect, test } from '@jest/globals';
import { createActivities } from '../../activities/index.js';
import { pinOf } from '../../activities/claims.js';
import { operations, type OperationName } from '../../src/contract/index.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { flowOf } from '../../src/flows/index.js';
import { classifyStatus, ONRAMP_WORDS } from '../../src/protocol/statuses.js';
import { RejectedError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { differences } from '../../workflows/engine/events.js';
import { newReference } from '../harness/references.js';
import { EVM_ADDRESS } from '../harness/parties.js';
import { asActivity, depsOver } from '../store/deciding-activities.js';
import { anEvent, withTemporaryStore } from '../store/temporary-store.js';
import { KINDS } from '../harness/kinds.js';

const inputOf = (kind: FlowKind, reference: string) => KINDS.find((each) => each.kind === kind)!.input(reference);

/** What is compared of a record with what was sent: "shown" needs our amount, our currency and our receiver. */
describe('a record that the service has under our reference', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  type Wire = Record<string, unknown>;
  /** Activities over a service that answers lookups with these bodies, read as the client reads them. */
  const activities = (bodies: Partial<Record<OperationName, (reference: string) => Wire>>) => {
    let sent = 0;
    const reads = Object.entries(bodies).map(([name, body]) => [
      name,
      async (reference: string) => operations[name as OperationName].data.parse(body(reference)),
    ]);
    const sends = ['sendCrypto', 'payInvoice'].map((name) => [name, () => Promise.resolve({ n: (sent += 1) })]);
    const service = Object.fromEntries([...sends, ...reads]);
    return { made: createActivities(depsOver(store, { service })), sent: () => sent };
  };

  const STEPS: Readonly<Partial<Record<OperationName, readonly [kind: FlowKind, step: string]>>> = {
    sendCrypto: ['crypto-send', 'send'],
    createOfframp: ['offramp', 'create'],
    createOnramp: ['onramp', 'create'],
    createInvoice: ['invoice-payment', 'generate'],
    payInvoice: ['invoice-payment', 'pay'],
  };
  /** What the lookup says about an unknown POST of that operation. */
  const looked = async (
    operation: OperationName,
    bodies: Parameters<typeof activities>[0],
    more: Wire = {},
  ): Promise<unknown> => {
    const [kind, step] = STEPS[operation]!;
    const reference = newReference('record');
    const input = { ...inputOf(kind, reference), ...more };
    const { made } = activities(bodies);
    const pin = await pinOf({ store, account: 'default' });
    const flowId = `${kind}/${reference}`;
    const { claim, facts } = await asActivity(() => made.describeStep({ flowId, step, input, pin }));
    return asActivity(() => made.lookAtPost({ claim, expect: facts, fixed: {}, saidToExist: false }));
  };

  const send = (more: Wire) => (referenceId: string) => ({
    referenceId,
    status: 'SUCCESSFUL',
    cryptoAmount: 12.5,
    cryptoWallet: EVM_ADDRESS,
    chain: { name: 'CELO' },
    token: { symbol: 'USDC' },
    ...more,
  });
  const offramp = (more: Wire) => (referenceId: string) => ({
    referenceId,
    status: 'SUCCESS',
    cryptoAmount: '12.50',
    fiatCurrency: 'KES',
    ...more,
  });
  const onramp = (fiat: Wire, crypto: Wire) => (reference_id: string) => ({
    mobile_money: { reference_id, status: 'SUCCESSFUL', amount: 1000.5, currency: 'KES', ...fiat },
    onchain: {
      reference_id,
      status: 'SUCCESSFUL',
      public_address: EVM_ADDRESS,
      chain: 'CELO',
      token: 'USDC',
      ...crypto,
    },
  });
  const invoice =
    (inner: Wire, more: Wire = {}) =>
    (referenceId: string) => ({ referenceId, invoice: { amount: 1000.5, currency: 'KES', ...inner }, ...more });
  const payment = (more: Wire) => (referenceId: string) => ({
    referenceId,
    status: 'SUCCESSFUL',
    amount: 1000.5,
    currency: 'KES',
    ...more,
  });

  test.each<[string, OperationName, Parameters<typeof activities>[0]]>([
    ['crypto send', 'sendCrypto', { getCryptoSend: send({}) }],
    ['crypto send in plain text', 'sendCrypto', { getCryptoSend: send({ chain: 'celo', token: 'usdc' }) }],
    ['crypto send that names neither', 'sendCrypto', { getCryptoSend: send({ chain: { id: 7 }, token: null }) }],
    ['offramp', 'createOfframp', { getOfframp: offramp({}) }],
    ['offramp with an empty amount', 'createOfframp', { getOfframp: offramp({ cryptoAmount: '' }) }],
    ['onramp', 'createOnramp', { getOnChainDeposit: onramp({}, {}) }],
    ['invoice', 'createInvoice', { getInvoice: invoice({}) }],
    ['invoice payment', 'payInvoice', { getInvoicePayment: payment({}) }],
  ])('shows it if it is ours: %s', async (_, operation, bodies) => {
    expect(await looked(operation, bodies)).toMatchObject({ lookup: 'shown' });
  });

  test.each<[string, OperationName, Parameters<typeof activities>[0], Wire]>([
    ['chain of a crypto send', 'sendCrypto', { getCryptoSend: send({ chain: { name: 'TRON' } }) }, { chain: 'TRON' }],
    ['token of a crypto send', 'sendCrypto', { getCryptoSend: send({ token: 'USDT' }) }, { token: 'USDT' }],
    ['chain of an onramp', 'createOnramp', { getOnChainDeposit: onramp({}, { chain: 'TRON' }) }, { chain: 'TRON' }],
    ['token of an onramp', 'createOnramp', { getOnChainDeposit: onramp({}, { token: 'USDT' }) }, { token: 'USDT' }],
    [
      'account of an invoice',
      'createInvoice',
      { getInvoice: invoice({}, { accountNumber: '789' }) },
      { bankAccount: '…789' },
    ],
  ])('is another one by the %s: both sides are shown', async (_, operation, bodies, theirs) => {
    expect(await looked(operation, bodies)).toMatchObject({ lookup: 'other', theirs });
  });

  test.each<[string, OperationName, Parameters<typeof activities>[0]]>([
    ['amount of a crypto send', 'sendCrypto', { getCryptoSend: send({ cryptoAmount: '12.5 USDC' }) }],
    ['receiver of a crypto send', 'sendCrypto', { getCryptoSend: send({ cryptoWallet: { address: '0x1' } }) }],
    ['token of a crypto send', 'sendCrypto', { getCryptoSend: send({ token: ['USDC'] }) }],
    ['amount of an offramp', 'createOfframp', { getOfframp: offramp({ cryptoAmount: {} }) }],
    ['currency of an offramp', 'createOfframp', { getOfframp: offramp({ fiatCurrency: { code: 'KES' } }) }],
    ['amount of an onramp', 'createOnramp', { getOnChainDeposit: onramp({ amount: 'KES 1000.50' }, {}) }],
    ['receiver of an onramp', 'createOnramp', { getOnChainDeposit: onramp({}, { public_address: [] }) }],
    ['amount of an invoice', 'createInvoice', { getInvoice: invoice({ amount: '1,000.50' }) }],
    ['account of an invoice', 'createInvoice', { getInvoice: invoice({}, { accountNumber: { number: '1' } }) }],
    ['amount of a payment', 'payInvoice', { getInvoicePayment: payment({ amount: '1,000.50' }) }],
    ['currency of a payment', 'payInvoice', { getInvoicePayment: payment({ currency: {} }) }],
  ])('is not proven to be ours by an unreadable %s', async (_, operation, bodies) => {
    expect(await looked(operation, bodies)).toMatchObject({ lookup: 'cannot-tell' });
  });

  const status = (kind: FlowKind, bodies: Parameters<typeof activities>[0]) => {
    const reference = newReference('status');
    const order = { flowId: `${kind}/${reference}`, input: inputOf(kind, reference) };
    return asActivity(() => activities(bodies).made.lookAtStatus(order));
  };

  test('a status beside an amount that cannot be read is no status of ours', async () => {
    expect(await status('crypto-send', { getCryptoSend: send({ cryptoAmount: 'many' }) })).toMatchObject({
      says: 'cannot-tell',
      why: expect.stringContaining('cryptoAmount'),
    });
  });

  test.each<[string, Wire, string]>([
    ['nothing shows that the crypto came in', {}, 'CRYPTO_NOT_RECEIVED'],
    ['an empty amount came in', { transactionHashAmount: '' }, 'CRYPTO_NOT_RECEIVED'],
    ['the amount that came in cannot be read', { transactionHashAmount: 'twelve' }, 'FAILED'],
    ['the transaction cannot be read', { transactionHash: { hash: '0xabc' } }, 'FAILED'],
  ])('an offramp that failed on the chain ends without a refund only if %s', async (_, more, word) => {
    const found = await status('offramp', {
      getOfframp: offramp({ status: 'FAILED', onchainStatus: 'FAILED', ...more }),
    });
    expect(found).toMatchObject({ says: 'shown', record: { status: word } });
  });

  test.each(['REVERSED', 'FAILED'])(
    'crypto of an onramp that %s gives no fiat back, if no payment is shown',
    async (said) => {
      const noRecord = { httpStatus: 404, message: 'Not found', fields: [], isRateExpired: false };
      const refusal = { ...noRecord, isAboutReference: false, saysNoRecord: true };
      const found = await status('onramp', {
        getOnChainDeposit: (reference) => ({ onchain: onramp({}, { status: said })(reference).onchain }),
        getMobileMoneyDeposit: () => {
          throw new RejectedError('getMobileMoneyDeposit', refusal);
        },
      });
      expect(found).toMatchObject({ says: 'shown', record: { status: `CRYPTO_${said}` } });
      const event = flowOf('onramp').readEvent({ referenceId: 'r', crypto_received_status: said });
      expect(event?.status).toBe(`CRYPTO_${said}`);
      expect(classifyStatus(ONRAMP_WORDS, `CRYPTO_${said}`)).toBe('funds-held');
    },
  );

  test('an event of an offramp that names neither amount nor currency differs in nothing', () => {
    const said = flowOf('offramp').readEvent({
      referenceId: 'r',
      status: 'SUCCESS',
      cryptoAmount: null,
      fiatCurrency: null,
    });
    expect(said?.status).toBe('SUCCESS');
    expect(said?.facts).toEqual({});
  });

  test.each<[string, Wire, string]>([
    ['token', { token: 'USDT' }, 'token'],
    ['chain', { chain: { name: 'TRON' } }, 'chain'],
    ['unreadable token', { token: 7 }, 'token'],
  ])('an event of a crypto send differs by its %s', async (_, more, differs) => {
    const definition = flowOf('crypto-send');
    const known = definition.submissions!['send']!.factsOf(definition.input.parse(inputOf('crypto-send', 'r')));
    const said = definition.readEvent({ referenceId: 'r', status: 'SUCCESSFUL', ...more });
    expect(differences(known, said!.facts)).toEqual([differs]);
  });

  describe('of an invoice that others may pay', () => {
    const EXPECT = { paidAmount: '1000.5', paidCurrency: 'KES' };
    const paid = (body: (reference: string) => Wire, more: Wire = {}) => {
      const question = {
        reference: newReference('invoice'),
        expect: EXPECT,
        paidByEvent: false,
        patienceMs: 0,
        windowMs: 90_000,
        timeScale: 0.001,
        isParked: false,
        ...more,
      };
      return asActivity(() => activities({ getInvoicePayment: body }).made.whetherPaid(question));
    };
    const unpaid = (more: Wire = {}) => payment({ status: 'PENDING', ...more });

    const INNER = [
      null,
      {},
      { status: null },
      { status: '' },
      { status: 'PENDING' },
      { status: 'OPEN' },
      { status: 'EXPIRED' },
    ];
    test.each(['PENDING', 'FAILED'])(
      'shows it as unpaid by %s, when the invoice itself has no other status',
      async (word) => {
        expect(await paid(payment({ status: word }))).toMatchObject({ says: 'not-paid' });
        for (const inner of INNER)
          expect(await paid(payment({ status: word, invoice: inner }))).toMatchObject({ says: 'not-paid' });
      },
    );

    test.each<[string, unknown]>([
      ...['PAID', 'SUCCESSFUL', 'PROCESSING', 'INITIATED', 'DUPLICATE', 'SETTLED', 'PARTIALLY_PAID'].map(
        (word): [string, unknown] => [word, { status: word }],
      ),
      ['unreadable', { status: { word: 'PAID' } }],
      ['unreadable', { status: true }],
      ['unreadable', 'PAID'],
    ])('does not, if the invoice itself is %s: %j', async (word, inner) => {
      for (const status of ['PENDING', 'FAILED'])
        expect(await paid(payment({ status, invoice: inner }))).toMatchObject({ says: 'cannot-tell' });
    });

    test('does not, by PENDING or by "not found", while a trusted event of a payment has no flow: it may be of this one', async () => {
      const reference = newReference('unmatched');
      const event = anEvent({ source: 'webhook', flowId: null, reference, status: 'CONFIRMED', toMatch: true });
      await store.inbox.receive(event);
      await store.inbox.match(event.id, { flowId: null, reference, status: 'CONFIRMED' });
      const unsure = { says: 'cannot-tell' };
      expect(await paid(unpaid(), { reference })).toMatchObject(unsure);
      expect(await paid(payment({ status: 'PAID' }), { reference })).toMatchObject({ says: 'paid' });
      const forged = newReference('unmatched');
      const untrusted = anEvent({ source: 'webhook', flowId: null, reference: forged, status: 'PAID', proof: null, toMatch: true }); // prettier-ignore
      await store.inbox.receive(untrusted);
      await store.inbox.match(untrusted.id, { flowId: null, reference: forged, status: 'PAID' });
      expect(await paid(unpaid(), { reference: forged })).toMatchObject({ says: 'not-paid' });
    });

    test.each(['INITIATED', 'DUPLICATE'])('does not by %s, which may be about a payment', async (word) => {
      expect(await paid(payment({ status: word }))).toMatchObject({
        says: 'cannot-tell',
        why: expect.stringContaining(word),
      });
    });

    test('is neither paid nor unpaid if its lookup is refused: the person is shown why', async () => {
      const refusal = { httpStatus: 403, message: 'Forbidden', fields: [], isRateExpired: false };
      const refused = () => {
        throw new RejectedError('getInvoicePayment', { ...refusal, isAboutReference: false });
      };
      expect(await paid(refused)).toEqual({ says: 'cannot-tell', why: expect.any(String) });
    });

    test('is not proven to be paid by an amount or currency that cannot be read', async () => {
      for (const more of [{ amount: '1,000.50' }, { currency: {} }])
        expect(await paid(payment(more))).toMatchObject({ says: 'cannot-tell' });
    });
  });
});
