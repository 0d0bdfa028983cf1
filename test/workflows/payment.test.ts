import { beforeEach, describe, expect, it } from '@jest/globals';
import { UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import { KYC_WORDS, OFFRAMP_WORDS, PAYMENT_WORDS } from '../../src/protocol/statuses.js';
import type { Flow } from '../../workflows/engine/flow.js';
import type { MoneyPhase } from '../../workflows/engine/messages.js';
import {
  keepShown,
  newPayment,
  paymentState,
  provenBy,
  rulesOf,
  stageReached,
  takeReading,
  type Payment,
  type TrackPlan,
} from '../../workflows/engine/payment.js';
import { trusted } from '../harness/inputs.js';

const LOOKED_UP: TrackPlan = { noun: 'it', words: PAYMENT_WORDS, hasLookup: true, firstLookMs: 0 };
const BY_EVENTS: TrackPlan = { ...LOOKED_UP, hasLookup: false };
const HINTED: TrackPlan = { ...LOOKED_UP, words: KYC_WORDS, isOnlyHinted: true };
const STAGED: TrackPlan = { ...LOOKED_UP, words: OFFRAMP_WORDS, stages: [['in', ['PENDING']], ['out', ['PROCESSING', 'SUCCESS']]] }; // prettier-ignore

let noted: string[][];
const flowAt = (at: string): Flow => {
  const money = { at } as MoneyPhase;
  const note = (code: string, _detail: string, by = 'flow') => void noted.push([code, by]);
  const enter = (stage: string, code: string, _detail: string, by = 'flow') => void noted.push([stage, code, by]);
  return { money, note, enter } as unknown as Flow;
};
const sent = flowAt('sent');
const opened = (facts: Payment['facts'] = {}): Payment => {
  const pin = { store: 's', account: 'a', epoch: 1 };
  return { ...newPayment({ input: {}, windows: { settleMs: 1 }, steps: {}, pin }), facts };
};
beforeEach(() => {
  noted = [];
});

it('about a new payment nothing is known', () => {
  expect(opened()).toMatchObject({
    proven: false,
    unverified: [],
    mismatches: [],
    answer: null,
    answers: {},
    words: [],
    provenMeanings: [],
    eventMeanings: [],
    lookNow: false,
  });
  expect(paymentState(opened())).toEqual({ kind: 'open' });
});

describe('a trusted event of a payment', () => {
  const take = (plan: TrackPlan, ...events: readonly FlowEvent[]) => {
    const payment = opened();
    const took = events.map((event) => rulesOf(sent, payment, plan).apply(event));
    return { payment, took };
  };

  it('decides if there is no lookup', () => {
    const { payment, took } = take(BY_EVENTS, trusted('PENDING'), trusted('SUCCESSFUL'));
    expect(payment).toMatchObject({ words: ['PENDING', 'SUCCESSFUL'], provenMeanings: ['pending', 'succeeded'] });
    expect(payment).toMatchObject({ eventMeanings: [], lookNow: false });
    expect(took).toEqual([true, true]);
  });

  it('is kept if there is a lookup, which decides; a final one has it made at once', () => {
    const { payment } = take(LOOKED_UP, trusted('PENDING'));
    expect(payment).toMatchObject({ words: ['PENDING'], eventMeanings: ['pending'], provenMeanings: [] });
    expect(payment.lookNow).toBe(false);
    const { payment: failed } = take(LOOKED_UP, trusted('PENDING'), trusted('FAILED'), trusted('RETRY'));
    expect(failed).toMatchObject({ eventMeanings: ['pending', 'failed', 'pending'], lookNow: true });
  });

  it('has a lookup made at once if a refund is announced', () => {
    expect(take({ ...LOOKED_UP, words: OFFRAMP_WORDS }, trusted('REFUND_PENDING')).payment.lookNow).toBe(true);
    expect(take({ ...LOOKED_UP, words: OFFRAMP_WORDS }, trusted('CRYPTO_RECEIVED')).payment.lookNow).toBe(false);
  });

  it('contradicts nothing if it is only a hint', () => {
    const { payment } = take(HINTED, trusted('REJECTED'));
    expect(payment).toMatchObject({ words: ['REJECTED'], eventMeanings: [], provenMeanings: [], lookNow: true });
    expect(provenBy(payment, HINTED)).toEqual([]);
    expect(provenBy(payment, { ...HINTED, isOnlyHinted: false })).toEqual(['failed']);
  });

  it('counts once for each status, and not at all without one', () => {
    const none = trusted('', { status: null });
    const { payment, took } = take(BY_EVENTS, none, trusted('FAILED'), trusted('FAILED'));
    expect(took).toEqual([false, true, false]);
    expect(payment).toMatchObject({ words: ['FAILED'], provenMeanings: ['failed'] });
    expect(noted).toHaveLength(1);
  });

  it('is shown with its author, and whether its word is known', () => {
    take(
      BY_EVENTS,
      trusted('FAILED'),
      trusted('ODD', { source: 'settlement', proof: 'signature' }),
      trusted('PAID', { proof: null }),
    );
    expect(noted).toEqual([
      ['event-applied', 'service'],
      ['status-unknown', 'provider'],
      ['event-applied', 'service'],
    ]);
  });

  it('gives its other data to the kind, with a status and without', () => {
    const seen: (string | null)[] = [];
    const plan: TrackPlan = { ...BY_EVENTS, onEvent: (_, { status }) => void seen.push(status) };
    take(plan, trusted('FAILED'), trusted('', { status: null }), trusted('FAILED'));
    expect(seen).toEqual(['FAILED', null, 'FAILED']);
  });

  it('proves that the service has the payment, unless its status may be older', () => {
    const proves = (plan: TrackPlan) => rulesOf(sent, opened(), plan).proves?.(trusted('PENDING'));
    expect(proves(BY_EVENTS)).toBe(true);
    expect(proves({ ...BY_EVENTS, proves: (word) => word === 'PENDING' })).toBe(true);
    expect(proves({ ...BY_EVENTS, proves: (word) => word !== 'PENDING' })).toBe(false);
  });

  it('was seen if its status was proven before', () => {
    const { payment } = take(BY_EVENTS, trusted('FAILED'));
    const seen = (status: string | null) => rulesOf(sent, payment, BY_EVENTS).seen(trusted('', { status }));
    expect([seen('FAILED'), seen('PAID'), seen(null)]).toEqual([true, false, false]);
  });
});

describe('what differs in an event', () => {
  const unread = trusted('FAILED', { facts: { body: UNREADABLE } });
  const differs = (at: string, plan: TrackPlan, event = unread) => rulesOf(flowAt(at), opened({ amount: '7', currency: 'KES' }), plan).differs(event); // prettier-ignore

  it('is every fact that is not as we know it', () => {
    expect(differs('sent', LOOKED_UP, trusted('PAID', { facts: { amount: '8', currency: 'KES' } }))).toEqual(['amount']); // prettier-ignore
    expect(differs('sent', BY_EVENTS, trusted('PAID', { facts: { amount: '7' } }))).toEqual([]);
    expect(rulesOf(sent, opened({ amount: '7' }), BY_EVENTS).known()).toEqual({ amount: '7' });
  });

  it('is its body if that cannot be read, and the event decides', () => {
    expect(differs('sent', BY_EVENTS)).toEqual(['body']);
    expect(differs('sent', { ...LOOKED_UP, byOthersToo: true })).toEqual(['body']);
    expect(['unsent', 'claimed'].map((at) => differs(at, LOOKED_UP))).toEqual([['body'], ['body']]);
  });

  it('is not its body if that cannot be read, and a lookup decides about what was sent', () => {
    expect(['sent', 'elsewhere'].map((at) => differs(at, LOOKED_UP))).toEqual([[], []]);
    expect(differs('sent', { ...LOOKED_UP, byOthersToo: false })).toEqual([]);
  });
});

describe('the result of a lookup', () => {
  const ours = { amount: '7', currency: 'KES' };
  const read = (payment: Payment, status: string | null, facts: Payment['facts'] = {}, plan = LOOKED_UP) => {
    takeReading(sent, payment, plan, { status, facts });
    return payment;
  };

  it('proves its status, once', () => {
    const payment = read(read(opened(ours), 'PENDING'), 'PENDING', { amount: '7' });
    expect(payment).toMatchObject({ words: ['PENDING'], provenMeanings: ['pending'], proven: true });
    read(payment, 'RETRY');
    read(payment, 'PAID');
    expect(payment).toMatchObject({ words: ['PENDING', 'RETRY', 'PAID'], provenMeanings: ['pending', 'succeeded'] });
    expect(paymentState(payment)).toEqual({ kind: 'ended', meaning: 'succeeded' });
    expect(noted.at(-1)).toEqual(['status-looked-up', 'service']);
    expect(payment.otherRecord).toBeUndefined();
  });

  it('of another payment proves nothing of ours: both sides are kept', () => {
    const payment = read(opened(ours), 'PAID', { amount: '8', currency: 'KES' });
    expect(payment.otherRecord).toEqual({ differs: ['amount'], ours, theirs: { amount: '8', currency: 'KES' } });
    expect(payment).toMatchObject({ words: [], provenMeanings: [], proven: false });
    expect(noted).toEqual([]);
  });

  it('without a status proves nothing', () => {
    const payment = read(opened(ours), null, ours);
    expect(payment).toMatchObject({ words: [], provenMeanings: [], proven: false });
    expect([noted, payment.otherRecord]).toEqual([[], undefined]);
  });

  it('enters the furthest stage that was reached', () => {
    const payment = read(opened(), 'PROCESSING', {}, STAGED);
    read(payment, 'PENDING', {}, STAGED);
    read(payment, 'ODD', {}, STAGED);
    expect(noted.map(([stage]) => stage)).toEqual(['out', 'out', 'out']);
    expect(noted[0]).toEqual(['out', 'status-looked-up', 'service']);
    expect(stageReached(payment, LOOKED_UP)).toBeUndefined();
    expect(stageReached(opened(), STAGED)).toBeUndefined();
    read(opened(), 'ODD', {}, STAGED);
    expect(noted.at(-1)).toEqual(['status-looked-up', 'service']);
  });
});

describe('a payment of the invoice that the lookup shows', () => {
  const shown = (...says: readonly ('paid' | 'other' | 'not-paid' | 'cannot-tell')[]) => {
    const payment = opened();
    for (const one of says) keepShown(payment, { says: one });
    keepShown(payment, undefined);
    return payment.shownPaid?.says;
  };

  it('is kept, ours or not, and no later copy that shows less takes it away', () => {
    expect(shown('paid', 'not-paid')).toBe('paid');
    expect(shown('other', 'paid')).toBe('other');
  });

  it('is none if it shows none', () => {
    expect(shown('not-paid', 'cannot-tell')).toBeUndefined();
  });
});
