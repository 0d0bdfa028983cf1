import { describe, expect, test } from '@jest/globals';
import { MAX_UNTRUSTED, unopenedIdOf } from '../../src/protocol/events.js';
import { UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import type { Facts } from '../../activities/types.js';
import {
  differences,
  handleEvents,
  trustClaimed,
  trustedSay,
  whoSays,
  type EventRules,
} from '../../workflows/engine/evidence.js';
import { NO_EVIDENCE, openEventBook, pick, type Evidence } from '../../workflows/engine/event-book.js';
import type { Flow } from '../../workflows/engine/flow.js';
import { trusted } from '../harness/inputs.js';

const KNOWN: Facts = { amount: '100', currency: 'KES' };
const OTHER: Facts = { amount: '99', currency: 'ZAR' };

const untrusted = (status: string | null, more: Partial<FlowEvent> = {}): FlowEvent => ({
  ...trusted('', more),
  status,
  trusted: false,
  proof: null,
});

/** A flow that has listened from its start, and knows an amount. Only what event handlers use of it is there. */
function listening(more: Partial<EventRules> = {}) {
  const taken: FlowEvent[] = [];
  const notes: (readonly [code: string, by: string])[] = [];
  const evidence: Evidence = { ...NO_EVIDENCE };
  const book = openEventBook();
  const note = (code: string, _detail: string, by: string) => void notes.push([code, by]);
  const flow = { book, note, serviceReference: null } as unknown as Flow;
  const rules: EventRules = {
    known: () => KNOWN,
    differs: (event) => differences(KNOWN, event.facts),
    seen: ({ status }) => taken.some((event) => event.status === status),
    apply(event) {
      const isNew = !taken.some(({ status }) => status === event.status);
      taken.push(event);
      return isNew;
    },
    ...more,
  };
  handleEvents(flow, evidence, rules);
  const fateOf = (event: FlowEvent) => {
    book.take(event);
    return book.results()[event.id];
  };
  return { flow, evidence, rules, taken, notes, fateOf, results: () => book.results() };
}

describe('a trusted event that agrees with what its flow knows', () => {
  test('is applied, proves the payment and gives its service reference; a second one of its status adds nothing', () => {
    const { flow, evidence, fateOf, taken } = listening();
    expect(trustedSay(evidence)).toBe('nothing');
    const first = trusted('PENDING', { facts: { amount: '100', serviceReference: 'S1' } });
    expect(fateOf(first)).toBe('applied');
    expect([evidence.proven, flow.serviceReference, trustedSay(evidence)]).toEqual([true, 'S1', 'shown']);
    expect(fateOf(trusted('PENDING', { facts: { serviceReference: 'S2' } }))).toBe('duplicate');
    expect(flow.serviceReference).toBe('S1');
    expect(taken[0]).toEqual(first);
  });

  test('that names no service reference leaves it unknown', () => {
    const { flow, fateOf } = listening();
    fateOf(trusted('PENDING'));
    expect(flow.serviceReference).toBeNull();
  });

  test('proves nothing if it may be older than what was sent; one that came later does', () => {
    const { evidence, fateOf } = listening({ proves: ({ status }) => status !== 'PENDING' });
    expect(fateOf(trusted('PENDING'))).toBe('applied');
    expect([evidence.proven, trustedSay(evidence)]).toEqual([false, 'nothing']);
    fateOf(trusted('SUCCESSFUL'));
    fateOf(trusted('PENDING'));
    expect(evidence.proven).toBe(true);
  });
});

describe('a trusted event that differs from what its flow knows', () => {
  test('conflicts: it is kept with the names of the facts, is noted, and acts on nothing', () => {
    const { flow, evidence, fateOf, taken, notes } = listening();
    const [first, second] = [trusted('SUCCESSFUL', { facts: OTHER }), trusted('PENDING', { facts: { amount: '9' } })];
    expect([fateOf(first), fateOf(second)]).toEqual(['conflicting', 'conflicting']);
    expect(evidence.mismatches).toEqual([
      { event: first, differs: ['amount', 'currency'] },
      { event: second, differs: ['amount'] },
    ]);
    expect(notes[0]).toEqual(['event-differs', 'service']);
    expect([taken, flow.serviceReference, trustedSay(evidence)]).toEqual([[], null, 'other']);
  });

  test('conflicts without a status, too, and what is proven is shown before what differs', () => {
    const { evidence, fateOf, notes } = listening();
    fateOf({ ...trusted('', { facts: OTHER, source: 'settlement' }), status: null });
    expect(notes).toEqual([['event-differs', 'provider']]);
    fateOf(trusted('PENDING'));
    expect(trustedSay(evidence)).toBe('shown');
  });

  test('conflicts while its body is not opened, until the event itself comes', () => {
    const { evidence, fateOf } = listening();
    const event = trusted('SUCCESSFUL');
    const other = trusted('PENDING', { facts: OTHER });
    expect(fateOf({ ...event, id: unopenedIdOf(event.id) })).toBe('conflicting');
    expect(evidence.mismatches.map(({ differs }) => differs)).toEqual([['body']]);
    fateOf(other);
    expect(fateOf(event)).toBe('applied');
    expect(evidence.mismatches.map((mismatch) => mismatch.event.id)).toEqual([other.id]);
  });

  test('is dropped in its untrusted form, too, and no other event with it', () => {
    const { evidence, fateOf } = listening();
    const event = untrusted('SUCCESSFUL', { facts: OTHER });
    const other = untrusted('FAILED');
    fateOf({ ...event, id: unopenedIdOf(event.id) });
    fateOf(other);
    expect(fateOf(event)).toBe('unverified');
    expect(evidence.unverified.map(({ id }) => id)).toEqual([other.id, event.id]);
  });
});

describe('an untrusted event', () => {
  test('is kept, is noted, moves nothing and proves nothing', () => {
    const { flow, evidence, fateOf, taken, notes } = listening();
    const [first, second] = [untrusted('SUCCESSFUL', { facts: { serviceReference: 'S' } }), untrusted(null)];
    expect([fateOf(first), fateOf(second)]).toEqual(['unverified', 'unverified']);
    expect(evidence).toEqual({ ...NO_EVIDENCE, unverified: [first, second] });
    expect([taken, flow.serviceReference]).toEqual([[], null]);
    expect(notes).toEqual([
      ['event-unverified', 'service'],
      ['event-unverified', 'service'],
    ]);
  });

  test('is no claim any more once a trusted one has its status, except for a fact that differs', () => {
    const { evidence, fateOf, results } = listening();
    const [same, differing, other] = [
      untrusted('PENDING'),
      untrusted('PENDING', { facts: OTHER }),
      untrusted('FAILED'),
    ];
    for (const event of [same, differing, other]) fateOf(event);
    fateOf(trusted('PENDING'));
    expect(evidence.unverified).toEqual([differing, other]);
    expect([same, differing, other].map(({ id }) => results()[id])).toEqual(['duplicate', 'unverified', 'unverified']);
  });

  test('after a trusted one of its status is a duplicate, unless it differs or claims more', () => {
    const claims = ({ facts }: FlowEvent) => (facts['refund'] === undefined ? [] : ['refund']);
    const { evidence, fateOf } = listening({ claims });
    fateOf(trusted('PENDING'));
    expect(fateOf(untrusted('PENDING'))).toBe('duplicate');
    const kept = [untrusted('PENDING', { facts: OTHER }), untrusted('PENDING', { facts: { refund: 'begun' } })];
    expect(kept.map(fateOf)).toEqual(['unverified', 'unverified']);
    // No status is no corroboration.
    const third = untrusted('FAILED');
    expect(fateOf(third)).toBe('unverified');
    expect(evidence.unverified).toEqual([...kept, third]);
  });

  test('is kept up to a limit, beyond which only the first of each ending is', () => {
    const { evidence, fateOf, notes } = listening();
    for (let n = 0; n < MAX_UNTRUSTED + 1; n += 1) expect(fateOf(untrusted('PENDING'))).toBe('unverified');
    expect([evidence.unverified.length, notes.length]).toEqual([MAX_UNTRUSTED, MAX_UNTRUSTED]);
    const kept = ['SUCCESSFUL', 'FAILED', 'REVERSED'];
    for (const status of kept) fateOf(untrusted(status));
    for (const status of ['SUCCESS', 'COMPLETED', 'EXPIRED', 'REFUNDED', 'CONFIRMED', 'PAYMENT_SENT', null])
      fateOf(untrusted(status));
    expect(evidence.unverified.slice(MAX_UNTRUSTED).map(({ status }) => status)).toEqual(kept);
  });

  test('beyond the limit is kept for the first of each claim, also beside one that was made before', () => {
    const claims = ({ facts }: FlowEvent) => Object.keys(facts);
    const { evidence, fateOf } = listening({ claims });
    for (let n = 0; n < MAX_UNTRUSTED; n += 1) fateOf(untrusted('PENDING'));
    const begun = untrusted('PENDING', { facts: { refund: 'begun' } });
    const both = untrusted('PENDING', { facts: { refund: 'begun', paid: '1' } });
    for (const event of [begun, untrusted('PENDING', { facts: { refund: 'again' } }), both, untrusted('PENDING')])
      fateOf(event);
    expect(evidence.unverified.slice(MAX_UNTRUSTED)).toEqual([begun, both]);
  });
});

describe('an untrusted event that a person trusts', () => {
  const claimed = () => {
    const opened = listening();
    const [event, other] = [untrusted('SUCCESSFUL'), untrusted('FAILED')];
    opened.fateOf(event);
    opened.fateOf(other);
    return { ...opened, event, other };
  };

  test('is taken as trusted, by that proof, and is a claim no more', () => {
    const { flow, evidence, rules, taken, event, other, results } = claimed();
    trustClaimed(flow, evidence, rules, event);
    expect(taken).toEqual([{ ...event, trusted: true, proof: 'person' }]);
    expect([evidence.unverified, evidence.mismatches, evidence.proven]).toEqual([[other], [], true]);
    expect(results()[event.id]).toBe('applied');
  });

  test('is not applied when it differs from what the flow knows: both sides are shown first', () => {
    const { flow, evidence, taken, event, other } = claimed();
    const rules: EventRules = { known: () => KNOWN, differs: () => ['amount'], seen: () => false, apply: () => true };
    trustClaimed(flow, evidence, rules, event);
    expect(evidence.mismatches).toEqual([{ event: { ...event, trusted: true, proof: 'person' }, differs: ['amount'] }]);
    expect([evidence.unverified, evidence.proven, taken]).toEqual([[other], false, []]);
  });
});

test('an entry is by the settlement provider only for an event of its own source', () => {
  const sources = ['settlement', 'callback', 'webhook'] as const;
  expect(sources.map((source) => whoSays(trusted('PENDING', { source })))).toEqual(['provider', 'service', 'service']);
});

describe('facts', () => {
  test('differ by their text, since each has one spelling, and in none that one side lacks', () => {
    expect(differences({ amount: '100', token: 'USDC' }, { amount: '100', token: 'USDT' })).toEqual(['token']);
    expect(differences({ amount: '100' }, { amount: UNREADABLE })).toEqual(['amount']);
    expect(differences({ amount: '1', chain: 'CELO' }, { currency: 'KES' })).toEqual([]);
  });

  test('are picked by name, without those that are missing', () => {
    expect(pick({ amount: '1', token: 'USDC' }, ['amount', 'chain'])).toEqual({ amount: '1' });
    expect(pick({ amount: '1', currency: 'KES' }, ['amount'])).toEqual({ amount: '1', currency: 'KES' });
    expect(Object.keys(pick({ amount: '1' }, ['chain', 'amount']))).toEqual(['amount']);
  });
});
