import type { PostReading, SubmitOutcome } from '../../activities/types.js';
import type { Cause, CauseCode } from '../../src/protocol/causes.js';
import type { PostEvidence, Repeat } from '../../src/protocol/decisions.js';
import type { PostOrder } from '../../src/protocol/legal-orders.js';
import type { ParkReason, ParkAction } from '../../src/protocol/vocabulary.js';
import type { Flow } from './flow.js';
import { knownOf, type Post } from './post.js';

const HELD_BACK = 'a trusted event names this reference, so it was not sent';

export type Unsettled = Extract<SubmitOutcome, { kind: 'unknown' | 'duplicate' | 'contradicted' }>;

/** What a flow knows about a POST that it cannot settle yet. */
export interface Open {
  readonly why: string;
  readonly repeat: Repeat;
  readonly saidToExist: boolean;
  readonly refused?: string | undefined;
  /** It was never sent, because of an event: it must not be sent. */
  readonly heldBack: boolean;
  /** The lookup was made for the whole settle window. */
  readonly windowOver: boolean;
  /** Until then a slow service may still execute it; ms since the epoch. */
  readonly underWayUntilMs: number;
}

export const leftMs = ({ underWayUntilMs }: Open): number => Math.max(0, underWayUntilMs - Date.now());

/** While the POST may be under way, neither another send nor its closing is safe, whatever the lookup says. */
export function whyTooEarly(action: PostOrder, open: Open): Cause | null {
  // If the service said that it knows the reference, it has answered.
  if (open.saidToExist || leftMs(open) === 0) return null;
  if (action !== 'send-again' && action !== 'close-not-executed') return null;
  const until = new Date(open.underWayUntilMs).toISOString();
  return { code: 'post_under_way', text: `its POST may still be under way: order it again after ${until}` };
}

export function openOf(flow: Flow, post: Post, outcome: Unsettled): Open {
  const rest = {
    repeat: 'unknown',
    saidToExist: false,
    heldBack: false,
    windowOver: false,
    underWayUntilMs: Date.now() + flow.scaled(post.settleMs),
  } as const;
  switch (outcome.kind) {
    case 'duplicate':
      // A repeat that the service answers with DUPLICATE proves that it has the first one.
      return { ...rest, why: 'the service knows this reference already', saidToExist: true };
    case 'contradicted':
      return { ...rest, why: HELD_BACK, heldBack: true, underWayUntilMs: 0 };
    case 'unknown': {
      const repeat = post.sendAgain === false ? 'unknown' : outcome.repeat;
      return { ...rest, why: outcome.reason, repeat, refused: outcome.refused };
    }
    default:
      return outcome satisfies never;
  }
}

export const evidenceOf = (flow: Flow, post: Post, open: Open, { claim, lookup }: PostReading): PostEvidence => ({
  claim,
  lookup,
  trusted: knownOf(post),
  untrusted: post.claimed(),
  saidToExist: open.saidToExist,
  windowOver: open.windowOver,
  overdue: flow.deadlinePassed,
});

/** For a person's eyes. */
export function shownOf(
  post: Post,
  { why, refused, heldBack }: Open,
  found: PostReading,
): Readonly<Record<string, unknown>> {
  if (found.lookup === 'other') return { ours: found.ours, theirs: found.theirs };
  const { operation, reference } = post.claim;
  const asked = found.why === undefined ? {} : { asked: found.why };
  const notAgain = post.whyNotAgain?.();
  if (heldBack) {
    const code: CauseCode = 'event_reports_it';
    return { operation, reference, why: `${why}; and no event proves it`, code };
  }
  return {
    operation,
    reference,
    claim: found.claim,
    why: refused === undefined ? why : 'another send was refused; of the earlier one that says nothing',
    ...asked,
    ...(refused === undefined ? {} : { refused }),
    ...(notAgain === undefined ? {} : { notAgain: notAgain.text, code: notAgain.code }),
  };
}

/** Actions of the reason that cannot be carried out for this POST. */
export function impossible(post: Post, open: Open, reason: ParkReason): readonly ParkAction[] {
  const isBarred = post.sendAgain === false || open.heldBack || post.whyNotAgain?.() !== undefined;
  return [
    ...(isBarred ? (['send-again'] as const) : []),
    // The service's record under the reference of a payment is not its money; under that of a refund it may be.
    ...(reason === 'duplicate_mismatch' && post.parkReason === undefined ? (['mark-refunded'] as const) : []),
  ];
}
