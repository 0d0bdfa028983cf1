import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PostReading } from '../../activities/types.js';
import type { Cause } from '../../src/protocol/causes.js';
import type { TrustedSay } from '../../src/protocol/decisions.js';
import { POST_ORDERS } from '../../src/protocol/legal-orders.js';
import type { Flow } from '../../workflows/engine/flow.js';
import {
  evidenceOf,
  impossible,
  leftMs,
  openOf,
  shownOf,
  whyTooEarly,
  type Open,
  type Unsettled,
} from '../../workflows/engine/open-post.js';
import { knownOf, type Post } from '../../workflows/engine/post.js';

const NOW = Date.UTC(2026, 0, 1);
/** Its waits are half as long. */
const flow = { deadlinePassed: false, scaled: (ms: number) => ms / 2 } as Flow;
const claim = { operation: 'createCryptoSend', reference: 'r-1' };
const postOf = (more: Partial<Post> = {}) => {
  const says = { settleMs: 90_000, trusted: (): TrustedSay => 'nothing', claimed: () => false };
  return { claim, noun: 'the crypto send', ...says, ...more } as Post;
};
const unknown: Unsettled = { kind: 'unknown', reason: 'its answer was lost', repeat: 'same-result' };
const opened = (outcome: Unsettled = unknown, more: Partial<Post> = {}) => openOf(flow, postOf(more), outcome);
const EVENT_CAME: Cause = { code: 'event_came', text: 'an event came' };
const found: PostReading = { claim: 'sending', lookup: 'cannot-tell' };

describe('a payment request whose outcome is unknown', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  it('may be under way for the whole settle window, and nothing says yet that the service has it', () => {
    expect(opened()).toEqual({
      why: 'its answer was lost',
      repeat: 'same-result',
      refused: undefined,
      saidToExist: false,
      heldBack: false,
      windowOver: false,
      underWayUntilMs: NOW + 45_000,
    });
    expect(opened({ ...unknown, refused: 'limit' }).refused).toBe('limit');
  });

  it('is never repeated by the flow itself if what a send needs is gone', () => {
    expect(opened(unknown, { sendAgain: false }).repeat).toBe('unknown');
    expect(opened(unknown, { sendAgain: true }).repeat).toBe('same-result');
  });

  it('exists at the service if that knows its reference, and is never repeated by the flow itself', () => {
    const open = opened({ kind: 'duplicate', repeat: 'same-result' });
    expect(open).toMatchObject({ saidToExist: true, heldBack: false, repeat: 'unknown', windowOver: false });
    expect(open.underWayUntilMs).toBe(NOW + 45_000);
  });

  it('was held back if a trusted event came first: then nothing is under way', () => {
    const open = opened({ kind: 'contradicted' });
    expect(open).toMatchObject({ heldBack: true, saidToExist: false, repeat: 'unknown', windowOver: false });
    expect(leftMs(open)).toBe(0);
  });

  it('is under way for a time that runs off, and is never negative', () => {
    const open = opened();
    expect(leftMs(open)).toBe(45_000);
    jest.setSystemTime(NOW + 44_999);
    expect(leftMs(open)).toBe(1);
    jest.setSystemTime(NOW + 50_000);
    expect(leftMs(open)).toBe(0);
  });

  it('is neither sent again nor closed by a person while it may be under way; every other order is', () => {
    const open = opened();
    const refused = POST_ORDERS.filter((order) => whyTooEarly(order, open) !== null);
    expect(refused).toEqual(['send-again', 'close-not-executed']);
    expect(whyTooEarly('send-again', open)).toMatchObject({ code: 'post_under_way' });
    jest.setSystemTime(NOW + 45_000);
    expect(POST_ORDERS.filter((order) => whyTooEarly(order, open) !== null)).toEqual([]);
  });

  it('is not under way once the service has said that it knows the reference', () => {
    const open = opened({ kind: 'duplicate', repeat: 'unknown' });
    expect(POST_ORDERS.map((order) => whyTooEarly(order, open))).toEqual(POST_ORDERS.map(() => null));
  });

  it('is judged by everything that is known: claim, lookup, events, and the deadline', () => {
    const evidence = evidenceOf(flow, postOf(), opened(), found);
    expect(evidence).toEqual({
      claim: 'sending',
      lookup: 'cannot-tell',
      trusted: 'nothing',
      untrusted: false,
      saidToExist: false,
      windowOver: false,
      overdue: false,
    });
    const post = postOf({ trusted: () => 'other', claimed: () => true });
    const open = { ...opened({ kind: 'duplicate', repeat: 'unknown' }), windowOver: true };
    const overdue = { ...flow, deadlinePassed: true };
    expect(evidenceOf(overdue, post, open, { claim: 'void', lookup: 'absent' })).toEqual({
      claim: 'void',
      lookup: 'absent',
      trusted: 'other',
      untrusted: true,
      saidToExist: true,
      windowOver: true,
      overdue: true,
    });
  });

  it('is known to exist if the lookup has shown it, whatever the events say', () => {
    expect(knownOf(postOf({ shown: () => true }))).toBe('shown');
    expect(knownOf(postOf({ shown: () => false, trusted: () => 'other' }))).toBe('other');
    expect(knownOf(postOf({ trusted: () => 'other' }))).toBe('other');
  });
});

