import { describe, expect, it } from '@jest/globals';
import { asking, lookUpRecord, statusLookups } from '../../activities/status-lookups.js';
import { LIVE_OPERATIONS, type Profile } from '../../src/protocol/live-operations.js';
import {
  ContractBrokenError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  type ServiceClient,
} from '../../src/service-client/index.js';

const refused = (httpStatus: number) =>
  new RejectedError('getCryptoSend', {
    httpStatus,
    message: 'no',
    fields: [],
    isRateExpired: false,
    isAboutReference: false,
    saysNoRecord: true,
  });
const missing = refused(404);

/** A service with these lookups; each error is thrown. It notes what it was asked for. */
function serviceOf(answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const lookups = Object.entries(answers).map(([name, answer]) => [
    name,
    async (reference: string) => {
      asked.push(`${name} ${reference}`);
      const one = typeof answer === 'function' ? answer() : answer;
      if (one instanceof Error) throw one;
      return one;
    },
  ]);
  return { asked, service: Object.fromEntries(lookups) as unknown as ServiceClient };
}

describe('one status lookup at the service', () => {
  const ask = (thrown: unknown) => asking(() => Promise.reject(thrown));

  it('returns shown for a record, and absent if the service itself has none', async () => {
    expect(await asking(async () => ({ n: 1 }))).toEqual({ says: 'shown', record: { n: 1 } });
    expect(await ask(missing)).toEqual({ says: 'absent' });
  });

  it('returns cannot-tell, as refused, for a 403, and for a 404 that the service did not write', async () => {
    const proxy = new RejectedError('getCryptoSend', {
      httpStatus: 404,
      fields: [],
      isRateExpired: false,
      isAboutReference: false,
    });
    for (const [error, status] of [
      [refused(403), 403],
      [proxy, 404],
    ] as const) {
      expect([status, await ask(error)]).toEqual([
        status,
        { says: 'cannot-tell', why: expect.any(String), refused: true },
      ]);
    }
  });

  it.each([
    new NotSentError('getCryptoSend', 'refused'),
    new ServiceUnavailableError('getCryptoSend', 'timeout'),
    new ContractBrokenError('getCryptoSend', ['status']),
    new RateLimitedError('getCryptoSend', undefined),
  ])('returns cannot-tell, as not refused, after $name', async (error) => {
    expect(await ask(error)).toStrictEqual({ says: 'cannot-tell', why: expect.any(String), refused: false });
  });

  it('returns for how long the service asks to be left alone', async () => {
    expect(await ask(new RateLimitedError('getCryptoSend', 1_500))).toMatchObject({
      says: 'cannot-tell',
      refused: false,
      afterMs: 1_500,
    });
  });

  it('throws what no repetition can repair, and a bug of ours', async () => {
    await expect(ask(new InvalidRequestError('getCryptoSend', []))).rejects.toMatchObject({ type: 'invalid_input' });
    await expect(ask(new TypeError('a bug'))).rejects.toThrow(TypeError);
  });
});

