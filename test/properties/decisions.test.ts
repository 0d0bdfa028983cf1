import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import {
  contradictsFailure,
  ENDINGS,
  endStep,
  executed,
  maySend,
  PAID_SAYS,
  paidElsewhere,
  paymentStateOf,
  postStep,
  refundRefusal,
  refusedStep,
  REPEATS,
  type EndEvidence,
  type FinalMeaning,
  type PostEvidence,
} from '../../src/protocol/decisions.js';
import { POST_ORDERS, refusalOf } from '../../src/protocol/legal-orders.js';
import type { Meaning } from '../../src/protocol/statuses.js';
import { BOTH, ENDS, POSTS, subsetsOf, PAYMENT_EVIDENCE } from './combinations.js';
import { decisionsDocument } from './decisions-document.js';

/**
 * Written independently, so that it cannot share a mistake with the table: any single witness that shows the POST done.
 */
const anyShowsIt = ({ claim, lookup, trusted }: PostEvidence) =>
  [claim === 'answered', lookup === 'shown', trusted === 'shown'].includes(true);
const wasNeverSent = ({ claim }: PostEvidence) => ['free', 'reserved', 'void'].includes(claim);

const OPEN: PostEvidence = {
  claim: 'sending',
  lookup: 'cannot-tell',
  trusted: 'nothing',
  untrusted: false,
  saidToExist: false,
  windowOver: true,
  overdue: true,
};

/** The combinations in which something holds that must not. */
const wrong = <T>(all: readonly T[], isWrong: (each: T) => boolean) => all.filter(isWrong);

