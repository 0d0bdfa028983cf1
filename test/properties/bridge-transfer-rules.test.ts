import { describe, expect, it } from '@jest/globals';
import { UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import {
  depositClaim,
  endEvidence,
  handleTransferEvents,
  isRefunded,
  isVetoed,
  knownFacts,
  owesNothing,
  refundClaim,
  rulesOf,
  whatArrived,
  type Transfer,
} from '../../workflows/core/bridge/transfer.js';
import { trusted } from '../harness/inputs.js';
import { flowOfTransfer, knownTransfer, seen } from './known-transfer.js';

const claim = (status: string | null, facts: Record<string, string> = {}): FlowEvent =>
  trusted('', { status, facts, trusted: false, proof: null });
const settled = (status: string) => trusted(status, { source: 'settlement', proof: 'signature' });
const early = { failure: trusted('FAILED', { facts: { failureStage: 'deposit' } }), statuses: seen('FAILED') };

/** Applies trusted events as the flow does, one after the other; each result is whether it said something new. */
function applied(...events: readonly FlowEvent[]) {
  const transfer = knownTransfer();
  const { flow, notes } = flowOfTransfer();
  const results = events.map((event) => rulesOf(flow, transfer).apply(event));
  return { transfer, results, notes };
}

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

  it('owes nothing only after a failure of an early stage, against which there is nothing', () => {
    expect(owesNothing(knownTransfer(early))).toBe(true);
    const differing = { event: trusted('COMPLETED'), differs: ['amount'] };
    expect(owesNothing(knownTransfer({ ...early, mismatches: [differing] }))).toBe(false);
    expect(owesNothing(knownTransfer({ ...early, unverified: [claim('COMPLETED')] }))).toBe(false);
    expect(owesNothing(knownTransfer({ ...early, statuses: seen('FAILED', 'SETTLING') }))).toBe(false);
    for (const word of ['COMPLETED', 'REFUNDED', 'SETTLING'] as const)
      expect(owesNothing(knownTransfer({ statuses: seen(word) }))).toBe(false);
  });
});

describe('an untrusted event', () => {
  it('vetoes the failure by a refused deposit if it claims another ending or cannot be read, and only that', () => {
    const vetoed = (isRefused: boolean, ...unverified: FlowEvent[]) =>
      isVetoed(knownTransfer({ unverified }), isRefused);
    const unclear = claim('SETTLING', { body: UNREADABLE });
    const harmless = [claim('DEPOSIT_INITIATED'), claim('FAILED'), claim(null)];
    expect(vetoed(true, ...harmless)).toBe(false);
    for (const against of [claim('COMPLETED'), claim('REFUNDED'), unclear]) {
      expect(vetoed(true, ...harmless, against)).toBe(true);
      // Nothing has failed yet.
      expect(vetoed(false, ...harmless, against)).toBe(false);
      expect(isVetoed(knownTransfer({ unverified: [against] }))).toBe(false);
    }
  });

  it('vetoes no other end than a failure that owes nothing', () => {
    const unverified = [claim('COMPLETED')];
    expect(isVetoed(knownTransfer({ ...early, unverified }))).toBe(true);
    expect(isVetoed(knownTransfer({ statuses: seen('FAILED'), unverified }))).toBe(false);
    expect(isVetoed(knownTransfer({ statuses: seen('COMPLETED'), unverified: [claim('FAILED')] }))).toBe(false);
  });

  const claimed = (event: FlowEvent, more: Parameters<typeof knownTransfer>[0] = {}) =>
    rulesOf(flowOfTransfer().flow, knownTransfer(more)).claims?.(event);

  it('claims by name what would keep us from acting by ourselves, and is no trusted word yet', () => {
    expect(claimed(claim('DEPOSIT_INITIATED', { cryptoAmount: '7.5' }))).toEqual([]);
    expect(claimed(claim('SETTLING'))).toEqual(['paid']);
    expect(claimed(claim('FAILED', { refundStatus: 'SENT' }))).toEqual(['refund begun']);
    expect(claimed(claim('DEPOSIT_INITIATED', { cryptoAmount: '5' }))).toEqual(['less came in']);
    expect(claimed(claim('X', { cryptoAmount: UNREADABLE }))).toEqual(['less came in']);
    expect(claimed(claim('X', { body: UNREADABLE }))).toEqual(['anything: it cannot be read', 'paid']);
  });

  it('claims nothing that a trusted event proves', () => {
    const begun = claim('FAILED', { refundStatus: 'SENT' });
    expect(claimed(begun, { theirRefund: { refundStatus: 'COMPLETED' } })).toEqual([]);
    expect(claimed(begun, { theirRefund: { refundStatus: 'PENDING' } })).toEqual(['refund begun']);
    expect(claimed(claim('REFUNDING'))).toEqual(['refund begun']);
    expect(claimed(claim('SETTLING'), { statuses: seen('PAYMENT_SENT') })).toEqual([]);
    expect(claimed(claim('SETTLING'), { unverified: [claim('PAYMENT_SENT')] })).toEqual(['paid']);
    expect(claimed(claim('X', { cryptoAmount: '5' }), { cameIn: { cryptoAmount: '5' } })).toEqual([]);
  });
});

