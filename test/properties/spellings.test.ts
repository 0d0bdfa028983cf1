import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { statusLookups } from '../../activities/status-lookups.js';
import { operations, type OperationName } from '../../src/contract/index.js';
import { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { flowOf } from '../../src/flows/index.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { knownFacts } from '../../workflows/bridge/transfer.js';
import { differences } from '../../workflows/engine/events.js';
import { eventsOf } from '../../workflows/engine/events-in.js';
import { transferInput } from '../harness/inputs.js';

/*
 * What the service writes comes in many spellings: each is read as one. Every text of a body below is marked by what it is,
 * and written again as chance has it.
 */

type Sort = 'amount' | 'code' | 'hash' | 'address' | 'reference' | 'time';
class Written {
  readonly sort: Sort;
  readonly value: string;
  constructor(sort: Sort, value: string) {
    this.sort = sort;
    this.value = value;
  }
}
const amount = (value: string) => new Written('amount', value);
const code = (value: string) => new Written('code', value);
const hash = (value: string) => new Written('hash', value);
const address = (value: string) => new Written('address', value);
const reference = (value: string) => new Written('reference', value);
const time = (value: string) => new Written('time', value);

const HASH = 'ab12'.repeat(16);
const WALLET = '0xab5801a7d398351b8be11c439e05c5b3259aec9b';

/** A body of each kind's events, with every member that the kind reads. */
const EVENTS: Readonly<Record<string, readonly [FlowKind, object]>> = {
  'a bridge transfer': [
    'bridge-transfer',
    {
      provider_reference_id: reference('r-1'),
      kotani_reference_id: reference('k-1'),
      status: code('FAILED'),
      amount: amount('1000.5'),
      currency: code('KES'),
      crypto_payment: {
        chain: code('CELO'),
        token: code('USDC'),
        payment_hash: hash(HASH),
        crypto_amount: amount('0.0000005'),
        amount_msat: amount('2100000'),
        received_at: time('2026-01-02T03:04:05.000Z'),
      },
      settlement_details: { amount: amount('100'), currency: code('ZAR') },
      failure_details: { failure_stage: code('FIAT_COLLECTION') },
      refund_details: {
        refund_status: code('NOT_STARTED'),
        refund_method_used: code('CRYPTO_ADDRESS'),
        refund_payment_hash: hash(HASH),
        refund_crypto_amount: amount('7.5'),
        refund_initiated_at: time('2026-01-02T03:04:05.000Z'),
      },
    },
  ],
  'a withdrawal': ['bank-withdrawal', { referenceId: reference('r-1'), status: code('IN_PROGRESS'), amount: amount('250.5'), currency: code('ZAR') }], // prettier-ignore
  'a checkout': ['bank-checkout', { reference_id: reference('r-1'), status: code('SUCCESSFUL'), amount: amount('5'), currency: code('KES') }], // prettier-ignore
  'a crypto send': ['crypto-send', { referenceId: reference('r-1'), status: code('SUCCESS'), cryptoAmount: amount('0.000000000000000001'), chain: code('CELO'), token: code('CUSD') }], // prettier-ignore
  'an offramp': ['offramp', { referenceId: reference('r-1'), status: code('CRYPTO_RECEIVED'), onchainStatus: code('SUCCESSFUL'), cryptoAmount: amount('21'), fiatCurrency: code('KES'), senderAddress: address(WALLET), transactionHash: hash(HASH) }], // prettier-ignore
  "an offramp's refund": [
    'offramp',
    {
      event: 'refund.lightning.invoice_needed',
      data: { reference_id: reference('r-1'), amount_msat: amount('2100000'), crypto_amount: amount('21') },
    },
  ],
  'an onramp': ['onramp', { referenceId: reference('r-1'), mobile_money_status: code('SUCCESSFUL'), crypto_received_status: code('PENDING'), fiatAmount: amount('1000'), currency: code('KES'), chain: { name: code('CELO') }, token: code('USDC') }], // prettier-ignore
  'a KYC record': ['kyc-check', { kycId: reference('r-1'), status: code('APPROVED') }],
};

/** A record of each lookup, as the service sends it. */
const RECORDS: Readonly<Record<string, readonly [OperationName, object]>> = {
  sendCrypto: ['getCryptoSend', { referenceId: 'r-1', status: code('SUCCESS'), cryptoWallet: address(WALLET), cryptoAmount: amount('0.0000005'), chain: code('CELO'), token: { symbol: code('USDC') } }], // prettier-ignore
  createOfframp: ['getOfframp', { referenceId: 'r-1', status: code('FAILED'), onchainStatus: code('FAILED'), cryptoAmount: amount('21'), transactionHashAmount: amount('0'), fiatCurrency: code('KES'), senderAddress: address(WALLET) }], // prettier-ignore
  createOnramp: ['getOnChainDeposit', { mobile_money: { status: code('SUCCESSFUL'), amount: amount('1000.5'), currency: code('KES') }, onchain: { status: code('SUCCESSFUL'), crypto_received_status: code('SUCCESSFUL'), public_address: address(WALLET), chain: code('CELO'), token: code('USDC') } }], // prettier-ignore
  createInvoice: ['getInvoice', { referenceId: 'r-1', invoice: { amount: amount('1250.5'), currency: code('KES') } }],
  payInvoice: ['getInvoicePayment', { referenceId: 'r-1', status: code('SUCCESSFUL'), amount: amount('1250.5'), currency: code('KES'), invoice: { amount: amount('1250.5'), currency: code('KES'), status: code('PAID') } }], // prettier-ignore
};

/** As the service could write a value; choices are taken one after the other. */
function writtenAs({ sort, value }: Written, choose: (most: number) => number): unknown {
  const blank = () => ['', ' ', '\t', '\n'][choose(4)]!;
  const cased = (text: string) => (choose(2) === 0 ? text : choose(2) === 0 ? text.toLowerCase() : text.toUpperCase());
  if (sort === 'reference' || sort === 'time') return blank() + value + blank();
  if (sort === 'code') return blank() + cased(value.replaceAll('_', choose(2) === 0 ? '_' : ' ')) + blank();
  if (sort === 'hash') return blank() + (choose(2) === 0 ? '0x' : '') + cased(value) + blank();
  if (sort === 'address') return blank() + (choose(2) === 0 ? value : `0x${value.slice(2).toUpperCase()}`) + blank();
  if (choose(4) === 0) return Number(value);
  const [whole = '', rest = ''] = value.split('.');
  const shift = choose(7);
  const digits = rest + '0'.repeat(shift);
  const spelled = `${whole}${digits.slice(0, shift)}.${digits.slice(shift)}${'0'.repeat(choose(3))}e-${shift}`;
  return `${blank()}${choose(2) === 0 ? '+' : ''}${'0'.repeat(choose(4))}${spelled}${blank()}`;
}

function rewritten(body: unknown, choose: (most: number) => number): unknown {
  if (body instanceof Written) return writtenAs(body, choose);
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, rewritten(value, choose)]));
}