describe(`what is known of a POST, in each of ${POSTS.length} combinations, by ${REPEATS.length} settings and ${POST_ORDERS.length} orders`, () => {
  it('lets a flow send automatically only what no witness shows done, and what was never sent or is proven absent', () => {
    for (const repeat of REPEATS) {
      const sends = POSTS.filter((post) => ['send', 'repeat'].includes(postStep(post, repeat).do));
      expect(wrong(sends, anyShowsIt)).toEqual([]);
      expect(wrong(sends, ({ lookup, trusted }) => lookup === 'other' || trusted === 'other')).toEqual([]);
      expect(wrong(sends, ({ claim }) => ['answered', 'rejected', 'void'].includes(claim))).toEqual([]);
      const repeats = sends.filter((post) => !wasNeverSent(post));
      // The service itself said "not found" for the whole window; or it cannot, and is known to accept a repeat.
      expect(wrong(repeats, ({ windowOver, overdue }) => !windowOver || overdue)).toEqual([]);
      const allowing = ['absent', 'proves-nothing', 'no-lookup'];
      expect(wrong(repeats, ({ lookup }) => !allowing.includes(lookup))).toEqual([]);
      expect(wrong(repeats, ({ untrusted, saidToExist }) => untrusted || saidToExist)).toEqual([]);
      expect(repeats.length > 0).toBe(repeat !== 'unknown');
    }
  });

  it('lets a reserved claim be sent under, also with a new quote or by an order, against no trusted event', () => {
    const sent = POSTS.filter(maySend);
    expect(wrong(sent, anyShowsIt)).toEqual([]);
    expect(wrong(sent, ({ lookup, trusted }) => lookup === 'other' || trusted === 'other')).toEqual([]);
    expect(new Set(sent.map(({ claim }) => claim))).toEqual(new Set(['free', 'reserved', 'ordered']));
    // The same as the step that the flow takes by itself, and as the order that a person gives.
    const first = POSTS.filter(({ claim }) => claim === 'free' || claim === 'reserved');
    expect(wrong(first, (post) => maySend(post) !== (postStep(post, 'unknown').do === 'send'))).toEqual([]);
    const again = POSTS.filter(({ claim }) => claim === 'ordered');
    expect(wrong(again, (post) => maySend(post) !== (refusalOf('send-again', post) === null))).toEqual([]);
  });

  it('allows no second send of a payment that is shown done, or that is another one under the reference', () => {
    const ordered = POSTS.filter((post) => refusalOf('send-again', post) === null);
    expect(wrong(ordered, anyShowsIt)).toEqual([]);
    expect(wrong(ordered, ({ lookup, trusted }) => lookup === 'other' || trusted === 'other')).toEqual([]);
    expect(wrong(ordered, ({ claim }) => ['answered', 'rejected', 'void'].includes(claim))).toEqual([]);
    expect(ordered.length).toBeGreaterThan(0);
  });

  it('allows no mark of an end if any witness shows it: it is followed', () => {
    for (const order of ['mark-completed', 'mark-refunded'] as const) {
      const marked = POSTS.filter((post) => refusalOf(order, post) === null);
      expect(wrong(marked, anyShowsIt)).toEqual([]);
      expect(marked.length).toBeGreaterThan(0);
    }
  });

  it('does not allow closing as not executed what any witness shows done', () => {
    const closed = POSTS.filter((post) => refusalOf('close-not-executed', post) === null);
    expect(wrong(closed, anyShowsIt)).toEqual([]);
  });

  it('is "nothing was sent" only when the claim proves it, and no witness contradicts', () => {
    const said = POSTS.filter((post) => postStep(post, 'unknown').do === 'end-not-sent');
    expect(wrong(said, anyShowsIt)).toEqual([]);
    expect(wrong(said, ({ claim }) => claim === 'sending' || claim === 'ordered')).toEqual([]);
    const rejected = POSTS.filter((post) => postStep(post, 'unknown').do === 'end-rejected');
    expect(wrong(rejected, (post) => anyShowsIt(post) || post.claim !== 'rejected')).toEqual([]);
  });

  it('follows what any witness shows, and parks with a specific reason what is unknown at the end of the window', () => {
    expect(wrong(POSTS.filter(anyShowsIt), (post) => postStep(post, 'same-result').do !== 'follow')).toEqual([]);
    const open = POSTS.filter((post) => executed(post) === 'cannot-tell' && post.windowOver);
    const parked = open.map((post) => [post.lookup, postStep(post, 'unknown')] as const);
    expect(wrong(parked, ([, step]) => step.do !== 'park')).toEqual([]);
    const reasons = new Map(parked.map(([lookup, step]) => [lookup, step.do === 'park' ? step.reason : null]));
    expect(Object.fromEntries(reasons)).toEqual({
      absent: 'not_found_at_service',
      'cannot-tell': 'could_not_ask',
      'proves-nothing': 'unknown_outcome',
      'no-lookup': 'unknown_outcome',
    });
  });

  it('has an order for each of the actions that a parked POST shows', () => {
    expect(POST_ORDERS.map((order) => refusalOf(order, OPEN))).toEqual(POST_ORDERS.map(() => null));
  });
});

