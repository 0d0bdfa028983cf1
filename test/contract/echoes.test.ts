import { describe, expect, it } from '@jest/globals';
import { operations, type OperationName } from '../../src/contract/index.js';
import type { Echo, Operation } from '../../src/contract/operation.js';
import { membersOf } from '../../src/contract/wire.js';
import { fixedBy, otherThan } from '../../src/flows/echoes.js';
import { UNREADABLE } from '../../src/protocol/messages.js';

const HASH = 'ab'.repeat(32);
const WALLET = '0xAbCdEf0123456789aBcDeF0123456789abcdef01';
const MONEY = (Object.keys(operations) as OperationName[]).filter((name) => operations[name].effect === 'money');
const operationOf = (name: OperationName): Operation => operations[name];
const exampleOf = (name: OperationName): Record<string, unknown> => ({
  ...(operationOf(name).example as Record<string, unknown>),
  ...(name === 'createOfframp' ? { senderAddress: WALLET } : {}),
  ...(name === 'createBridgeDeposit' ? { crypto_payment: { payment_hash: HASH, amount_msat: 5 } } : {}),
});

/** Spellings of the same fact, and other facts. */
const SPELLINGS: Readonly<Record<Echo['as'], { same: (ours: unknown) => unknown[]; others: readonly unknown[] }>> = {
  amount: { same: (ours) => [ours, String(ours), `${String(ours)}00`, `0${String(ours)}`, ` ${String(ours)} `], others: [9, '9.75'] }, // prettier-ignore
  currency: { same: (ours) => [ours, String(ours).toLowerCase(), ` ${String(ours)} `], others: ['GHS', 'XAF'] },
  asset: { same: (ours) => [ours, String(ours).toLowerCase(), { name: ours }, { symbol: ours }], others: ['TRON', 'USDT'] }, // prettier-ignore
  address: { same: (ours) => [ours, String(ours).toLowerCase(), String(ours).toUpperCase().replace('0X', '0x')], others: [`0x${'9'.repeat(40)}`, 'TX1'] }, // prettier-ignore
  hash: { same: (ours) => [ours, String(ours).toUpperCase(), `0x${String(ours)}`, ` ${String(ours)}`, String(ours).replace('ab', 'ab ')], others: ['cd'.repeat(32)] }, // prettier-ignore
};
const at = (body: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], body);

const EVERY = MONEY.flatMap((name) =>
  Object.entries(operationOf(name).echoes ?? {}).map(([path, echo]) => [name, path, echo] as const),
);

describe('what a request fixed and its answer names', () => {
  it('is a member of both, for every money operation whose answer repeats one', () => {
    for (const [name, path, { member }] of EVERY) {
      expect([name, path, at(exampleOf(name), path)]).not.toContain(undefined);
      expect(membersOf(operationOf(name).data)).toContain(member);
    }
    expect([...new Set(EVERY.map(([name]) => name))].toSorted()).toEqual(['createBankCheckout', 'createBridgeDeposit', 'createOfframp', 'payInvoice', 'sendCrypto']); // prettier-ignore
  });

  it('is all that the two share by one name, besides the reference and who pays', () => {
    const isPayer = /name|phone|country|url|paymentMethod|reference/i;
    for (const name of MONEY) {
      const answered = membersOf(operationOf(name).data);
      const shared = membersOf(operationOf(name).body!).filter((member) => answered.includes(member) && !isPayer.test(member)); // prettier-ignore
      expect([name, Object.keys(operationOf(name).echoes ?? {})]).toEqual([name, expect.arrayContaining(shared)]);
    }
  });

  it.each(EVERY)('of %s in %s is the same in any spelling, and if the answer does not give it', (name, path, echo) => {
    const fixed = fixedBy(name, exampleOf(name));
    for (const said of [...SPELLINGS[echo.as].same(at(exampleOf(name), path)), null, '', ' ', []]) {
      expect([said, otherThan(name, fixed, { [echo.member]: said })]).toEqual([said, undefined]);
    }
    expect(otherThan(name, fixed, {})).toBeUndefined();
    for (const answer of [null, undefined, 'text', []]) expect(otherThan(name, fixed, answer)).toBeUndefined();
  });

  it.each(EVERY)('of %s in %s differs if the answer names another one, with both sides', (name, path, echo) => {
    const fixed = fixedBy(name, exampleOf(name));
    for (const said of SPELLINGS[echo.as].others) {
      const word = echo.as === 'asset' && (said === 'TRON') !== (echo.member === 'chain') ? undefined : said;
      if (word === undefined) continue;
      expect(otherThan(name, fixed, { [echo.member]: word })).toEqual({
        differs: [path],
        ours: { [path]: fixed[path] },
        theirs: { [path]: expect.any(String) },
      });
    }
  });

  it.each(EVERY)(
    'of %s in %s differs if it is there and cannot be read; a word of no vocabulary names none',
    (name, path, echo) => {
      const fixed = fixedBy(name, exampleOf(name));
      for (const said of [{ value: 1 }, true, undefined]) {
        const other = otherThan(name, fixed, { [echo.member]: said });
        if (echo.as === 'asset') expect([said, other]).toEqual([said, undefined]);
        else expect(other?.theirs).toEqual({ [path]: UNREADABLE });
      }
      if (echo.as === 'asset') expect(otherThan(name, fixed, { [echo.member]: 'TOMORROW' })).toBeUndefined();
    },
  );

  it('of a bridge deposit over Lightning is the hash that its payment request has, if the request names none', () => {
    const bolt11 = 'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh'; // prettier-ignore
    const fixed = fixedBy('createBridgeDeposit', { ...exampleOf('createBridgeDeposit'), crypto_payment: { bolt11 } });
    expect(otherThan('createBridgeDeposit', fixed, { payment_hash: HASH })).toMatchObject({ differs: ['crypto_payment.payment_hash'] }); // prettier-ignore
    const own = { payment_hash: '0001020304050607080900010203040506070809000102030405060708090102' };
    expect(otherThan('createBridgeDeposit', fixed, own)).toBeUndefined();
  });

  it('of a bridge deposit is no hash, and is not compared, if what the request gives is none', () => {
    const fixed = fixedBy('createBridgeDeposit', { ...exampleOf('createBridgeDeposit'), crypto_payment: { payment_hash: 'invoice-1' } }); // prettier-ignore
    expect(otherThan('createBridgeDeposit', fixed, { payment_hash: HASH })).toBeUndefined();
  });

  it('of an invoice payment that is not made yet is that of the invoice beside it, when the answer has one', () => {
    const fixed = fixedBy('payInvoice', { amount: 10, currency: 'USD' });
    const invoice = { amount: '1000.50', currency: 'KES', status: 'OPEN' };
    const pending = { status: 'PENDING', amount: 1000.5, currency: 'KES' };
    expect(otherThan('payInvoice', fixed, { ...pending, invoice })).toBeUndefined();
    expect(otherThan('payInvoice', fixed, pending)).toMatchObject({ differs: ['amount', 'currency'] });
    expect(otherThan('payInvoice', fixed, { ...pending, status: 'SUCCESSFUL', invoice })).toMatchObject({
      differs: ['amount', 'currency'],
    });
  });
});
