import { describe, expect, it } from '@jest/globals';
import { asking, lookUpRecord, proves, statusLookups, whyIncomparable } from '../../activities/status-lookups.js';
import {
  ContractBrokenError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  ServiceUnavailableError,
  type ServiceClient,
} from '../../src/service-client/index.js';
import { UNREADABLE } from '../../src/protocol/messages.js';

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

describe('a question to the service', () => {
  const ask = (thrown: unknown) => asking(() => Promise.reject(thrown));

  it('is answered by a record, or by its own "not found"', async () => {
    expect(await asking(async () => ({ n: 1 }))).toEqual({ says: 'shown', record: { n: 1 } });
    expect(await ask(missing)).toEqual({ says: 'absent' });
  });

  it('shows nothing if it is refused, also by a 404 that the service did not write', async () => {
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
      const why = `the status lookup was refused (${status})`;
      expect(await ask(error)).toEqual({ says: 'cannot-tell', why, refused: true });
    }
  });

  it.each([
    new NotSentError('getCryptoSend', 'refused'),
    new ServiceUnavailableError('getCryptoSend', 'timeout'),
    new ContractBrokenError('getCryptoSend', ['status']),
    new RateLimitedError('getCryptoSend', undefined),
  ])('shows nothing without a usable answer: $name', async (error) => {
    expect(await ask(error)).toStrictEqual({ says: 'cannot-tell', why: error.message, refused: false });
  });

  it('comes again after as long as the service asks', async () => {
    expect(await ask(new RateLimitedError('getCryptoSend', 1_500))).toMatchObject({
      says: 'cannot-tell',
      refused: false,
      afterMs: 1_500,
    });
  });

  it('fails if no repetition can repair it, and for a bug of ours', async () => {
    await expect(ask(new InvalidRequestError('getCryptoSend', []))).rejects.toMatchObject({ type: 'invalid_input' });
    await expect(ask(new TypeError('x is undefined'))).rejects.toThrow('x is undefined');
  });
});

describe('the lookup of what was sent under a reference', () => {
  const look = async (operation: string, answers: Readonly<Record<string, unknown>>) => {
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
    const found = await lookUpRecord({ service, clock, timeScale: 1 }, operation, 'r-1');
    return { found, asked, pauses };
  };

  it.each<[string, Readonly<Record<string, unknown>>, object]>([
    ['sendCrypto', { getCryptoSend: { status: 'SUCCESSFUL' } }, { says: 'shown', status: 'SUCCESSFUL' }],
    ['createOfframp', { getOfframp: { status: 'PENDING' } }, { says: 'shown', status: 'PENDING' }],
    ['payInvoice', { getInvoicePayment: { status: 'SUCCESSFUL' } }, { says: 'shown', status: 'SUCCESSFUL' }],
    // The record of an invoice has no status.
    ['createInvoice', { getInvoice: { invoice: { amount: 1, currency: 'KES' } } }, { says: 'shown' }],
  ])('of %s shows its record, and the status if there is one', async (operation, answers, found) => {
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
    'of %s proves nothing by a record that may be older, or lacks what would show it: %j',
    async (operation, answers) => {
      expect((await look(operation, answers)).found).toEqual({ says: 'proves-nothing' });
    },
  );

  it('of an operation without a lookup is none', async () => {
    expect((await look('createCardDeposit', {})).found).toEqual({ says: 'no-lookup' });
  });

  it('finds nothing only after three misses in a row, each after a pause', async () => {
    const never = await look('sendCrypto', { getCryptoSend: missing });
    expect(never.found).toEqual({ says: 'absent' });
    expect([never.asked.length, never.pauses]).toEqual([3, [2_000, 2_000]]);
    let times = 0;
    const third = await look('sendCrypto', {
      getCryptoSend: () => ((times += 1) < 3 ? missing : { status: 'PENDING' }),
    });
    expect(third).toMatchObject({ found: { says: 'shown', status: 'PENDING' }, pauses: [2_000, 2_000] });
  });

  it('cannot tell after any error, and asks once then', async () => {
    const bug = new TypeError('x is undefined');
    for (const error of [refused(403), new ServiceUnavailableError('getCryptoSend', 'timeout'), bug]) {
      const { found, asked } = await look('sendCrypto', { getCryptoSend: error });
      expect({ found, asked: asked.length }).toEqual({ found: { says: 'cannot-tell' }, asked: 1 });
    }
  });
});

describe('the lookup of an onramp', () => {
  const read = async (onChain: unknown, mobileMoney: unknown) => {
    const { asked, service } = serviceOf({ getOnChainDeposit: onChain, getMobileMoneyDeposit: mobileMoney });
    const record = await statusLookups['createOnramp']!.read(service, 'r-1').catch((thrown: unknown) => thrown);
    return { record, asked: asked.length };
  };
  const fiat = { status: 'SUCCESSFUL' };
  const onchain = { status: 'PENDING' };
  const away = new ServiceUnavailableError('getOnChainDeposit', 'timeout');

  it('takes both legs from the first record if it has them', async () => {
    const both = { mobile_money: fiat, onchain };
    expect(await read(both, {})).toEqual({ record: { referenceId: 'r-1', ...both }, asked: 1 });
  });

  it('adds the payment, which the service may know before it knows of a transaction on a chain', async () => {
    const added = { referenceId: 'r-1', mobile_money: fiat };
    expect(await read(missing, fiat)).toEqual({ record: added, asked: 2 });
    expect(await read({ onchain }, fiat)).toEqual({ record: { ...added, onchain }, asked: 2 });
    expect(await read({ onchain, mobile_money: null }, fiat)).toMatchObject({ record: added });
  });

  it('shows the first record alone if the payment is refused, and nothing if neither is there', async () => {
    expect(await read({ onchain }, refused(403))).toEqual({ record: { referenceId: 'r-1', onchain }, asked: 2 });
    expect(await read(missing, missing)).toEqual({ record: missing, asked: 2 });
  });

  it('fails with its error if one of the two cannot be asked', async () => {
    const forbidden = refused(403);
    expect(await read(away, fiat)).toEqual({ record: away, asked: 1 });
    expect(await read(forbidden, fiat)).toEqual({ record: forbidden, asked: 1 });
    expect(await read({ onchain }, away)).toEqual({ record: away, asked: 2 });
  });
});

describe('a record that is compared with ours', () => {
  it('cannot be if a fact that is compared cannot be read', () => {
    const facts = { amount: UNREADABLE, currency: 'KES', chain: UNREADABLE };
    expect(whyIncomparable(facts)).toBe("amount and chain of the service's record cannot be read");
    expect(whyIncomparable(facts, ['currency', 'chain'])).toBe("chain of the service's record cannot be read");
    expect(whyIncomparable(facts, ['currency', 'token'])).toBeUndefined();
    expect(whyIncomparable({})).toBeUndefined();
  });

  it('proves what was sent, unless it may be older', () => {
    expect(proves(statusLookups['sendCrypto']!, {})).toBe(true);
    const paid = statusLookups['payInvoice']!;
    expect([proves(paid, { status: 'SUCCESSFUL' }), proves(paid, { status: 'PENDING' })]).toEqual([true, false]);
  });
});
