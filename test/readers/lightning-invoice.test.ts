import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { INVOICE_FAULTS, readLightningInvoice } from '../../src/readers/lightning-invoice.js';
import {
  bolt11,
  bytesInWords,
  featureField,
  field,
  inWords,
  invoiceOf,
  invoiceOfWords,
  PAYEE,
  payeeField,
  shortest,
  usualFields,
} from '../flows/bolt11.js';
import vectors from './bolt11-vectors.json' with { type: 'json' };

/** Who signs the vectors: of the one with a high S the standard gives the key that is recovered. */
const NODE = '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad';
const NODE_BY_HIGH_S = '02d0139ce7427d6dfffd26a326c18be754ef1e64672b42694ba5b23ef6e6e7803d';

describe('readLightningInvoice by the vectors of BOLT 11', () => {
  it('has all 28 of them', () => {
    expect(vectors).toHaveLength(28);
    expect(vectors.filter(({ reads }) => reads !== undefined)).toHaveLength(15);
  });

  it.each(vectors)('reads or refuses an invoice with $what', ({ what, invoice, reads, fault }) => {
    const read = readLightningInvoice(invoice);
    if (reads === undefined) return expect(read).toBe(fault);
    expect(read).toEqual({
      network: reads.network,
      amountMsat: reads.amountMsat,
      paymentHash: expect.stringMatching(/^(00010203040506070809|462264ede7e14047e9b2)[0-9a-f]{44}$/),
      payee: what.startsWith('a high S') ? NODE_BY_HIGH_S : NODE,
      createdAtMs: reads.createdAtSeconds * 1_000,
      expiresAtMs: (reads.createdAtSeconds + reads.lifeSeconds) * 1_000,
    });
  });
});

const MADE_AT_MS = 1_700_000_000_000;
const HASH = '0f'.repeat(32);
const whole = (...more: readonly (readonly number[])[]) => [...usualFields(HASH), ...more];
const [P, S, D] = usualFields(HASH) as [readonly number[], readonly number[], readonly number[]];
const H = field('h', bytesInWords(Buffer.alloc(32, 9)));

