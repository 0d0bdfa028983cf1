import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Parked } from '../../src/api/flow.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { brief, eventsOf, validateEventChoice } from '../../workflows/engine/events-in.js';

/** Few ids, so that they repeat; some of them are names that plain objects have already. */
const id = fc.constantFrom('a', 'b', 'c', 'd', 'toString', 'constructor');
const event = (eventId: string, status: string | null = null): FlowEvent => ({
  id: eventId,
  source: 'callback',
  trusted: true,
  proof: 'capability',
  status,
  receivedAt: '2026-01-01T00:00:00.000Z',
  facts: {},
});

it('a person sees of an event its id, its status and when it came', () => {
  const { receivedAt } = event('a', 'FAILED');
  expect(brief(event('a', 'FAILED'))).toEqual({ id: 'a', status: 'FAILED', receivedAt });
});

describe('an order about an event', () => {
  const parked = (evidence: Parked['evidence']): Parked => ({ reason: 'conflict', since: '', actions: [], evidence });
  const order = (action: string, eventId?: string) => {
    return { action, note: '', actor: 'ada', ...(eventId === undefined ? {} : { eventId }) };
  };
  const one = parked({ claimed: [{ id: 'a' }], event: { id: 'm' } });
  const two = parked({ claimed: [{ id: 'a' }, { id: 'b' }], event: { id: 'm' } });

  it('names none if there is one, and exactly one if there are several', () => {
    expect(validateEventChoice(one, order('trust-settlement'))).toBeNull();
    expect(validateEventChoice(two, order('trust-settlement'))).toMatchObject({ code: 'event_not_named' });
    expect(validateEventChoice(two, order('trust-settlement', 'b'))).toBeNull();
  });

  it('names no event that the flow does not hold', () => {
    const refusal = { code: 'event_not_asked_about' };
    expect(validateEventChoice(two, order('trust-settlement', 'm'))).toMatchObject(refusal);
    expect(validateEventChoice(one, order('trust-settlement', 'b'))).toMatchObject(refusal);
  });

  it.each(['accept-event', 'dismiss-event'])('%s is about the one that differs', (action) => {
    expect(validateEventChoice(two, order(action))).toBeNull();
    expect(validateEventChoice(two, order(action, 'm'))).toBeNull();
    expect(validateEventChoice(two, order(action, 'a'))).toMatchObject({ code: 'event_not_asked_about' });
  });

  it('is none if its action is about the whole flow', () => {
    expect(validateEventChoice(two, order('mark-completed', 'z'))).toBeNull();
    expect(validateEventChoice(parked({}), order('keep-waiting'))).toBeNull();
  });
});

describe("a signal's argument", () => {
  it.each([undefined, null, 7, 'x', {}])('that is no list, such as %j, holds no events', (argument) => {
    expect(eventsOf(argument)).toEqual([]);
  });

  it('keeps events with a status and without one', () => {
    const given = [event('a', null), event('b', 'FAILED')];
    expect(eventsOf(given)).toEqual(given);
  });

  it.each(['id', 'trusted', 'status', 'facts'])('leaves out an entry without its %s', (member) => {
    const { [member as 'id']: _left, ...rest } = event('a', 'FAILED');
    expect(eventsOf([rest])).toEqual([]);
  });

  it('is read without throwing, whatever it is, and gives events only', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true }), (argument) => {
        for (const read of eventsOf(argument)) {
          expect(typeof read.id).toBe('string');
          expect(typeof read.trusted).toBe('boolean');
          expect(read.facts).not.toBeNull();
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it('keeps the events among other entries, in their order', () => {
    const wrongly = [{ id: 1 }, { trusted: 'true' }, { status: 7 }, { facts: null }, { facts: 'x' }];
    const nearly = wrongly.map((wrong) => ({ ...event('x', 'FAILED'), ...wrong }));
    const junk = fc.constantFrom<unknown>(null, 7, 'x', {}, [], ...nearly);
    const entries = fc.array(
      fc.oneof(
        id.map((known): unknown => event(known, 'COMPLETED')),
        junk,
      ),
    );
    fc.assert(
      fc.property(entries, (list) => {
        const isOurs = (entry: unknown) => (entry as FlowEvent | null)?.status === 'COMPLETED';
        expect(eventsOf(list)).toEqual(list.filter(isOurs));
      }),
    );
  });
});
