import { describe, expect, it, test } from 'vitest';
import * as fc from 'fast-check';
import { readJson as readAnswer } from '../../src/service-client/judge.js';
import { operations } from '../../src/contract/index.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { differences } from '../../workflows/engine/evidence.js';
import { flowOf } from '../../src/flows/index.js';
import { readJson as readBody } from '../../src/gateway/http/json-body.js';
import {
  addAmounts,
  compareAmounts,
  decimalsOf,
  fromWireNumber,
  multiplyByBps,
  roundAmount,
  sameAmount,
  subtractAmounts,
  toWireNumber,
  UnsafeAmountError,
} from '../../src/money.js';
import { createRandom, type Random } from '../harness/random.js';

const WITHOUT_DECIMALS = ['UGX', 'XOF', 'XAF', 'RWF', 'GNF'];
/** These tests' own knowledge about currencies. */
const CURRENCIES: readonly (readonly [name: string, decimals: number])[] = [
  ...WITHOUT_DECIMALS.map((name) => [name, 0] as const),
  ['KES', 2],
  ['USDC', 6],
  ['BTC', 8],
  ['CUSD', 18],
];
const BOOKS = 25;
const TURNS = 2_200;
const MANY = 100_000;
/** 2^53+1 and its neighbours, cents that are inexact in binary, and the limits of a JSON number. */
const EDGES = [0n, 1n, 10n, 20n, 30n, 2n ** 53n - 1n, 2n ** 53n + 1n, 10n ** 15n - 1n, 10n ** 15n, 10n ** 17n + 1n];