describe('an event of a transfer', () => {
  it('is compared with what was asked for, what the service answered, and the reference that it gave', () => {
    const deposit = { ...knownTransfer().deposit, paymentHash: 'ab12' } as Transfer['deposit'];
    const rules = rulesOf(flowOfTransfer().flow, knownTransfer({ deposit }));
    const known = {
      chain: 'CELO',
      token: 'USDC',
      settlementAmount: '100',
      settlementCurrency: 'ZAR',
      serviceReference: 'service-1',
      paymentHash: 'ab12',
      cryptoAmount: '7.5',
    };
    expect(rules.known()).toStrictEqual(known);
    // A person sees both sides of it.
    expect(rules.shown?.()).toEqual({ ...known, amount: '1000.5 KES, 100 ZAR' });
    expect(rulesOf(flowOfTransfer().flow, knownTransfer({ deposit: null })).known()).not.toHaveProperty('paymentHash');
  });

  it('is compared with nothing that is not known, and with our own payment hash before the answered one', () => {
    const input = { ...knownTransfer().input, crypto_payment: { payment_hash: 'ours', amount_msat: '7' } };
    const unknown = { serviceReference: null, paymentHash: 'theirs' };
    expect(knownFacts(input as never, unknown)).toStrictEqual({
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
    expect(rulesOf(flowOfTransfer().flow, knownTransfer()).differs(trusted('SETTLING', { facts }))).toEqual(differs);
  });

  it('was seen before if one of its status was', () => {
    const rules = rulesOf(flowOfTransfer().flow, knownTransfer({ statuses: seen('SETTLING', 'DEPOSIT_CONFIRMED') }));
    expect(['SETTLING', 'DEPOSIT_CONFIRMED', 'COMPLETED'].map((word) => rules.seen(trusted(word)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is noted once with its source, and a repeat adds nothing', () => {
    const confirmed = trusted('PAYMENT_CONFIRMED');
    const { results, notes, transfer } = applied(confirmed, settled('COMPLETED'), confirmed);
    expect(results).toEqual([true, true, false]);
    expect(notes).toEqual([
      ['event-applied', 'service'],
      ['event-applied', 'provider'],
    ]);
    expect(transfer.statuses).toEqual(seen('PAYMENT_CONFIRMED', 'COMPLETED'));
  });

  it('of an unknown word is kept, proves no status, and counts for how much came in', () => {
    const strange = trusted('CRYPTO_COUNTED', { facts: { cryptoAmount: '5' } });
    const { results, notes, transfer } = applied(strange, trusted('', { status: null }));
    expect(results).toEqual([true, true]);
    expect(notes.map(([code]) => code)).toEqual(['status-unknown', 'status-unknown']);
    expect(transfer).toMatchObject({ statuses: seen(), cameIn: { cryptoAmount: '5' } });
  });

  it('leaves a failure with the facts of all of them, from the moment of the first one', () => {
    const first = trusted('FAILED', { facts: { failureStage: 'payout' } });
    const said = { facts: { refundAnnounced: 'true', failureStage: 'payout' } };
    const before = Date.now();
    const { results, transfer, notes } = applied(
      first,
      trusted('FAILED', said),
      trusted('FAILED', said),
      trusted('SETTLING'),
    );
    expect(results).toEqual([true, true, false, true]);
    expect(notes).toHaveLength(3);
    expect(transfer.failure).toEqual({ ...first, facts: said.facts });
    expect(transfer.failedAtMs).toBeGreaterThanOrEqual(before);
    const known = knownTransfer({ failedAtMs: 5 });
    rulesOf(flowOfTransfer().flow, known).apply(first);
    expect(known.failedAtMs).toBe(5);
    expect(applied(trusted('COMPLETED', said), trusted('SETTLING', said)).transfer.failure).toBeNull();
    // It says one thing that is new beside another that is not.
    expect(applied(trusted('FAILED', said), first).results).toEqual([true, false]);
  });

  it('leaves the facts of a first COMPLETED about what arrived, and those of no other status', () => {
    const completed = (facts: Record<string, string>) => trusted('COMPLETED', { facts });
    const { transfer } = applied(
      trusted('SETTLING', { facts: { settlementCurrency: 'KES' } }),
      completed({ settlementAmount: '90' }),
      completed({ settlementAmount: '80', settlementCurrency: 'ZAR' }),
    );
    expect(transfer.completion).toEqual({ settlementAmount: '90', settlementCurrency: 'ZAR' });
  });

  it("is to be reported if it is the provider's ending, and the service knows none as high", () => {
    expect(applied(settled('SETTLING')).transfer.toReport).toBeNull();
    expect(applied(trusted('COMPLETED')).transfer.toReport).toBeNull();
    expect(applied(trusted('REFUNDED'), settled('FAILED')).transfer.toReport).toBeNull();
    expect(applied(trusted('COMPLETED'), settled('COMPLETED')).transfer.toReport).toBeNull();
    const failed = settled('FAILED');
    expect(applied(trusted('SETTLING'), failed).transfer.toReport).toBe(failed);
  });

  it('is reported as the highest ending of those that the provider gave, in any order', () => {
    const [failed, refunded] = [settled('FAILED'), settled('REFUNDED')];
    for (const events of [
      [failed, refunded],
      [refunded, failed],
    ])
      expect(applied(...events).transfer.toReport).toBe(refunded);
  });

  it("is known to the service if it came from the service itself, and not by the provider's word", () => {
    const { transfer } = applied(trusted('SETTLING'), settled('COMPLETED'));
    expect(transfer.serviceKnows).toEqual(seen('SETTLING'));
  });

  it('acts on the transfer from the moment on in which its events are handled', () => {
    const transfer = knownTransfer();
    const { flow } = flowOfTransfer();
    let absorb: (event: FlowEvent) => unknown = () => undefined;
    Object.assign(flow, { book: { absorbWith: (given: typeof absorb) => (absorb = given) } });
    handleTransferEvents(flow, transfer);
    expect(absorb(trusted('COMPLETED'))).toBe('applied');
    expect(transfer).toMatchObject({ proven: true, statuses: seen('COMPLETED') });
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
    const input = { source_currency: 'ZAR' };
    expect(whatArrived(knownTransfer({ input, completion: { amount: '90', currency: 'ZAR' } }))).toBe(
      'The recipient was paid.',
    );
  });
});

describe('the claims of a transfer', () => {
  it('are that of its deposit, and that of a refund under a reference of its own', () => {
    const { flow } = flowOfTransfer();
    const flowId = 'bridge-transfer/r-1';
    const deposit = { operation: 'createBridgeDeposit', reference: 'r-1', flowId, pin: 'pin-1' };
    expect(depositClaim(flow, knownTransfer())).toEqual({ ...deposit, fingerprint: 'fingerprint-1' });
    const refund = { operation: 'sendCrypto', reference: 'r-1.refund', flowId, pin: 'pin-1' };
    expect(refundClaim(flow, knownTransfer())).toEqual({ ...refund, fingerprint: '' });
  });
});