const inFull = (body: unknown) => rewritten(body, () => 1);
const choices = fc.array(fc.nat(1_000), { minLength: 400, maxLength: 400 }).map((drawn) => {
  let at = 0;
  return (most: number) => (drawn[at++ % drawn.length] ?? 0) % most;
});
/** The spelling of the interface. */
const plain = (body: unknown): unknown => {
  if (body instanceof Written) return body.value;
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, plain(value)]));
};

describe('an event of a flow, in other spellings,', () => {
  it.each(Object.entries(EVENTS))('of %s is read as one, however the service spells it', (_, [kind, body]) => {
    const readEvent = (event: unknown) => flowOf(kind).readEvent(event);
    const reading = readEvent(plain(body));
    expect(Object.values(reading?.facts ?? {})).not.toContain(UNREADABLE);
    expect(reading?.references).toEqual(['r-1']);
    expect(readEvent(inFull(body))).toEqual(reading);
    fc.assert(fc.property(choices, (choose) => expect(readEvent(rewritten(body, choose))).toEqual(reading)), { numRuns: 200 }); // prettier-ignore
  });

  it('of a bridge transfer whose input spells a hash in another way differs in nothing', () => {
    const spelled = { address: WALLET, crypto_amount: '+07.50', payment_hash: ` 0X${HASH.toUpperCase()}` };
    const written = { ...transferInput('r-1'), crypto_payment: spelled, source_currency: ' kes' };
    const input = BridgeTransferInput.parse(written);
    expect(input).toMatchObject({ source_currency: 'KES', crypto_payment: { crypto_amount: '7.5' } });
    const known = knownFacts(input, { serviceReference: null, paymentHash: null });
    const event = flowOf('bridge-transfer').readEvent({
      status: 'completed',
      crypto_payment: { payment_hash: HASH, crypto_amount: 7.5, token: 'usdc', chain: 'Celo' },
    });
    expect(differences(known, event?.facts ?? {})).toEqual([]);
  });

  it.each([
    ['another payment hash in a form that is none', { crypto_payment: { payment_hash: 'ab:12' } }, 'paymentHash'],
    ['another payment hash that is no text', { crypto_payment: { payment_hash: 7 } }, 'paymentHash'],
    ['another reference of the service with blanks inside', { kotani_reference_id: 'k 2' }, 'serviceReference'],
    ['another reference of the service that is no text', { kotani_reference_id: { id: 'k-2' } }, 'serviceReference'],
    ['an amount with a thousands separator', { settlement_details: { amount: '1,00' } }, 'settlementAmount'],
    ['a currency that is no code', { settlement_details: { currency: 'ZAR?' } }, 'settlementCurrency'],
  ])('of a bridge transfer that names %s differs', (_, members, fact) => {
    const written = { ...transferInput('r-1'), crypto_payment: { payment_hash: HASH } };
    const known = knownFacts(BridgeTransferInput.parse(written), { serviceReference: 'k-1', paymentHash: null });
    const event = flowOf('bridge-transfer').readEvent({ status: 'COMPLETED', ...members });
    expect(differences(known, event?.facts ?? {})).toEqual([fact]);
  });

  it('that any client of Temporal signals holds only words of the tables, amounts that cannot throw, and texts', () => {
    const signalled = (facts: unknown) => eventsOf([{ id: 'e', trusted: true, status: null, facts }])[0]?.facts;
    expect(signalled({ refundAmountMsat: '0002100000', amount: '007.5', chain: 'CELO' })).toEqual({
      refundAmountMsat: '2100000',
      amount: '7.5',
      chain: 'CELO',
    });
    expect(signalled({ amountMsat: '2,100', cryptoAmount: {}, token: 7 })).toEqual({
      amountMsat: UNREADABLE,
      cryptoAmount: UNREADABLE,
      token: UNREADABLE,
    });
    const word = (status: string | null) => eventsOf([{ id: 'e', trusted: false, status, facts: {} }])[0]?.status;
    expect([' completed', 'Completed', 'COMPLETED', null].map(word)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'COMPLETED',
      null,
    ]);
    // Of an event about a refund, which says nothing of the transfer: `REFUND_FAILED` would.
    expect(word('refund FAILED')).toBe('refund FAILED');
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('amount', 'cryptoAmount', 'chain'), fc.anything()), (facts) => {
        for (const fact of Object.values(signalled(facts) ?? {})) expect(typeof fact).toBe('string');
      }),
    );
  });
});

describe('a record of the service, in other spellings,', () => {
  it.each(Object.entries(RECORDS))(
    'of %s is read as one, however the service spells it',
    (operation, [lookup, body]) => {
      const source = statusLookups[operation]!;
      const read = (record: unknown) => {
        const data = operations[lookup].data.parse(record);
        return { facts: source.facts(data), status: source.status?.read(data).status };
      };
      const reading = read(plain(body));
      expect(Object.values(reading.facts)).not.toContain(UNREADABLE);
      expect(read(inFull(body))).toEqual(reading);
      fc.assert(fc.property(choices, (choose) => expect(read(rewritten(body, choose))).toEqual(reading)), { numRuns: 200 }); // prettier-ignore
    },
  );
});
