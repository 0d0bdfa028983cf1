import { describe, expect, it } from '@jest/globals';
import type { FlowPreparation } from '../../activities/types.js';
import { UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import { bridgeTransferPlan } from '../../workflows/bridge-transfer.js';
import {
  amountDiffers,
  claimsMore,
  endEvidence,
  endStepOf,
  factsOfDeposit,
  isRefunded,
  knownFacts,
  saidOf,
  theirsBegun,
  whatArrived,
} from '../../workflows/bridge/transfer.js';
import { saidBy } from '../../workflows/engine/events.js';
import { newKnown, NOT_SENT, type Known, type Request } from '../../workflows/engine/known.js';
import { learn } from '../../workflows/engine/learn.js';
import type { Said } from '../../workflows/engine/plan.js';
import { view } from '../../workflows/engine/view.js';
import { trusted } from '../harness/inputs.js';
import { knownTransfer, seen } from './known-transfer.js';

const claim = (status: string | null, facts: Record<string, string> = {}): FlowEvent =>
  trusted('', { status, facts, trusted: false, proof: null });
const settled = (status: string) => trusted(status, { source: 'settlement', proof: 'signature' });
const early = { failure: trusted('FAILED', { facts: { failureStage: 'deposit' } }), statuses: seen('FAILED') };

/** Each a second after the one before. */
const inOrder = (events: readonly FlowEvent[]) => events.map((event, index) => ({ event, atMs: 1_000 * (index + 1) }));
const said = (...events: readonly FlowEvent[]) => saidOf(inOrder(events), []);

const TIMES = { timeScale: 1, patienceMs: 1, settleMs: 1, graceMs: 0, deadlineMs: 1_000_000 };
const { input } = knownTransfer();
const ANSWER = { kotani_reference_id: 'service-1', status: 'PENDING', payment_hash: 'ab12' };

/** A flow whose input was checked, and that knows this of its deposit. */
function checked(deposit: Partial<Request> = {}): Known {
  const known = newKnown(['deposit', 'refund'], TIMES, 0);
  const prepared = { input, steps: { deposit: { claim: {}, facts: {}, fixed: {} } } } as unknown as FlowPreparation;
  return { ...known, input: 'valid', prepared, requests: { ...known.requests, deposit: { ...NOT_SENT, ...deposit } } };
}

const told = (known: Known, ...events: readonly FlowEvent[]): Known =>
  events.reduce((now, event) => learn(now, { is: 'event', event }, 1_000), known);
const answered = checked({ claim: 'answered', answer: 'accepted', shown: { ...NOT_SENT.shown, answer: ANSWER } });

describe('what is known about the ending of a transfer', () => {
  it('is what trusted events prove, what the others claim, and whether the crypto was paid', () => {
    const unverified = [claim('COMPLETED'), claim('SETTLING'), claim(null)];
    expect(endEvidence(knownTransfer({ statuses: seen('FAILED', 'DEPOSIT_CONFIRMED'), unverified }))).toEqual({
      proven: ['failed'],
      claimed: ['completed'],
      fundsHeld: 'cannot-tell',
    });
    expect(endEvidence(knownTransfer(early))).toEqual({ proven: ['failed'], claimed: [], fundsHeld: 'absent' });
  });

  it('is claimed as refunded, too, by an event of any status which reports that the service has begun its refund', () => {
    const refundStatus = 'COMPLETED';
    const claimed = (...unverified: FlowEvent[]) => endEvidence(knownTransfer({ unverified })).claimed;
    expect(claimed(claim('FAILED', { refundStatus }))).toEqual(['failed', 'refunded']);
    expect(claimed(claim('FAILED', { refundStatus: 'PENDING' }))).toEqual(['failed']);
    expect(claimed(claim('SETTLING', { refundStatus }))).toEqual(['refunded']);
    expect(claimed(claim('REFUNDING'))).toEqual(['refunded']);
    expect(claimed(claim('SETTLING'))).toEqual([]);
  });

  it('is a refund only if that is all that it can be', () => {
    expect(isRefunded(knownTransfer({ statuses: seen('REFUNDED') }))).toBe(true);
    expect(isRefunded(knownTransfer({ statuses: seen('FAILED', 'REFUNDED') }))).toBe(true);
    for (const statuses of [seen(), seen('SETTLING'), seen('FAILED'), seen('COMPLETED', 'REFUNDED')])
      expect(isRefunded(knownTransfer({ statuses }))).toBe(false);
  });

  it('says that the service has begun its own refund by a word that is not about a later one', () => {
    expect(theirsBegun(knownTransfer())).toBe(false);
    expect(theirsBegun(knownTransfer({ theirRefund: { refundStatus: 'PENDING' } }))).toBe(false);
    expect(theirsBegun(knownTransfer({ theirRefund: { refundStatus: 'PENDING, SENT' } }))).toBe(true);
  });

  it('lets the flow end as failed only after a failure of an early stage, against which no event stands', () => {
    const failed = { do: 'end', as: 'failed' };
    expect(endStepOf(knownTransfer(early))).toEqual(failed);
    expect(endStepOf(knownTransfer({ ...early, unverified: [claim('DEPOSIT_CONFIRMED')] }))).toEqual(failed);
    expect(endStepOf(knownTransfer({ ...early, unverified: [claim('COMPLETED')] }))).toMatchObject({ do: 'park' });
    // The crypto was paid, or may have been.
    for (const more of [{ statuses: seen('FAILED', 'SETTLING') }, { unverified: [claim('SETTLING')] }])
      expect(endStepOf(knownTransfer({ ...early, ...more }))).toEqual({ do: 'refund' });
  });

  it('is a debt after any other failure, whatever untrusted events claim, and an end after a completion or a refund', () => {
    const unverified = [claim('COMPLETED'), claim('FAILED'), claim('REFUNDED')];
    const stepOf = (statuses: ReturnType<typeof seen>) => endStepOf(knownTransfer({ statuses, unverified }));
    expect(stepOf(seen('FAILED'))).toEqual({ do: 'refund' });
    expect(stepOf(seen('COMPLETED'))).toEqual({ do: 'end', as: 'completed' });
    expect(stepOf(seen('FAILED', 'REFUNDED'))).toEqual({ do: 'end', as: 'refunded' });
    expect(stepOf(seen('COMPLETED', 'REFUNDED'))).toMatchObject({ do: 'park' });
    for (const statuses of [seen(), seen('SETTLING')]) expect(stepOf(statuses)).toEqual({ do: 'wait' });
  });
});

describe('an untrusted event', () => {
  it('vetoes the failure by a refused deposit if it claims another ending or cannot be read, and only that', () => {
    const vetoes = (deposit: Partial<Request>, ...events: readonly FlowEvent[]) =>
      view(told(checked(deposit), ...events), bridgeTransferPlan, 2_000, undefined, 'deposit').is.vetoed;
    const unclear = claim('SETTLING', { body: UNREADABLE });
    const harmless = [claim('DEPOSIT_INITIATED'), claim('FAILED'), claim(null)];
    const refused = { claim: 'rejected', answer: 'rejected' } as const;
    expect(vetoes(refused, ...harmless)).toBe(false);
    for (const against of [claim('COMPLETED'), claim('REFUNDED'), unclear]) {
      expect(vetoes(refused, ...harmless, against)).toBe(true);
      // Nothing has failed yet.
      expect(vetoes({ claim: 'sending', answer: 'unknown' }, ...harmless, against)).toBe(false);
    }
  });

  const more = (event: FlowEvent, ...ours: readonly FlowEvent[]): boolean =>
    claimsMore(
      answered,
      inOrder(ours).map((of) => ({ of, meaning: 'pending', differs: [] }) as unknown as Said),
    )(event);

  it('says more than its status if it would keep us from acting by ourselves, and no trusted event says that', () => {
    expect(more(claim('DEPOSIT_INITIATED', { cryptoAmount: '7.5' }))).toBe(false);
    expect(more(claim('FAILED', { refundStatus: 'PENDING' }))).toBe(false);
    // The crypto was paid; the service has begun its own refund; less came in; it cannot be read.
    expect(more(claim('SETTLING'))).toBe(true);
    expect(more(claim('FAILED', { refundStatus: 'SENT' }))).toBe(true);
    expect(more(claim('REFUNDING'))).toBe(true);
    expect(more(claim('DEPOSIT_INITIATED', { cryptoAmount: '5' }))).toBe(true);
    expect(more(claim('X', { cryptoAmount: UNREADABLE }))).toBe(true);
    expect(more(claim('X', { body: UNREADABLE }))).toBe(true);
  });

  it('says nothing more if a trusted event says as much', () => {
    const begun = claim('FAILED', { refundStatus: 'SENT' });
    expect(more(begun, trusted('SETTLING', { facts: { refundStatus: 'COMPLETED' } }))).toBe(false);
    expect(more(begun, trusted('SETTLING', { facts: { refundStatus: 'PENDING' } }))).toBe(true);
    expect(more(claim('SETTLING'), trusted('PAYMENT_SENT'))).toBe(false);
    expect(more(claim('SETTLING'), trusted('DEPOSIT_CONFIRMED'))).toBe(true);
    const less = { cryptoAmount: '5' };
    expect(more(claim('X', less), trusted('SETTLING', { facts: less }))).toBe(false);
    expect(more(claim('X', less), trusted('SETTLING', { facts: { cryptoAmount: '6' } }))).toBe(true);
  });

  it('of a status that is known by now counts on as long as it says more', () => {
    const claimedIn = (event: FlowEvent) =>
      view(told(answered, trusted('DEPOSIT_CONFIRMED'), event), bridgeTransferPlan, 2_000).claimed.length;
    expect(claimedIn(claim('DEPOSIT_CONFIRMED'))).toBe(0);
    expect(claimedIn(claim('DEPOSIT_CONFIRMED', { cryptoAmount: '5' }))).toBe(1);
  });
});

describe('an event of a transfer', () => {
  it('is compared with what was asked for, what the service answered, and the reference that it gave', () => {
    const facts = {
      chain: 'CELO',
      token: 'USDC',
      settlementAmount: '100',
      settlementCurrency: 'ZAR',
      serviceReference: 'service-1',
      paymentHash: 'ab12',
      cryptoAmount: '7.5',
    };
    expect(factsOfDeposit(answered)).toStrictEqual(facts);
    // A person sees both sides of it.
    expect(bridgeTransferPlan.shownFacts?.(answered)).toEqual({ ...facts, amount: '1000.5 KES, 100 ZAR' });
    expect(factsOfDeposit(checked())).not.toHaveProperty('paymentHash');
  });

  it('is compared with nothing that is not known, and with our own payment hash before the answered one', () => {
    const ours = { ...input, crypto_payment: { payment_hash: 'ours', amount_msat: '7' } };
    const unknown = { serviceReference: null, paymentHash: 'theirs' };
    expect(knownFacts(ours as never, unknown)).toStrictEqual({
      chain: 'CELO',
      token: 'USDC',
      settlementAmount: '100',
      settlementCurrency: 'ZAR',
      paymentHash: 'ours',
      amountMsat: '7',
    });
    const bare = knownFacts({ ...input, crypto_payment: {} }, { serviceReference: null, paymentHash: null });
    expect(Object.keys(bare)).toEqual(['chain', 'token', 'settlementAmount', 'settlementCurrency']);
  });

  it.each<[Record<string, string>, readonly string[]]>([
    [{ chain: 'CELO', cryptoAmount: '7.5', amount: '1000.5', currency: 'KES' }, []],
    [{ amount: '100', currency: 'ZAR' }, []],
    [{ body: UNREADABLE }, ['body']],
    [{ token: 'USDT' }, ['token']],
    [{ amount: '1000.51', currency: 'KES' }, ['amount']],
    [{ amount: '1000.5', currency: 'ZAR' }, ['amount']],
    [{ amount: '1', currency: UNREADABLE }, ['amount']],
    [{ currency: UNREADABLE }, []],
    [{ amount: '100', currency: 'KES' }, ['amount']],
    [{ amount: '1', currency: 'USD' }, []],
    [{ body: UNREADABLE, token: 'USDT', amount: '1', currency: 'KES' }, ['body', 'token', 'amount']],
  ])('with %j differs in %j', (facts, differs) => {
    const [deposit] = bridgeTransferPlan.requests;
    const known = told(answered, trusted('SETTLING', { facts }));
    const compared = deposit === undefined ? [] : saidBy(bridgeTransferPlan, deposit, known, factsOfDeposit(known));
    expect(compared.map((one) => one.differs)).toEqual([differs]);
  });

  it('with an amount in the currency of both sides may mean either of them', () => {
    const both = { ...input, source_currency: 'ZAR' } as const;
    for (const amount of [input.amount, input.settlement.amount])
      expect(amountDiffers(both, { amount, currency: 'ZAR' })).toBe(false);
    expect(amountDiffers(both, { amount: '1', currency: 'ZAR' })).toBe(true);
  });

  it('of an unknown word proves no status, and counts for how much came in', () => {
    const strange = trusted('CRYPTO_COUNTED', { facts: { cryptoAmount: '5' } });
    expect(said(strange, trusted('', { status: null }))).toMatchObject({
      statuses: seen(),
      cameIn: { cryptoAmount: '5' },
    });
  });

  it('leaves a failure with the facts of all of them, from the moment of the first one', () => {
    const first = trusted('FAILED', { facts: { failureStage: 'payout' } });
    const facts = { refundAnnounced: 'true', failureStage: 'payout' };
    const again = trusted('FAILED', { facts });
    const after = said(trusted('SETTLING'), first, again, again);
    expect(after).toMatchObject({
      failure: { ...first, facts },
      failedAtMs: 2_000,
      statuses: seen('SETTLING', 'FAILED'),
    });
    expect(said(trusted('COMPLETED', { facts }), trusted('SETTLING', { facts }))).toMatchObject({
      failure: null,
      failedAtMs: null,
    });
  });

  it("leaves what any of them says of the service's own refund, each word once", () => {
    const word = (status: string, refundStatus: string) => trusted(status, { facts: { refundStatus } });
    const { theirRefund } = said(word('FAILED', 'PENDING'), word('SETTLING', 'SENT'), word('FAILED', 'SENT'));
    expect(theirRefund).toEqual({ refundStatus: 'PENDING, SENT' });
  });

  it('leaves the facts of a first COMPLETED about what arrived, and those of no other status', () => {
    const completed = (facts: Record<string, string>) => trusted('COMPLETED', { facts });
    const { completion } = said(
      trusted('SETTLING', { facts: { settlementCurrency: 'KES' } }),
      completed({ settlementAmount: '90' }),
      completed({ settlementAmount: '80', settlementCurrency: 'ZAR' }),
    );
    expect(completion).toEqual({ settlementAmount: '90', settlementCurrency: 'ZAR' });
  });

  it("is to be reported if it is the provider's ending, and the service knows none as high", () => {
    expect(said(settled('SETTLING')).toReport).toBeNull();
    expect(said(trusted('COMPLETED')).toReport).toBeNull();
    expect(said(trusted('REFUNDED'), settled('FAILED')).toReport).toBeNull();
    expect(said(trusted('COMPLETED'), settled('COMPLETED')).toReport).toBeNull();
    const failed = settled('FAILED');
    expect(said(trusted('SETTLING'), failed).toReport).toBe(failed);
  });

  it('is reported as the highest ending of those that the provider gave, in any order', () => {
    const [failed, refunded] = [settled('FAILED'), settled('REFUNDED')];
    for (const events of [
      [failed, refunded],
      [refunded, failed],
    ])
      expect(said(...events).toReport).toBe(refunded);
  });

  it('is to be reported no more once it was, and a higher ending is', () => {
    const [failed, refunded] = [settled('FAILED'), settled('REFUNDED')];
    expect(saidOf(inOrder([failed]), ['FAILED']).toReport).toBeNull();
    expect(saidOf(inOrder([failed, refunded]), ['FAILED']).toReport).toBe(refunded);
    expect(saidOf(inOrder([refunded, failed]), ['REFUNDED']).toReport).toBeNull();
  });
});

describe('the sentence about what arrived', () => {
  it.each<[Record<string, string>, string]>([
    [{}, ''],
    [{ settlementAmount: '100', settlementCurrency: 'ZAR' }, ''],
    [{ settlementAmount: '90' }, ' 90 of 100 ZAR'],
    [{ amount: '90', currency: 'ZAR' }, ' 90 of 100 ZAR'],
    [{ settlementAmount: '95', amount: '90', currency: 'ZAR' }, ' 95 of 100 ZAR'],
    [{ amount: '90', currency: 'KES' }, ''],
    [{ amount: '90' }, ''],
    [{ settlementCurrency: 'USD' }, ' 100 USD, not 100 ZAR'],
    [{ settlementAmount: '6', settlementCurrency: 'USD' }, ' 6 USD, not 100 ZAR'],
  ])('with %j names the figures if they are others: %s', (completion, figures) => {
    expect(whatArrived(knownTransfer({ completion }))).toBe(`The recipient was paid${figures}.`);
  });

  it('takes a bare amount for neither side if both have its currency', () => {
    const both = { source_currency: 'ZAR' };
    expect(whatArrived(knownTransfer({ input: both, completion: { amount: '90', currency: 'ZAR' } }))).toBe(
      'The recipient was paid.',
    );
  });
});
