import { describe, expect, it, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readJson as readAnswer } from '../../src/service-client/judge.js';
import { operations } from '../../src/contract/index.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { differences } from '../../workflows/engine/events.js';
import { flowOf } from '../../src/flows/index.js';
import { readJson as readBody } from '../../src/gateway/http/json-body.js';
import { addAmounts, decimalsOf, toWireNumber } from '../../src/money.js';
import { createRandom } from '../harness/random.js';
import { CURRENCIES, keepBooks, WITHOUT_DECIMALS } from './money-books.js';

const BOOKS = 25;
const MANY = 100_000;

describe('money in arithmetic, requests and events', () => {
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
    expect(withdrawalOf('10.5', currency)?.error?.issues[0]?.path).toEqual(['amount']);
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
    expect(facts).toEqual(['9007199254740993', '0.30000000000000004', '250.5']);
  });

  test.each(['"KES 1,250.50"', '{"value":5}', '"1,250.50"', '1e-400'])(
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
