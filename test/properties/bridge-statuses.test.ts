import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { classifyStatus, PAYMENT_WORDS } from '../../src/protocol/statuses.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { BRIDGE_STATUSES, type BridgeStatus } from '../../src/contract/vocabulary.js';
import {
  asBridgeStatus,
  cryptoWasPaid,
  foldStatus,
  isEnding,
  NOTHING_SEEN,
  rises,
  bridgeStateOf,
  type BridgeState,
  type SeenStatuses,
} from '../../workflows/bridge/statuses.js';
import { endStepOf, type Transfer } from '../../workflows/bridge/transfer.js';
import { trusted } from '../harness/inputs.js';

interface Step {
  readonly order: readonly BridgeStatus[];
  readonly before: SeenStatuses;
  readonly after: SeenStatuses;
}

/** Every order of every subset: each beginning of an order is an order of a smaller set. */
function* everyStep(order: readonly BridgeStatus[] = [], before: SeenStatuses = NOTHING_SEEN): Generator<Step> {
  for (const status of BRIDGE_STATUSES) {
    if (order.includes(status)) continue;
    const step = { order: [...order, status], before, after: foldStatus(before, status) };
    yield step;
    yield* everyStep(step.order, step.after);
  }
}

const setOf = (order: readonly BridgeStatus[]) => order.toSorted().join(' ');
const resultOf = (seen: SeenStatuses) => JSON.stringify({ seen, state: bridgeStateOf(seen) });
const heightOf = (standing: BridgeState) =>
  standing.kind === 'open' && standing.highest !== null ? BRIDGE_STATUSES.indexOf(standing.highest) : -1;

