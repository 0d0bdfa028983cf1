import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { EventResult, FlowEvent } from '../../src/protocol/messages.js';
import type { Parked } from '../../src/protocol/messages.js';
import { unopenedIdOf } from '../../src/protocol/events.js';
import {
  brief,
  eventsOf,
  NO_EVIDENCE,
  openEventBook,
  selectedEvent,
  validateEventChoice,
} from '../../workflows/engine/event-book.js';

const FATES: readonly EventResult[] = ['applied', 'duplicate', 'unverified', 'conflicting'];

/** Few ids, so that they repeat; some of them are names that plain objects have already. */
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'toString', 'constructor');
const event = (eventId: string, status: string | null = null): FlowEvent => ({
  id: eventId,
  source: 'callback',
  trusted: true,
  proof: 'capability',
  status,
  receivedAt: '2026-01-01T00:00:00.000Z',
  facts: {},
});

describe('the event book', () => {
  it('lets each id act once, in the order of arrival, whenever the flow begins to listen', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 30 }), fc.nat(30), (ids, listensAfter) => {
        const book = openEventBook();
        const absorbed: string[] = [];
        const absorb = (taken: FlowEvent): EventResult => {
          absorbed.push(taken.id);
          return 'applied';
        };
        ids.forEach((taken, index) => {
          if (index === listensAfter) book.absorbWith(absorb);
          book.take(event(taken));
        });
        if (listensAfter >= ids.length) book.absorbWith(absorb);
        const once = [...new Set(ids)];
        expect(absorbed).toEqual(once);
        expect(Object.keys(book.results())).toEqual(once);
        expect(once.every((known) => book.knows(known))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps ids, results and waiting events when the flow continues as new at any moment', () => {
    const cuts = fc.uniqueArray(fc.nat(30), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(id, { maxLength: 30 }), fc.nat(30), cuts, (ids, listensAfter, continued) => {
        const absorbed: string[] = [];
        const absorb = (taken: FlowEvent): EventResult => {
          absorbed.push(taken.id);
          return FATES[absorbed.length % FATES.length] as EventResult;
        };
        const run = (cutAt: readonly number[]) => {
          absorbed.length = 0;
          let book = openEventBook();
          ids.forEach((taken, index) => {
            if (cutAt.includes(index)) {
              // As Temporal does it: through JSON.
              book = openEventBook(JSON.parse(JSON.stringify(book.state())));
              if (index > listensAfter) book.absorbWith(absorb);
            }
            if (index === listensAfter) book.absorbWith(absorb);
            book.take(event(taken));
          });
          book.absorbWith(absorb);
          return { absorbed: [...absorbed], results: { ...book.results() } };
        };
        expect(run(continued)).toEqual(run([]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes nothing once its flow has ended: so that it is listed as late', () => {
    const book = openEventBook();
    book.absorbWith(() => 'applied');
    book.take(event('a'));
    book.close();
    book.take(event('b'));
    expect(book.results()).toEqual({ a: 'applied' });
    expect(book.knows('b')).toBe(false);
  });

  it('takes what a person decided later in place of the first result', () => {
    const book = openEventBook();
    book.absorbWith(() => 'unverified');
    book.take(event('a'));
    book.settle('a', 'applied');
    book.take(event('a'));
    expect(book.results()).toEqual({ a: 'applied' });
  });
});

describe('an event book that holds events back', () => {
  const holding = () => {
    const book = openEventBook();
    book.absorbWith(() => 'applied');
    book.take(event('a'));
    book.hold();
    book.take(event('b'));
    book.hold();
    book.take(event('c'));
    return book;
  };

  it('takes them once it is released, in order, and those that come later at once', () => {
    const book = holding();
    expect(book.ids()).toEqual(['a']);
    expect(book.knows('b')).toBe(false);
    book.release();
    expect(book.ids()).toEqual(['a', 'b', 'c']);
    book.take(event('d'));
    expect(book.results()).toEqual({ a: 'applied', b: 'applied', c: 'applied', d: 'applied' });
  });

  it('lists them as late if its flow ends before that', () => {
    const book = holding();
    book.close();
    book.release();
    expect(book.ids()).toEqual(['a']);
  });

  it('can be released although it holds none', () => {
    const book = openEventBook();
    book.release();
    book.take(event('a'));
    expect(book.waiting().map(({ id: waits }) => waits)).toEqual(['a']);
  });
});

describe('an event that came before its flow listens', () => {
  it('waits, is known, and travels to the next run, where it is taken once', () => {
    const book = openEventBook();
    book.take(event('a'));
    book.take(event('a'));
    expect(book.state()).toEqual({ results: {}, waiting: [event('a')] });
    const next = openEventBook(book.state());
    next.take(event('a'));
    expect(next.ids()).toEqual(['a']);
    expect(next.waiting()).toEqual([event('a')]);
    next.absorbWith(() => 'applied');
    expect(next.waiting()).toEqual([]);
    expect(next.results()).toEqual({ a: 'applied' });
    // The state that the next run began with is not touched.
    expect(book.state()).toEqual({ results: {}, waiting: [event('a')] });
  });

  it('need not be decrypted if it was taken already', () => {
    const book = openEventBook();
    book.take(event('a'));
    book.take(event(unopenedIdOf('a')));
    expect(book.ids()).toEqual(['a']);
    const other = openEventBook();
    other.take(event(unopenedIdOf('a')));
    other.take(event('a'));
    expect(other.ids()).toEqual([unopenedIdOf('a'), 'a']);
  });
});

it('of a flow without events nothing is proven, claimed or contradictory', () => {
  expect(NO_EVIDENCE).toEqual({ proven: false, unverified: [], mismatches: [] });
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

  it('means the event that it names, or else the one that came', () => {
    const claimed = [event('a'), event('b')];
    expect(selectedEvent(claimed, order('trust-settlement', 'a'))).toBe(claimed[0]);
    expect(selectedEvent(claimed, order('trust-settlement'))).toBe(claimed[1]);
    expect(selectedEvent(claimed, order('trust-settlement', 'z'))).toBeUndefined();
    expect(selectedEvent([], order('trust-settlement'))).toBeUndefined();
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
