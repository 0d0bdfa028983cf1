import { condition } from '@temporalio/workflow';
import type { Facts, RepeatSetting, UnknownSettled } from '../../activities/outcomes.js';
import type { ParkAction, ParkReason } from '../../src/flows/vocabulary.js';
import type { Rejection } from '../../src/store/claim.js';
import { act } from './activities.js';
import { endFlow, FlowEnd } from './flow-end.js';
import type { Flow } from './flow.js';
import { park, type Resolution } from './park.js';
import { LOOK_WHILE_PARKED_MS, POLL, STORE } from './policies.js';
import { observed, type GuardedClaim, type Observed } from './stop.js';

export interface UnknownPost {
  readonly claim: GuardedClaim;
  /** How long to look it up before it counts as not found, ms. */
  readonly windowMs: number;
  /** `DUPLICATE_REFERENCE` of the operation: only where the service treats a repeat safely, we send again by ourselves. */
  readonly repeat: RepeatSetting;
  /** A trusted event has proven it meanwhile. */
  readonly proven: () => boolean;
  /** What the service's record must agree with to be taken for ours. */
  readonly expect: Facts;
  /** The service answered that it knows the reference. */
  readonly saidToExist?: boolean;
  /** How the service refused another send of it: shown to the person who decides. */
  readonly refused?: string | undefined;
  /** The reason to park with, where another one than the usual two says more. */
  readonly parkReason?: 'refund_unknown';
  /** What becomes of the flow when a person closes this POST as not executed. @default it ends as `not_executed` */
  readonly onNotExecuted?: (by: string) => never | Promise<never>;
  /** False: a person cannot order another send, either. @default true */
  readonly sendAgain?: boolean;
}

export type Settled =
  | { readonly kind: 'accepted'; readonly answer: unknown }
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | { readonly kind: 'proven' }
  | { readonly kind: 'send-again' };

/**
 * Settles a POST whose outcome is unknown. The claim and the status lookup are asked for the whole settle window, and a
 * trusted event may prove it meanwhile; then a person decides, or a late event after all. Never by itself: failed.
 */
export async function settleUnknown(flow: Flow, post: UnknownPost): Promise<Settled> {
  const asking = ask(flow, post, 'Ask what became of it', post.windowMs);
  await condition(() => asking.settled() || post.proven());
  if (!asking.settled()) {
    asking.cancel();
    return { kind: 'proven' };
  }
  return judge(flow, post, await asking.promise);
}

function ask(flow: Flow, post: UnknownPost, summary: string, windowMs: number): Observed<UnknownSettled> {
  return observed(() =>
    act(POLL, summary, flow.timeScale).settleUnknown({
      claim: post.claim,
      expect: post.expect,
      windowMs: flow.scaled(windowMs),
      timeScale: flow.timeScale,
      ...(post.saidToExist === undefined ? {} : { saidToExist: post.saidToExist }),
    }),
  );
}

async function judge(flow: Flow, post: UnknownPost, found: UnknownSettled): Promise<Settled> {
  switch (found.kind) {
    case 'accepted':
    case 'rejected':
      return found;
    case 'void':
      return endFlow('failed', 'not_executed', `It was given up (${found.reason}); nothing was sent.`);
    case 'mismatch':
      return askPerson(flow, post, 'duplicate_mismatch', { ours: found.ours, theirs: found.theirs });
    case 'not-found':
      if (post.proven()) return { kind: 'proven' };
      if (post.repeat !== 'unknown')
        return sendAgain(flow, post, 'DUPLICATE_REFERENCE', `the service is set to "${post.repeat}"`);
      if (found.inconclusive === true) return askPersonAndService(flow, post);
      return askPerson(
        flow,
        post,
        post.parkReason ?? (found.lookup ? 'not_found_at_service' : 'unknown_outcome'),
        evidenceOf(post),
      );
    default:
      return found satisfies never;
  }
}

const evidenceOf = ({ claim: { operation, reference }, refused }: UnknownPost) => ({
  operation,
  reference,
  claim: 'sending',
  ...(refused === undefined ? {} : { refused, why: 'another send was refused; of the earlier one that says nothing' }),
});