describe('what a person sees of a payment request whose outcome is unknown', () => {
  const shown = (open: Open, more: Partial<PostReading> = {}, post = postOf()) =>
    shownOf(post, open, { ...found, ...more });

  it('is which one it is, what its claim says, and why its outcome is unknown', () => {
    expect(shown(opened())).toStrictEqual({ ...claim, claim: 'sending', why: 'its answer was lost' });
  });

  it('is also why the service could not be asked, how a repeat was refused, and what is against another send', () => {
    const post = postOf({ whyNotAgain: () => EVENT_CAME });
    expect(shown(opened({ ...unknown, refused: 'limit' }), { why: 'HTTP 503' }, post)).toEqual({
      ...claim,
      claim: 'sending',
      why: 'another send was refused; of the earlier one that says nothing',
      asked: 'HTTP 503',
      refused: 'limit',
      notAgain: EVENT_CAME.text,
      code: EVENT_CAME.code,
    });
  });

  it('is both sides if the service has another record under its reference', () => {
    const sides = { ours: { amount: '7' }, theirs: { amount: '8' } };
    expect(shown(opened(), { lookup: 'other', ...sides })).toEqual(sides);
  });

  it('is the event that held it back, which nothing proves', () => {
    const held = shown(opened({ kind: 'contradicted' }));
    expect(held).toEqual({
      ...claim,
      why: expect.stringMatching(/^a trusted event names .*; and no event proves it$/),
    });
  });
});

describe('orders about a payment request whose outcome is unknown', () => {
  const barred = (post: Post, open = opened()) => impossible(post, open, 'not_found_at_service');

  it('are all possible, unless there is a reason against one', () => {
    expect(barred(postOf())).toEqual([]);
    expect(barred(postOf({ sendAgain: true, whyNotAgain: () => undefined }))).toEqual([]);
  });

  it.each([
    ['what a send needs is gone', postOf({ sendAgain: false }), opened()],
    ['an event held it back', postOf(), opened({ kind: 'contradicted' })],
    ['something came that is against it', postOf({ whyNotAgain: () => EVENT_CAME }), opened()],
  ])('exclude another send if %s', (_why, post, open) => {
    expect(barred(post, open)).toEqual(['send-again']);
  });

  it('exclude "refunded" for a record of another payment, unless it is a refund that is asked about', () => {
    expect(impossible(postOf(), opened(), 'duplicate_mismatch')).toEqual(['mark-refunded']);
    expect(impossible(postOf({ sendAgain: false }), opened(), 'duplicate_mismatch')).toEqual([
      'send-again',
      'mark-refunded',
    ]);
    expect(impossible(postOf({ parkReason: 'refund_unknown' }), opened(), 'duplicate_mismatch')).toEqual([]);
    expect(impossible(postOf(), opened(), 'unknown_outcome')).toEqual([]);
  });
});