describe(`what is known of an end, in each of ${ENDS.length} combinations`, () => {
  const endsAs = (end: EndEvidence) => {
    const step = endStep(end);
    return step.do === 'end' ? step.as : undefined;
  };
  const excluding = { completed: ['failed', 'refunded'], failed: ['completed', 'refunded'], refunded: ['completed'] };

  it('is no end that is not proven, or that another proof excludes', () => {
    const ended = ENDS.flatMap((end) => {
      const as = endsAs(end);
      return as === undefined ? [] : [{ ...end, as }];
    });
    expect(wrong(ended, ({ as, proven }) => !proven.includes(as))).toEqual([]);
    expect(wrong(ended, ({ as, proven }) => proven.some((other) => excluding[as].includes(other)))).toEqual([]);
    expect(new Set(ended.map(({ as }) => as))).toEqual(new Set(ENDINGS));
  });

  it('is failed only on an explicit statement that nothing is held, and against no claim, trusted or not', () => {
    const failed = ENDS.filter((end) => endsAs(end) === 'failed');
    expect(wrong(failed, ({ fundsHeld }) => fundsHeld !== 'absent')).toEqual([]);
    expect(wrong(failed, ({ claimed }) => claimed.includes('completed') || claimed.includes('refunded'))).toEqual([]);
  });

  it('ends no flow by a refusal against a claim, trusted or not: a person is asked', () => {
    const steps = subsetsOf(ENDINGS).map((claimed) => ({ claimed, ...refusedStep(claimed) }));
    const ended = steps.filter((step) => step.do === 'end');
    expect(wrong(ended, ({ claimed }) => claimed.includes('completed') || claimed.includes('refunded'))).toEqual([]);
    expect(new Set(steps.map((step) => step.do))).toEqual(new Set(['end', 'park']));
  });

  it('refunds by itself only a proven failure of what was paid in, if nothing at all contradicts it', () => {
    for (const by of ['input', 'person'] as const) {
      for (const [termsStand, theirsBegun] of BOTH.flatMap((one) => BOTH.map((other) => [one, other] as const))) {
        const sent = ENDS.filter((end) => refundRefusal({ ...end, by, termsStand, theirsBegun }) === null);
        // If the service may be refunding, we refund only on a person's order.
        expect(sent.length > 0).toBe(termsStand && (by === 'person' || !theirsBegun));
        expect(wrong(sent, ({ proven }) => !proven.includes('failed'))).toEqual([]);
        expect(wrong(sent, ({ proven }) => proven.includes('completed') || proven.includes('refunded'))).toEqual([]);
        if (by === 'person') continue;
        expect(wrong(sent, ({ claimed }) => contradictsFailure(claimed))).toEqual([]);
        expect(wrong(sent, ({ fundsHeld }) => fundsHeld !== 'shown')).toEqual([]);
      }
    }
  });
});

describe(`how a payment stands, in each of ${PAYMENT_EVIDENCE.length} combinations of what was looked up and what events said`, () => {
  /** What each end by itself excludes. */
  const against: Readonly<Record<FinalMeaning, readonly Meaning[]>> = {
    succeeded: ['failed', 'funds-held', 'refund-pending', 'refund-failed', 'refunded'],
    failed: ['collected', 'succeeded', 'funds-held', 'refund-failed', 'refunded'],
    refunded: ['succeeded'],
    'refund-failed': ['succeeded'],
  };

  it('never ends without a lookup, nor against anything that the end excludes', () => {
    const ends = PAYMENT_EVIDENCE.flatMap(({ proven, byEvents }) => {
      const state = paymentStateOf(proven, byEvents);
      if (state.kind !== 'ended') return [];
      return [{ proven, byEvents, as: state.meaning, excluded: against[state.meaning] }];
    });
    expect(wrong(ends, ({ proven, as }) => !proven.includes(as))).toEqual([]);
    const isAgainst = (said: readonly Meaning[], excluded: readonly Meaning[]) =>
      said.some((meaning) => excluded.includes(meaning));
    expect(wrong(ends, ({ proven, byEvents, excluded }) => isAgainst([...proven, ...byEvents], excluded))).toEqual([]);
    expect(new Set(ends.map(({ as }) => as))).toEqual(new Set(Object.keys(against)));
  });
});

describe('whether an invoice was paid by another way', () => {
  it('is "not paid" only when the lookup finds it and no trusted event contradicts', () => {
    const all = PAID_SAYS.flatMap((lookup) => BOTH.map((paidByEvent) => ({ lookup, paidByEvent })));
    const payable = all.filter((invoice) => paidElsewhere(invoice) === 'not-paid');
    expect(payable).toEqual([{ lookup: 'not-paid', paidByEvent: false }]);
  });
});

describe('docs/decisions.md', () => {
  it('is what the tables say', async () => {
    const document = new URL('../../docs/decisions.md', import.meta.url);
    const computed = decisionsDocument();
    if (process.env['WRITE_DOCS']) await writeFile(document, computed);
    expect(await readFile(document, 'utf8')).toBe(computed);
  });
});
