import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, noted } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import offramp from '../kinds/offramp.js';
import onramp from '../kinds/onramp.js';

const INPUT = { onramp: onramp.input, offramp: offramp.input };
const CHECKOUT = { fullName: 'Canary Customer', phoneNumber: '+254712345678', paymentMethod: 'CAPITECPAY' };

describe('the stage of a ramp', () => {
  let bench: Stack;
  beforeAll(async () => {
    // Its service moves nothing: no lookup says more than an event.
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  async function start(kind: keyof typeof INPUT, more: Record<string, unknown> = {}) {
    const reference = newReference('stage');
    const handle = await bench.startFlow(kind, reference, { ...INPUT[kind](reference), ...more });
    const report = await noted(handle, 'accepted');
    return { handle, report };
  }
  const stageAfter = async (kind: keyof typeof INPUT, ...words: readonly string[]) => {
    const { handle } = await start(kind);
    await handle.signal(
      'events',
      words.map((word) => trusted(word)),
    );
    const { view } = await noted(handle, 'event-applied', words.at(-1));
    return entriesOf(view, 'event-applied', words.at(-1))[0]?.stage;
  };

  test.each([
    ['onramp', 'fiat-leg', ['PENDING', 'FIAT_INITIATED', 'FIAT_PENDING']],
    ['onramp', 'crypto-leg', ['FIAT_SUCCESSFUL', 'CRYPTO_PENDING', 'PROCESSING', 'CRYPTO_SUCCESSFUL', 'CRYPTO_FAILED']],
    ['offramp', 'crypto-leg', ['PENDING']],
    ['offramp', 'fiat-leg', ['CRYPTO_RECEIVED', 'PROCESSING', 'SUCCESS', 'SUCCESSFUL', 'COMPLETED']],
    ['offramp', 'refund', ['FAILED', 'REFUND_PENDING', 'REFUND_INVOICE_NEEDED', 'REFUNDED', 'REFUND_FAILED']],
  ] as const)('of an %s is %s by any of its words', async (kind, stage, words) => {
    expect(await Promise.all(words.map((word) => stageAfter(kind, word)))).toEqual(words.map(() => stage));
  });

  test('is the furthest that any word has reached, whatever comes late', async () => {
    expect(await stageAfter('onramp', 'FIAT_SUCCESSFUL', 'FIAT_PENDING')).toBe('crypto-leg');
    expect(await stageAfter('offramp', 'REFUND_PENDING', 'CRYPTO_RECEIVED')).toBe('refund');
  });

  test('begins with tracking, until a status has come', async () => {
    for (const kind of ['onramp', 'offramp'] as const) expect((await start(kind)).report.view.stage).toBe('tracking');
  });

  test.each([
    ['by phone', {}, 'pays-on-phone'],
    ['at the page of a bank', { mobileMoney: undefined, bankCheckout: CHECKOUT }, 'pays-at-redirect'],
  ] as const)('of an onramp says how its customer pays: %s', async (_how, more, code) => {
    const { handle } = await start('onramp', more);
    const { view } = await noted(handle, code);
    const ways: readonly string[] = ['pays-on-phone', 'pays-at-redirect', 'redirect-lost'];
    expect(view.timeline.map((entry) => entry.code).filter((noted) => ways.includes(noted))).toEqual([code]);
  });
});