describe('the statuses of a bridge transfer (fault 26)', () => {
  it('give one result for each set, in all 109,601 orders of the 256 subsets, 40,320 of them with all eight', () => {
    const results = new Map([[setOf([]), new Set([resultOf(NOTHING_SEEN)])]]);
    let orders = 1;
    let complete = 0;
    for (const { order, after } of everyStep()) {
      orders += 1;
      if (order.length === BRIDGE_STATUSES.length) complete += 1;
      const set = setOf(order);
      results.set(set, (results.get(set) ?? new Set()).add(resultOf(after)));
    }
    expect({ orders, complete, sets: results.size }).toEqual({ orders: 109_601, complete: 40_320, sets: 256 });
    expect([...results.values()].filter((found) => found.size !== 1)).toEqual([]);
    // With both endings in it, what all orders give is a conflict.
    expect([...(results.get(setOf(BRIDGE_STATUSES)) ?? [])].map((text) => JSON.parse(text).state)).toEqual([
      { kind: 'conflict' },
    ]);
  });

  it('only rise, and their endings stick', () => {
    const wrong: string[] = [];
    for (const { order, before, after } of everyStep()) {
      const [was, is] = [bridgeStateOf(before), bridgeStateOf(after)];
      const kept = before.seen.every((status) => after.seen.includes(status));
      if (!kept || !mayFollow(was, is)) wrong.push(`${order.join(' ')}: ${resultOf(before)} → ${resultOf(after)}`);
    }
    expect(wrong).toEqual([]);
  });

  it('let REFUNDED follow FAILED, in either order of arrival', () => {
    const seen = (...order: BridgeStatus[]) => bridgeStateOf(order.reduce(foldStatus, NOTHING_SEEN));
    expect(seen('FAILED')).toEqual({ kind: 'ended', ending: 'FAILED' });
    expect(seen('FAILED', 'REFUNDED')).toEqual({ kind: 'ended', ending: 'REFUNDED' });
    expect(seen('REFUNDED', 'FAILED')).toEqual({ kind: 'ended', ending: 'REFUNDED' });
  });

  it('are a conflict exactly if COMPLETED comes with FAILED or REFUNDED', () => {
    for (const { order, after } of everyStep()) {
      const both = order.includes('COMPLETED') && (order.includes('FAILED') || order.includes('REFUNDED'));
      if ((bridgeStateOf(after).kind === 'conflict') !== both) throw new Error(order.join(' '));
    }
  });

  it('change nothing when they are repeated', () => {
    const orders = fc.array(fc.constantFrom(...BRIDGE_STATUSES), { maxLength: 40 });
    fc.assert(
      fc.property(orders, (order) => {
        const once = [...new Set(order)].reduce(foldStatus, NOTHING_SEEN);
        expect(order.reduce(foldStatus, NOTHING_SEEN)).toEqual(once);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are passed on only if they are above everything that is known', () => {
    for (const { order, before } of everyStep()) {
      const status = order.at(-1) as BridgeStatus;
      const highest = Math.max(-1, ...before.seen.map((word) => BRIDGE_STATUSES.indexOf(word)));
      if (rises(before, status) !== BRIDGE_STATUSES.indexOf(status) > highest) throw new Error(order.join(' '));
    }
  });

  it('do not rise by one that is known already', () => {
    for (const status of BRIDGE_STATUSES) expect(rises(foldStatus(NOTHING_SEEN, status), status)).toBe(false);
  });

  it('are open with the highest one, before any ending', () => {
    expect(bridgeStateOf(NOTHING_SEEN)).toEqual({ kind: 'open', highest: null });
    const seen = foldStatus(foldStatus(NOTHING_SEEN, 'SETTLING'), 'DEPOSIT_CONFIRMED');
    expect(bridgeStateOf(seen)).toEqual({ kind: 'open', highest: 'SETTLING' });
  });

  it('end a transfer only with COMPLETED, FAILED or REFUNDED', () => {
    expect(BRIDGE_STATUSES.filter(isEnding)).toEqual(['COMPLETED', 'FAILED', 'REFUNDED']);
  });

  it('say that the crypto was paid if one of them does, whatever the others say', () => {
    const paid = (...order: BridgeStatus[]) => cryptoWasPaid(order.reduce(foldStatus, NOTHING_SEEN));
    expect(paid('DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'FAILED')).toBe(true);
    expect(paid('DEPOSIT_INITIATED', 'DEPOSIT_CONFIRMED', 'FAILED')).toBe(false);
  });

  it('are these eight words and no other, however alike', () => {
    expect(BRIDGE_STATUSES.map(asBridgeStatus)).toEqual([...BRIDGE_STATUSES]);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('completed', 'COMPLETED ', '__proto__', '')), (word) => {
        expect(asBridgeStatus(word)).toBe((BRIDGE_STATUSES as readonly string[]).includes(word) ? word : undefined);
      }),
    );
    expect(asBridgeStatus(null)).toBeUndefined();
  });
});

/** Open rises or ends; an ending stays, except for FAILED → REFUNDED, or becomes a conflict; a conflict stays. */
function mayFollow(was: BridgeState, is: BridgeState): boolean {
  switch (was.kind) {
    case 'conflict':
      return is.kind === 'conflict';
    case 'open':
      return is.kind !== 'open' || heightOf(is) >= heightOf(was);
    case 'ended':
      if (is.kind === 'conflict') return true;
      return is.kind === 'ended' && (is.ending === was.ending || (was.ending === 'FAILED' && is.ending === 'REFUNDED'));
    default:
      return was satisfies never;
  }
}

describe('a status that is written in small letters, or with spaces around it', () => {
  const statusIn = (flowId: string, status: string) => {
    const row: Partial<InboxRow> = { source: 'callback', body: { event: 'any', data: { status } } };
    const event = eventOfRow(flowId, row as InboxRow);
    return typeof event === 'object' ? event.status : null;
  };

  it.each(BRIDGE_STATUSES)(
    'is %s to a bridge transfer: an ending that is not understood would contradict none',
    (word) => {
      for (const said of [word, word.toLowerCase(), ` ${word} `, `${word.toLowerCase()}\n`])
        expect(asBridgeStatus(statusIn('bridge-transfer/r', said))).toBe(word);
    },
  );

  it('means the same to a payment; one that the interface does not have is kept in its spelling', () => {
    for (const said of ['SUCCESSFUL', 'successful', ' Successful '])
      expect(classifyStatus(PAYMENT_WORDS, statusIn('bank-withdrawal/r', said))).toBe('succeeded');
    expect(statusIn('bridge-transfer/r', 'Almost done')).toBe('ALMOST_DONE');
  });
});

describe('an untrusted event beside a proven FAILED of a transfer', () => {
  const FAILED_EARLY = { failureStage: 'deposit' };
  const stepAfter = (facts: Record<string, string>, ...claimed: readonly FlowEvent[]) =>
    endStepOf({
      statuses: foldStatus(NOTHING_SEEN, 'FAILED'),
      failure: trusted('FAILED', { facts }),
      cameIn: {},
      theirRefund: {},
      unverified: claimed.map((event) => ({ ...event, trusted: false, proof: null })),
    } as unknown as Transfer);

  it.each([
    ['COMPLETED', {}, 'park'],
    ['REFUNDED', {}, 'park'],
    ['PAYMENT_SENT', {}, 'refund'],
    ['FAILED', { refundAnnounced: 'true' }, 'refund'],
  ])('vetoes that it ends as failed by itself with %s %j', (word, facts, instead) => {
    expect(stepAfter(FAILED_EARLY)).toEqual({ do: 'end', as: 'failed' });
    expect(stepAfter(FAILED_EARLY, trusted(word, { facts })).do).toBe(instead);
  });

  it('vetoes nothing when it adds no fact, or when a refund is due anyway', () => {
    const end = { do: 'end', as: 'failed' };
    expect(stepAfter(FAILED_EARLY, trusted('DEPOSIT_INITIATED'))).toEqual(end);
    expect(stepAfter(FAILED_EARLY, trusted('FAILED', { facts: FAILED_EARLY }))).toEqual(end);
    expect(stepAfter({ refundAnnounced: 'true' }, trusted('COMPLETED'))).toEqual({ do: 'refund' });
  });
});