/** The other arithmetic: whole minor units in BigInt. */
function textOf(minor: bigint, decimals: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  return `${minor < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** What flows do with money, on three accounts, by both arithmetics. @returns what differs, and how much was done */
function keepBooks(random: Random, name: string, decimals: number) {
  const ours = { in: '0', out: '0', fees: '0' };
  const theirs = { in: 0n, out: 0n, fees: 0n };
  const differing: string[] = [];
  let operations = 0;
  const agree = (what: string, mine: string | undefined, minor: bigint) => {
    if (mine !== textOf(minor, decimals)) differing.push(`${what} of ${name}: ${mine}, not ${textOf(minor, decimals)}`);
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const minor =
      random.below(8) === 0 ? random.pick(EDGES) : BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 20));
    const amount = textOf(minor, decimals);
    switch (random.below(5)) {
      case 0:
        ours.in = addAmounts(ours.in, amount);
        theirs.in += minor;
        operations += 1;
        break;
      case 1:
        ours.out = subtractAmounts(ours.out, amount);
        theirs.out -= minor;
        operations += 1;
        break;
      case 2: {
        const bps = random.below(10_001);
        const mode = random.pick(['down', 'half-up'] as const);
        const fee = roundAmount(multiplyByBps(amount, bps), decimals, mode);
        const feeMinor = (minor * BigInt(bps) + (mode === 'down' ? 0n : 5_000n)) / 10_000n;
        agree('a fee', fee, feeMinor);
        ours.fees = addAmounts(ours.fees, fee);
        ours.in = addAmounts(ours.in, subtractAmounts(amount, fee));
        theirs.fees += feeMinor;
        theirs.in += minor - feeMinor;
        operations += 5;
        break;
      }
      case 3:
        agree('what came over the wire', overTheWire(amount), minor);
        operations += 2;
        break;
      default: {
        const other = random.pick(EDGES);
        operations += 1;
        const sign = minor < other ? -1 : minor > other ? 1 : 0;
        if (compareAmounts(amount, textOf(other, decimals)) !== sign)
          differing.push(`the order of ${amount} in ${name}`);
      }
    }
  }
  for (const account of ['in', 'out', 'fees'] as const) agree(account, ours[account], theirs[account]);
  return { differing, operations };
}

/** As a JSON number if it is exact as one; else it is refused, and sent as text. */
function overTheWire(amount: string): string {
  try {
    return fromWireNumber(JSON.parse(JSON.stringify(toWireNumber(amount))) as number);
  } catch (error) {
    if (!(error instanceof UnsafeAmountError)) throw error;
    return fromWireNumber(amount);
  }
}

describe('money', () => {
  it('fault 46: n = 100,000 operations in nine currencies, five of them without decimals: drift 0', () => {
    let done = 0;
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...CURRENCIES), (seed, [name, decimals]) => {
        expect(decimalsOf(name)).toBe(decimals);
        const { differing, operations } = keepBooks(createRandom(seed), name, decimals);
        expect(differing).toEqual([]);
        done += operations;
      }),
      { numRuns: BOOKS },
    );
    expect(done).toBeGreaterThan(MANY);
  });

  it('would see a sum in JavaScript numbers drift', () => {
    let sum = 0;
    for (let turn = 0; turn < 1_000; turn += 1) sum += 0.1;
    expect(sum).not.toBe(100);
    expect(addAmounts(...Array.from({ length: 1_000 }, () => '0.1'))).toBe('100');
  });

  const bytes = (json: string) => new TextEncoder().encode(json);
  const withdrawalOf = (amount: unknown, currency = 'KES') =>
    flowOf('bank-withdrawal').input.safeParse({
      referenceId: 'r-1',
      bankDetails: { bankCode: '0250', accountNumber: '62000000001' },
      currency,
      amount,
    });

  test.each([
    ['2^53+1', '9007199254740993'],
    ['0.1+0.2, as JavaScript has it', '0.30000000000000004'],
    ['1e400', '1e400'],
    ['1e-400', '1e-400'],
    ['0.1 and a hair', '0.1000000000000000055511151231257827'],
  ])('fault 46: %s from a caller is never another amount: refused by name, as number and as text', (_, token) => {
    for (const json of [`{"amount":${token}}`, `{"amount":"${token}"}`]) {
      const { amount } = readBody(bytes(json)) as { amount: unknown };
      const read = withdrawalOf(amount);
      expect(new Set(read?.error?.issues.map(({ path }) => path.join('.')))).toEqual(new Set(['amount']));
    }
  });

  it('fault 46: 0.1 and 0.2 from a caller are 0.3 together, and leave as 0.1 and 0.2', () => {
    const { amounts } = readBody(bytes('{"amounts":[0.1,0.2]}')) as { amounts: unknown[] };
    const texts = amounts.map((amount) => (withdrawalOf(amount)?.data as { amount: string } | undefined)?.amount ?? '');
    expect(texts).toEqual(['0.1', '0.2']);
    expect(addAmounts(...texts)).toBe('0.3');
    expect(JSON.stringify(texts.map(toWireNumber))).toBe('[0.1,0.2]');
  });

  test.each(WITHOUT_DECIMALS)('fault 46: %s has no decimals: 10.5 is refused before anything is sent', (currency) => {
    expect(withdrawalOf('10.5', currency)?.error?.issues[0]?.message).toContain(`${currency} has no decimals`);
    expect(withdrawalOf('10.00', currency)?.data).toMatchObject({ amount: '10' });
    expect(withdrawalOf(1250, currency)?.data).toMatchObject({ amount: '1250' });
  });

  it('fault 46: what the service answers is read digit by digit, and never becomes infinite', () => {
    const read = (token: string) => operations.getOfframp.data.safeParse(readAnswer(bytes(recordWith(token))));
    expect(read('9007199254740993').data).toMatchObject({ cryptoAmount: '9007199254740993' });
    expect(read('0.30000000000000004').data).toMatchObject({ cryptoAmount: '0.30000000000000004' });
    // A member that cannot be read is absent: it must not make a paid transfer unreadable.
    expect(read('1e400').data).not.toHaveProperty('cryptoAmount', expect.anything());
  });

  it('fault 46: an event with another amount by one unit in the seventeenth digit is no match', () => {
    const eventOf = (token: string) =>
      flowOf('bank-withdrawal').readEvent(
        readBody(bytes(`{"referenceId":"r-1","status":"SUCCESSFUL","amount":${token}}`)),
      );
    const facts = ['9007199254740993', '0.30000000000000004', '250.50'].map(
      (token) => eventOf(token)?.facts['amount'] ?? '',
    );
    expect(facts.map((amount, at) => sameAmount(amount, ['9007199254740992', '0.3', '250.5'][at] ?? ''))).toEqual([
      false,
      false,
      true,
    ]);
  });

  test.each(['"KES 1,250.50"', '{"value":5}', '"-1"', '1e-7'])(
    'fault 46: an amount of an event that cannot be read, %s, is another one than ours, not none',
    (token) => {
      const factsOf = (kind: FlowKind, body: string) => flowOf(kind).readEvent(readBody(bytes(body)))?.facts ?? {};
      const common = factsOf('bank-withdrawal', `{"referenceId":"r-1","status":"SUCCESSFUL","amount":${token}}`);
      expect(differences({ amount: '250.50' }, common)).toEqual(['amount']);
      const paid = `"amount":${token},"crypto_payment":{"crypto_amount":${token}},"settlement_details":{"amount":${token}}`;
      const bridge = factsOf('bridge-transfer', `{"provider_reference_id":"r-1","status":"COMPLETED",${paid}}`);
      const ours = { amount: '250.50', cryptoAmount: '7.5', settlementAmount: '100' };
      expect(differences(ours, bridge)).toEqual(Object.keys(ours));
      expect(factsOf('bank-withdrawal', '{"referenceId":"r-1","amount":null}')).toEqual({});
    },
  );
});

const recordWith = (token: string) =>
  `{"referenceId":"r-1","status":"PENDING","cryptoAmount":${token},"fiatCurrency":"KES"}`;
