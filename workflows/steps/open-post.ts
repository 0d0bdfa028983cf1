import type { PostReading, RepeatSetting, SubmitOutcome } from '../../activities/outcomes.js';
import type { PostEvidence } from '../../src/flows/decisions.js';
import type { ParkAction, ParkReason } from '../../src/flows/vocabulary.js';
import type { Post } from './post.js';

const HELD_BACK = 'a trusted event names this reference, so it was not sent';

export type Unsettled = Extract<SubmitOutcome, { kind: 'unknown' | 'duplicate' | 'contradicted' }>;

/** What a flow knows of a POST that it cannot settle yet. */
export interface Open {
  readonly why: string;
  readonly repeat: RepeatSetting;
  readonly saidToExist: boolean;
  readonly refused?: string | undefined;
  /** It was never sent, because of an event: nobody may send it. */
  readonly heldBack: boolean;
  /** The lookup was asked for the whole settle window. */
  readonly windowOver: boolean;
}

export function openOf(outcome: Unsettled, post: Post): Open {
  const rest = { repeat: 'unknown', saidToExist: false, heldBack: false, windowOver: false } as const;
  switch (outcome.kind) {
    case 'duplicate':
      // A repeat that the service answers with DUPLICATE proves that it has the first one.
      return { ...rest, why: 'the service knows this reference already', saidToExist: true };
    case 'contradicted':
      return { ...rest, why: HELD_BACK, heldBack: true };
    case 'unknown': {
      const repeat = post.sendAgain === false ? 'unknown' : outcome.repeat;
      return { ...rest, why: outcome.reason, repeat, refused: outcome.refused };
    }
    default:
      return outcome satisfies never;
  }
}

export const evidenceOf = (post: Post, open: Open, { claim, lookup }: PostReading): PostEvidence => ({
  claim,
  lookup,
  trusted: post.trusted(),
  untrusted: post.claimed(),
  saidToExist: open.saidToExist,
  windowOver: open.windowOver,
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
  if (heldBack) return { operation, reference, why: `${why}; and no event proves it` };
  return {
    operation,
    reference,
    claim: found.claim,
    why: refused === undefined ? why : 'another send was refused; of the earlier one that says nothing',
    ...asked,
    ...(refused === undefined ? {} : { refused }),
  };
}

/** Actions of the reason that cannot be carried out for this POST. */
export function impossible(post: Post, open: Open, reason: ParkReason): readonly ParkAction[] {
  return [
    ...(post.sendAgain === false || open.heldBack ? (['send-again'] as const) : []),
    // What the service has under the reference of a payment is not its money; of a refund it may be.
    ...(reason === 'duplicate_mismatch' && post.parkReason === undefined ? (['mark-refunded'] as const) : []),
  ];
}