describe('lookUpRecord', () => {
  const look = async (operation: string, answers: Readonly<Record<string, unknown>>, live: Profile['live'] = []) => {
    const { asked, service } = serviceOf(answers);
    const pauses: number[] = [];
    const clock = {
      nowMs: () => 0,
      monotonicMs: () => 0,
      after(ms: number, work: () => void) {
        pauses.push(ms);
        queueMicrotask(work);
        return () => undefined;
      },
    };
    const found = await lookUpRecord({ service, clock, timeScale: 1, live }, operation, 'r-1');
    return { found, asked, pauses };
  };

  it.each<[string, Readonly<Record<string, unknown>>, object]>([
    ['sendCrypto', { getCryptoSend: { status: 'SUCCESSFUL' } }, { says: 'shown', status: 'SUCCESSFUL' }],
    ['createOfframp', { getOfframp: { status: 'PENDING' } }, { says: 'shown', status: 'PENDING' }],
    ['payInvoice', { getInvoicePayment: { status: 'SUCCESSFUL' } }, { says: 'shown', status: 'SUCCESSFUL' }],
    // The record of an invoice has no status.
    ['createInvoice', { getInvoice: { invoice: { amount: 1, currency: 'KES' } } }, { says: 'shown' }],
  ])('of %s returns shown for its record, and the status if there is one', async (operation, answers, found) => {
    const looked = await look(operation, answers);
    expect(looked.found).toStrictEqual(found);
    expect(looked.asked).toEqual([`${Object.keys(answers)[0]} r-1`]);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['payInvoice', { getInvoicePayment: { status: 'PENDING' } }],
    ['createInvoice', { getInvoice: { invoice: { amount: 1 } } }],
    ['createInvoice', { getInvoice: { invoice: { currency: 'KES' } } }],
    ['createInvoice', { getInvoice: {} }],
  ])(
    'of %s returns proves-nothing for a record that may be older, or lacks what would show it: %j',
    async (operation, answers) => {
      expect((await look(operation, answers)).found).toEqual({ says: 'proves-nothing' });
    },
  );

  it('returns no-lookup for an operation without a lookup', async () => {
    expect((await look('createCardDeposit', {})).found).toEqual({ says: 'no-lookup' });
  });

  describe.each([
    ['createBankWithdrawal', 'getBankWithdrawal', [{ referenceId: 'r-1' }, { amount: '1' }]],
    ['createCardDeposit', 'getCardDeposit', [{ amount: '1' }]],
    ['createBridgeDeposit', 'getBridgeDeposit', [{ provider_reference_id: 'r-1' }, { amount: '1', currency: 'KES' }]],
  ] as const)('of %s, by the live %s,', (operation, lookup, identified) => {
    const shows = async (record: object) =>
      (await look(operation, { [lookup]: { ...record, status: 'PENDING' } }, LIVE_OPERATIONS)).found;

    it('returns no-lookup if the service has none: the lookup may not know all of them', async () => {
      expect((await look(operation, { [lookup]: missing }, LIVE_OPERATIONS)).found).toEqual({ says: 'no-lookup' });
    });

    it('returns shown for a record with our reference, or an amount', async () => {
      for (const record of identified) expect(await shows(record)).toEqual({ says: 'shown', status: 'PENDING' });
    });

    it('returns proves-nothing for a record that has neither, or none that can be read', async () => {
      const others = [{}, { id: 'theirs', currency: 'KES' }, { amount: undefined, currency: 'KES' }];
      for (const record of others) expect(await shows(record)).toEqual({ says: 'proves-nothing' });
    });
  });

  it('returns absent only after three misses in a row, with a pause between them', async () => {
    const never = await look('sendCrypto', { getCryptoSend: missing });
    expect(never.found).toEqual({ says: 'absent' });
    expect([never.asked.length, never.pauses]).toEqual([3, [5_000, 5_000]]);
    let times = 0;
    const third = await look('sendCrypto', {
      getCryptoSend: () => ((times += 1) < 3 ? missing : { status: 'PENDING' }),
    });
    expect(third).toMatchObject({ found: { says: 'shown', status: 'PENDING' }, pauses: [5_000, 5_000] });
  });

  it('returns cannot-tell after any error, without another question', async () => {
    const bug = new TypeError('x is undefined');
    for (const error of [refused(403), new ServiceUnavailableError('getCryptoSend', 'timeout'), bug]) {
      const { found, asked } = await look('sendCrypto', { getCryptoSend: error });
      expect({ found, asked: asked.length }).toEqual({ found: { says: 'cannot-tell' }, asked: 1 });
    }
  });
});

describe('the status lookup of createOnramp', () => {
  const read = async (onChain: unknown, mobileMoney: unknown) => {
    const { asked, service } = serviceOf({ getOnChainDeposit: onChain, getMobileMoneyDeposit: mobileMoney });
    const record = await statusLookups['createOnramp']!.read(service, 'r-1').catch((thrown: unknown) => thrown);
    return { record, asked: asked.length };
  };
  const fiat = { status: 'SUCCESSFUL' };
  const onchain = { status: 'PENDING' };
  const away = new ServiceUnavailableError('getOnChainDeposit', 'timeout');

  it('reads both legs from the first record if it has them', async () => {
    const both = { mobile_money: fiat, onchain };
    expect(await read(both, {})).toEqual({ record: { referenceId: 'r-1', ...both }, asked: 1 });
  });

  it('reads the payment, too, which the service may know before a transaction on a chain', async () => {
    const added = { referenceId: 'r-1', mobile_money: fiat };
    expect(await read(missing, fiat)).toEqual({ record: added, asked: 2 });
    expect(await read({ onchain }, fiat)).toEqual({ record: { ...added, onchain }, asked: 2 });
    expect(await read({ onchain, mobile_money: null }, fiat)).toMatchObject({ record: added });
  });

  it('returns the first record alone if the payment is refused, and is absent if neither is there', async () => {
    expect(await read({ onchain }, refused(403))).toEqual({ record: { referenceId: 'r-1', onchain }, asked: 2 });
    expect(await read(missing, missing)).toEqual({ record: missing, asked: 2 });
  });

  it('fails with the error of the one that cannot be asked', async () => {
    const forbidden = refused(403);
    expect(await read(away, fiat)).toEqual({ record: away, asked: 1 });
    expect(await read(forbidden, fiat)).toEqual({ record: forbidden, asked: 1 });
    expect(await read({ onchain }, away)).toEqual({ record: away, asked: 2 });
  });
});
