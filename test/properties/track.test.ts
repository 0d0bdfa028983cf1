import { expect, test } from '@jest/globals';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { PAYMENT_WORDS } from '../../src/protocol/statuses.js';
import { newPayment } from '../../workflows/engine/payment.js';
import { isVetoed } from '../../workflows/engine/track.js';
import { trusted } from '../harness/inputs.js';

const PLAN = { noun: 'the payment', words: PAYMENT_WORDS, hasLookup: false, firstLookMs: 0 };
const PIN = { store: 's', account: 'default', epoch: 1 };

/** A payment whose proven words and untrusted events are these. */
const payment = (words: readonly string[], claimed: readonly string[], unread = false) => ({
  ...newPayment({ input: {}, windows: { settleMs: 1 }, steps: {}, pin: PIN }),
  words,
  unverified: [
    ...claimed.map((status) => trusted(status, { trusted: false, proof: null })),
    ...(unread ? [trusted('', { trusted: false, proof: null, facts: { body: UNREADABLE } })] : []),
  ],
});

test.each([
  [['FAILED'], ['SUCCESSFUL'], true],
  [['FAILED'], ['PENDING', 'REVERSED'], true],
  [['FAILED'], ['REFUNDED'], true],
  [['SUCCESSFUL', 'REFUNDED'], [], true],
  [['FAILED'], ['FAILED', 'PENDING'], false],
  [['FAILED'], [], false],
  [['PENDING'], ['SUCCESSFUL'], false],
  [[], ['SUCCESSFUL'], false],
  [['FAILED', 'SUCCESSFUL'], [], true],
] as const)('a payment that is proven to be %j, and is claimed to be %j, is vetoed: %s', (words, claimed, isSo) => {
  expect(isVetoed(payment(words, claimed), PLAN)).toBe(isSo);
  // A lookup decides, if there is one: no claim does.
  expect(isVetoed(payment(words, claimed), { ...PLAN, hasLookup: true })).toBe(false);
});

test('a refusal counts like a proven failure', () => {
  expect(isVetoed(payment([], ['SUCCESSFUL']), PLAN, true)).toBe(true);
  expect(isVetoed(payment([], ['PENDING']), PLAN, true)).toBe(false);
  expect(isVetoed(payment([], ['SUCCESSFUL']), { ...PLAN, hasLookup: true }, true)).toBe(false);
});

test('an untrusted event that cannot be read vetoes a failure, and nothing else', () => {
  expect(isVetoed(payment(['FAILED'], ['PENDING'], true), PLAN)).toBe(true);
  expect(isVetoed(payment(['PENDING'], ['PENDING'], true), PLAN)).toBe(false);
  expect(isVetoed(payment(['FAILED'], ['PENDING'], true), { ...PLAN, hasLookup: true })).toBe(false);
});