describe('readLightningInvoice', () => {
  it('reads what was written, in either case, with lightning: in front and with blanks around', () => {
    const written = fc.record({
      amountMsat: fc.option(fc.integer({ min: 1, max: 10 ** 14 })),
      network: fc.constantFrom('bc', 'tb', 'tbs', 'bcrt'),
      createdAtMs: fc.integer({ min: 0, max: 2 ** 35 - 1 }).map((seconds) => seconds * 1_000),
      expirySeconds: fc.option(fc.integer({ min: 1, max: 31_536_000 }), { nil: undefined }),
      spelled: fc.constantFrom<(text: string) => string>(
        (text) => text,
        (text) => text.toUpperCase(),
        (text) => `lightning:${text}`,
        (text) => ` LIGHTNING:${text.toUpperCase()}\n`,
      ),
    });
    fc.assert(
      fc.property(written, ({ spelled, expirySeconds, ...content }) => {
        const life = expirySeconds === undefined ? {} : { expirySeconds };
        expect(readLightningInvoice(spelled(bolt11({ ...content, ...life, paymentHash: HASH })))).toEqual({
          network: content.network,
          amountMsat: content.amountMsat === null ? null : String(content.amountMsat),
          paymentHash: HASH,
          payee: PAYEE,
          createdAtMs: content.createdAtMs,
          expiresAtMs: content.createdAtMs + (expirySeconds ?? 3_600) * 1_000,
        });
      }),
      { numRuns: 60 },
    );
  });

  it('never throws, and gives an invoice or the name of a fault, whatever comes', () => {
    const words = fc.array(fc.integer({ min: 0, max: 31 }), { maxLength: 400 });
    const prefix = fc.constantFrom('lnbc', 'lnbc1m', 'lntb20u', 'ln', 'lnbc0', 'bc');
    const anything = fc.oneof(
      fc.anything(),
      fc.string(),
      fc.tuple(prefix, words).map(([start, some]) => invoiceOfWords(start, some)),
      fc.tuple(prefix, words).map(([start, some]) => invoiceOf(start, [...whole(), some])),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const read = readLightningInvoice(text);
        if (typeof read === 'string') return expect(INVOICE_FAULTS).toHaveProperty(read);
        expect(Number.isSafeInteger(read.expiresAtMs)).toBe(true);
        expect(() => new Date(read.expiresAtMs).toISOString()).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['a payment hash of 0 words', [field('p', []), S, D], 'field-length'],
    ['a payment hash of 53 words', [field('p', inWords(1, 53)), S, D], 'field-length'],
    ['a payment hash of 53 words beside a good one', [P, S, D, field('p', inWords(1, 53))], 'field-length'],
    ['a payment secret of 51 words', [P, field('s', inWords(1, 51)), D], 'field-length'],
    ['a description hash of 53 words', [P, S, field('h', inWords(1, 53))], 'field-length'],
    ['a payee of 52 words', whole(field('n', inWords(1, 52))), 'field-length'],
    ['no payment hash', [S, D], 'no-payment-hash'],
    ['no payment secret', [P, D], 'no-payment-secret'],
    ['two payment secrets', whole(S), 'repeated-field'],
    ['two descriptions', whole(D), 'repeated-field'],
    ['two description hashes', [P, S, H, H], 'repeated-field'],
    ['two payees', whole(payeeField(), payeeField()), 'repeated-field'],
    ['an expiry twice', whole(field('x', shortest(60)), field('x', shortest(600))), 'repeated-field'],
    ['features twice', whole(featureField(8, 14), featureField(9)), 'repeated-field'],
    ['neither a description nor the hash of one', [P, S], 'description'],
    ['a description and the hash of one', whole(H), 'description'],
    ['an expiry with a zero in front', whole(field('x', inWords(60, 3))), 'leading-zeros'],
    ['a final delta with a zero in front', whole(field('c', inWords(18, 2))), 'leading-zeros'],
    ['features with a zero in front', whole(field('9', [0, 8, 8])), 'leading-zeros'],
    ['a last field that is too long', whole(field('d', inWords(1, 4), 5)), 'cut-off'],
    ['a last field without its length', whole([13]), 'cut-off'],
    ['an expiry of a year and a second', whole(field('x', shortest(31_536_001))), 'expiry'],
    ['an expiry of 2^43 seconds', whole(field('x', shortest(2 ** 43))), 'expiry'],
    [
      'an expiry of 1,000 words',
      whole(
        field(
          'x',
          Array.from({ length: 1_000 }, () => 31),
        ),
      ),
      'expiry',
    ],
    ['multi-part payments without a payment secret feature', whole(featureField(8, 17)), 'feature'],
    ['a required feature that no invoice has', whole(featureField(8, 12, 14)), 'feature'],
    ['a payee that is no key', whole(payeeField('05'.repeat(33))), 'signature'],
    ['another payee than who signed it', whole(payeeField(NODE)), 'signature'],
  ])('refuses %s', (_what, fields, fault) => {
    expect(readLightningInvoice(invoiceOf('lnbc1m', fields, { createdAtMs: MADE_AT_MS }))).toBe(fault);
  });

  it.each([
    ['the hash of a description', [P, S, H]],
    ['several routes, and fields that are unknown', whole(field('r', [1]), field('r', [2]), field('0', [3]))],
    ['fallback addresses of versions that are unknown', whole(field('f', [31, 1]), field('f', [31, 2]))],
    ['unknown odd features', whole(featureField(8, 14, 55, 99, 149))],
    ['metadata, which its payer has to repeat', whole(field('m', [1, 2]), featureField(8, 14, 48))],
    ['its payee by name', whole(payeeField())],
    ['an expiry of a year', whole(field('x', shortest(31_536_000)))],
  ])('reads one with %s', (_what, fields) => {
    const read = readLightningInvoice(invoiceOf('lnbc1m', fields, { createdAtMs: MADE_AT_MS }));
    expect(read).toMatchObject({ paymentHash: HASH, payee: PAYEE, amountMsat: '100000000' });
  });

  it('takes a high S if the payee is recovered from the signature, and not if the invoice names its payee', () => {
    expect(readLightningInvoice(invoiceOf('lnbc1m', whole(), { highS: true }))).toMatchObject({ payee: PAYEE });
    expect(readLightningInvoice(invoiceOf('lnbc1m', whole(payeeField()), { highS: true }))).toBe('signature');
    expect(readLightningInvoice(invoiceOf('lnbc1m', whole(payeeField())))).toMatchObject({ payee: PAYEE });
  });

  it('shows another payee, or refuses it, if the signature is of another content', () => {
    const forged = invoiceOf('lnbc2m', whole(), { signedAs: 'lnbc1m' });
    expect(readLightningInvoice(forged)).not.toMatchObject({ payee: PAYEE });
    expect(readLightningInvoice(invoiceOf('lnbc2m', whole(payeeField()), { signedAs: 'lnbc1m' }))).toBe('signature');
  });

  it.each([
    ['1', '100000000000'],
    ['1m', '100000000'],
    ['1u', '100000'],
    ['1n', '100'],
    ['10p', '1'],
    ['21000000', '2100000000000000000'],
  ])('reads the amount %s as %s msat', (written, amountMsat) => {
    expect(readLightningInvoice(invoiceOf(`lnbc${written}`, whole()))).toMatchObject({ amountMsat });
  });

  it.each(['0', '0m', '01m', '1k', 'm', '1.5m', '1p', '12p', '-1m', '21000001', '99999999999999999999p'])(
    'refuses the amount %s',
    (written) => {
      expect(readLightningInvoice(invoiceOf(`lnbc${written}`, whole()))).toBe('amount');
    },
  );

  it.each([
    ['another currency', invoiceOf('lnltc1m', whole()), 'prefix'],
    [
      'a wrong character',
      bolt11({ amountMsat: 1_000 }).replace(/.$/, (last) => (last === 'q' ? 'p' : 'q')),
      'not-an-invoice',
    ],
    ['a cut end', bolt11({ amountMsat: 1_000 }).slice(0, -7), 'not-an-invoice'],
    ['an address', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'not-an-invoice'],
    ['nothing', '', 'not-an-invoice'],
    ['a number', 7, 'not-an-invoice'],
    ['a megabyte', `lnbc1${'q'.repeat(1_000_000)}`, 'not-an-invoice'],
  ])('refuses %s', (_what, text, fault) => {
    expect(readLightningInvoice(text)).toBe(fault);
  });

  it('has a sentence for each fault, of which none is that of another', () => {
    const sentences = Object.values(INVOICE_FAULTS);
    expect(new Set(sentences).size).toBe(sentences.length);
  });
});
