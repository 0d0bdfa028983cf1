import type { OtherRecord } from '../../src/flows/echoes.js';
import type { SubmitOutcome, Facts, ClaimRef } from '../../activities/types.js';
import type { Cause } from '../../src/protocol/causes.js';
import type { TrustedSay } from '../../src/protocol/decisions.js';
import type { Rejection } from '../../src/protocol/messages.js';

/** One money POST of a flow, with what its kind knows about it. */
export interface Post {
  readonly claim: ClaimRef;
  /** For people: "the deposit". */
  readonly noun: string;
  /**
   * Sends it under its claim, once.
   * @param unasked another send goes out although the lookup cannot tell: the person who ordered it was shown that
   */
  send(unasked: boolean): Promise<SubmitOutcome>;
  /** Gets ready for another send; an outcome that it returns is in its way. */
  prepareAgain?(because: 'quote-expired' | 'ordered'): Promise<SubmitOutcome | null>;
  /** How long to look it up before it counts as not found, ms. */
  readonly settleMs: number;
  /** The service's record must match these facts to count as ours. */
  readonly expect: Facts;
  /** What its request fixes: an answer that names something else is of another request. */
  readonly fixed: Facts;
  /** What trusted events say about it by now. */
  trusted(): TrustedSay;
  /** The lookup has shown that what it is for was done: by it, or in another way. @default no */
  shown?(): boolean;
  /** Untrusted events claim that it was executed. */
  claimed(): boolean;
  /** True: others can pay, too, so that what the service has may be theirs. @default false */
  readonly othersPay?: boolean;
  /** Lets the flow's events act. */
  readEvents(): void;
  /** Called as soon as its outcome is unknown. @default nothing */
  onUnknown?(): void;
  /** Asks a person about trusted events that differ; returns when one was decided. */
  decideOther(): Promise<void>;
  /** False: what a send needs is gone, so not even a person can order another. @default true */
  readonly sendAgain?: boolean;
  /** Why it must not be sent again by what came since it was sent; undefined: nothing did. */
  whyNotAgain?(): Cause | undefined;
  /** The reason to park with, if a more specific one than the usual exists. */
  readonly parkReason?: 'refund_unknown';
  /** Ends the flow when a person closes this POST as not executed. @default it ends as `not_executed` */
  readonly onNotExecuted?: (by: string) => never;
}

/** What trusted events say about it, or the lookup has shown. */
export const knownOf = (post: Post): TrustedSay => (post.shown?.() ? 'shown' : post.trusted());

/** To be sent again. `send-unasked`: even if the lookup cannot tell. */
export type SendAgain = 'send-again' | 'send-unasked';

/** How a submit ended, if it did not end the flow. */
export type Submitted =
  /**
   * The service has it. `maybeAnother`: it may be another payer's, for kinds that others can pay, too. `isRepeat`: more
   * than one POST of it may have left.
   */
  | {
      readonly kind: 'accepted';
      readonly answer: unknown;
      readonly maybeAnother?: true;
      /** The answer is of another request: what the service has is not this one. */
      readonly other?: OtherRecord | undefined;
      readonly isRepeat?: true;
    }
  /** A trusted event or the lookup proves that the service has it; the answer itself was lost. */
  | { readonly kind: 'proven'; readonly maybeAnother?: true }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  /** Nothing was sent, and under this claim nothing will be. */
  | { readonly kind: 'other-request' | 'void'; readonly why: string };

/** The service has it. */
export type Accepted = Extract<Submitted, { readonly kind: 'accepted' }>;