/** The service's record may be older than the POST, and may yet move on by it: look on while a person decides. */
async function askPersonAndService(flow: Flow, post: UnknownPost): Promise<Settled> {
  const asking = ask(flow, post, 'Ask on, while a person decides', LOOK_WHILE_PARKED_MS);
  const evidence = { ...evidenceOf(post), why: 'the record of the service may be older than what was sent' };
  const decided = () => post.proven() || asking.settled();
  const decision = await park(flow, 'unknown_outcome', evidence, decided, impossible(post));
  if (decision === 'decided' && asking.settled()) return judge(flow, post, await asking.promise);
  asking.cancel();
  return decide(flow, post, decision);
}

export interface AskedSend {
  readonly claim: GuardedClaim;
  readonly why: string;
  readonly proven: () => boolean;
  /** False where nothing can be sent, whoever orders it. @default true */
  readonly sendAgain?: boolean;
}

/**
 * Asks a person before a further send of what may have been sent before. Returns where it is to be tried again, or was
 * proven meanwhile.
 */
export async function askBeforeAnotherSend(flow: Flow, asked: AskedSend): Promise<void> {
  const evidence = { operation: asked.claim.operation, reference: asked.claim.reference, why: asked.why };
  const without = asked.sendAgain === false ? (['send-again'] as const) : [];
  const decision = await park(flow, 'unknown_outcome', evidence, asked.proven, without);
  if (decision === 'decided' || decision.action === 'send-again') return;
  await carryOut(flow, asked.claim, decision);
}

async function askPerson(
  flow: Flow,
  post: UnknownPost,
  reason: 'duplicate_mismatch' | 'not_found_at_service' | 'unknown_outcome' | 'refund_unknown',
  evidence: Readonly<Record<string, unknown>>,
): Promise<Settled> {
  return decide(flow, post, await park(flow, reason, evidence, post.proven, impossible(post, reason)));
}

function impossible(post: UnknownPost, reason?: ParkReason): readonly ParkAction[] {
  const isRefund = post.parkReason === 'refund_unknown';
  return [
    ...(post.sendAgain === false ? (['send-again'] as const) : []),
    // What the service has under the reference of a payment is not its money; of a refund it may be.
    ...(reason === 'duplicate_mismatch' && !isRefund ? (['mark-refunded'] as const) : []),
  ];
}

async function decide(flow: Flow, post: UnknownPost, decision: Resolution | 'decided'): Promise<Settled> {
  if (decision === 'decided') return { kind: 'proven' };
  if (decision.action === 'send-again') return sendAgain(flow, post, decision.actor, decision.note);
  await carryOut(flow, post.claim, decision, post.onNotExecuted);
  return settleUnknown(flow, post);
}

/** Ends the flow as a person orders. Returns only where the claim turned out to have an answer after all. */
async function carryOut(
  flow: Flow,
  claim: GuardedClaim,
  decision: Resolution,
  onNotExecuted: NonNullable<UnknownPost['onNotExecuted']> = (by) =>
    endFlow('failed', 'not_executed', `Closed as not executed by ${by}`),
): Promise<void> {
  const { action, actor, note } = decision;
  const end = (state: 'completed' | 'refunded', word: string) =>
    new FlowEnd({ state, reason: null, detail: `Marked as ${word} by ${actor}: ${note}` });
  if (action === 'mark-completed') throw end('completed', 'completed');
  if (action === 'mark-refunded') throw end('refunded', 'refunded');
  const order = { actor, note };
  const phase = await act(STORE, 'Close the claim as not executed', flow.timeScale).closeNotExecuted({
    ...claim,
    order,
  });
  if (phase === 'void') await onNotExecuted(`${actor}: ${note}`);
  flow.note(`not closed: the claim is ${phase}`);
}

async function sendAgain(flow: Flow, post: UnknownPost, actor: string, note: string): Promise<Settled> {
  const ordered = await act(STORE, 'Order another send', flow.timeScale).orderSendAgain({
    ...post.claim,
    order: { actor, note },
  });
  // The claim moved meanwhile: an answer came in after all.
  if (!ordered) return settleUnknown(flow, post);
  flow.note(`to be sent again: ${note}`, actor);
  return { kind: 'send-again' };
}
