import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { EventResult, FlowEvent } from '../../src/protocol/messages.js';
import { eventsOf, openEventBook } from '../../workflows/engine/event-book.js';

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

describe("a signal's argument", () => {
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
