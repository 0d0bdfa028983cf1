import type { SubmitOutcome, Facts } from '../../activities/types.js';
import type { TrustedSay } from '../../src/protocol/decisions.js';
import type { GuardedClaim } from './messages.js';
import type { Rejection } from '../../src/protocol/messages.js';

/** One money POST of a flow, with what its kind knows of it. */
export interface Post {
  readonly claim: GuardedClaim;
  /** For people: "the deposit". */
  readonly noun: string;
  /** Sends it under its claim, once. */
  send(): Promise<SubmitOutcome>;
  /** Gets ready for another send; an outcome that it returns is in its way. */
  prepareAgain?(because: 'quote-expired' | 'ordered'): Promise<SubmitOutcome | null>;
  /** How long to look it up before it counts as not found, ms. */
  readonly settleMs: number;
  /** What the service's record must agree with to be taken for ours. */
  readonly expect: Facts;
  /** What trusted events say of it by now. */
  trusted(): TrustedSay;
  /** Untrusted events claim that it was executed. */
  claimed(): boolean;
  /** Lets the flow's events act. */
  readEvents(): void;
  /** Asks a person about trusted events that differ; returns when one was decided. */
  decideOther(): Promise<void>;
  /** False: what a send needs is gone, so that not even a person can order another. @default true */
  readonly sendAgain?: boolean;
  /** The reason to park with, where another one than the usual says more. */
  readonly parkReason?: 'refund_unknown';
  /** What becomes of the flow when a person closes this POST as not executed. @default it ends as `not_executed` */
  readonly onNotExecuted?: (by: string) => never;
}

/** How a submit ended, where it did not end the flow. */
export type Submitted =
  /** The service has it. */
  | { readonly kind: 'accepted'; readonly answer: unknown }
  /** A trusted event proves that the service has it; the answer itself was lost. */
  | { readonly kind: 'proven' }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  /** Nothing was sent, and under this claim nothing will be. */
  | { readonly kind: 'other-request' | 'void' | 'quote-expired'; readonly why: string };
