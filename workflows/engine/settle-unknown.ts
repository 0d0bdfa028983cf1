import { condition } from '@temporalio/workflow';
import type { PostReading } from '../../activities/types.js';
import { parkReasonOf, postStep, type PostParkReason } from '../../src/protocol/decisions.js';
import { refusalOf, type PostOrder } from '../../src/protocol/legal-orders.js';
import type { ParkReason } from '../../src/protocol/vocabulary.js';
import { act } from './activities.js';
import {
  evidenceOf,
  impossible,
  leftMs,
  openOf,
  shownOf,
  whyTooEarly,
  type Open,
  type Unsettled,
} from './open-post.js';
import { park } from './park.js';
import {
  LAST_LOOK,
  LOOK_WHILE_PARKED_MS,
  POLL,
  RECORD_PATIENCE_MS,
  SETTLE_PATIENCE_MS,
  STORE,
  STORE_PATIENCE_MS,
} from './policies.js';
import { holdBack } from './stop.js';
import { AT_LEAST_MS, observed, within } from './waits.js';
import { endFlow, endFromDecision } from './flow-end.js';
import type { Flow } from './flow.js';
import type { Resolution } from './messages.js';
import { provenOf, readInbox } from './inbox.js';
import { knownOf, type Post, type SendAgain, type Submitted } from './post.js';

/**
 * Settles a POST whose outcome is unknown: by the claim, the lookup and trusted events for the whole settle window,
 * else by a person. Returns how it ended, or that it is to be sent again.
 */
export async function settleUnknown(flow: Flow, post: Post, outcome: Unsettled): Promise<Submitted | SendAgain> {
  flow.money = { at: 'sent' };
  const open = openOf(flow, post, outcome);
  if (open.heldBack) flow.enter('outcome-unknown', 'send-held-back', `${post.noun} (${open.why})`);
  else {
    const what = `${post.noun} may have been sent, and its outcome is unknown`;
    flow.enter('outcome-unknown', 'outcome-unknown', `${what} (${open.why})`);
  }
  if (!open.heldBack) post.onUnknown?.();
  post.readEvents();
  if (open.heldBack) {
    // The event may be in the inbox, and not have reached the flow.
    await readInbox(flow);
    return settleOn(flow, post, open);
  }
  return askInWindow(flow, post, open);
}

/** Asks until the settle window is over. An event or the deadline comes first: then by what is known at that moment. */
async function askInWindow(flow: Flow, post: Post, open: Open): Promise<Submitted | SendAgain> {
  const asking = ask(flow, post, open);
  const isSettled = () => asking.settled() || knownOf(post) !== 'nothing';
  const patienceMs = leftMs(open) + Math.max(AT_LEAST_MS, flow.scaled(SETTLE_PATIENCE_MS));
  const summary = 'Settle what is unknown';
  await condition(() => isSettled() || flow.deadlinePassed, patienceMs, { summary });
  if (asking.settled()) return decide(flow, post, { ...open, windowOver: true }, await asking.promise);
  asking.cancel();
  return settleOn(flow, post, open);
}

const CANNOT_ASK: PostReading = { claim: 'sending', lookup: 'cannot-tell', why: 'neither store nor service answered' };

function ask(flow: Flow, post: Post, open: Open, parkedWith?: PostReading['lookup']) {
  const windowMs = parkedWith === undefined ? leftMs(open) : flow.scaled(LOOK_WHILE_PARKED_MS);
  const summary = parkedWith === undefined ? 'Ask for its outcome' : 'Ask on, while a person decides';
  return observed(() =>
    act(POLL, summary, flow.timeScale).settleUnknown({
      ...questionOf(post),
      saidToExist: open.saidToExist,
      windowMs,
      timeScale: flow.timeScale,
      ...(parkedWith === undefined ? {} : { parkedWith }),
    }),
  );
}

/** Takes the step that is legal by everything that is known now. */
async function decide(flow: Flow, post: Post, open: Open, found: PostReading): Promise<Submitted | SendAgain> {
  const stepOf = (now: Open) => postStep(evidenceOf(flow, post, now, found), now.repeat);
  const step = stepOf(open);
  switch (step.do) {
    case 'follow':
      return found.answer === undefined
        ? provenAfterAll(flow, post)
        : { kind: 'accepted', answer: found.answer, other: found.other };
    case 'end-rejected':
      return { kind: 'rejected', rejection: found.rejection ?? { httpStatus: 0, message: '' } };
    case 'end-not-sent':
      return { kind: 'void', why: found.why ?? 'void' };
    case 'repeat': {
      // An event in the inbox, proven or not, is enough to hold back what no person ordered.
      const now: Open = (await readInbox(flow)) ? open : { ...open, repeat: 'unknown' };
      if (stepOf(now).do !== 'repeat') return decide(flow, post, now, found);
      return sendAgain(flow, post, open, 'DUPLICATE_REFERENCE', `the service is set to "${open.repeat}"`);
    }
    case 'ask-on':
      // An event cut the window short, and was dismissed.
      if (leftMs(open) > 0 && !flow.deadlinePassed) return askInWindow(flow, post, open);
      // A record that is missing at one moment is not missing for the whole window.
      return askPerson(flow, post, open, found, parkReasonOf(found.lookup === 'absent' ? 'no-lookup' : found.lookup));
    case 'park':
      if (post.trusted() === 'other') {
        await post.decideOther();
        return decide(flow, post, open, found);
      }
      return askPerson(flow, post, open, found, step.reason);
    case 'send':
      // `readPost` never says so about a POST that may have been sent.
      throw new TypeError('a send that may be a second one');
    default:
      return step satisfies never;
  }
}

/** The claim may have the answer that its owner could not bring back. */
export async function provenAfterAll(flow: Flow, post: Post): Promise<Submitted> {
  flow.money = { at: 'sent' };
  post.readEvents();
  const found = await lookAgain(flow, post);
  if (found?.answer !== undefined) return { kind: 'accepted', answer: found.answer, other: found.other };
  // It is another's payment.
  if (found?.neverSent) return { kind: 'void', why: found.why ?? 'void' };
  // Something on the way sent it twice, and the second one was refused: a caller must not get that refusal as the answer.
  // A proof that it failed agrees with a refusal; and one of a refund may be of the service's own.
  const isRefused = post.parkReason === undefined && (found?.claim === 'rejected' || found?.claim === 'void');
  const proven = provenOf(flow);
  const isAgreed = proven.length > 0 && proven.every((meaning) => meaning === 'failed');
  if (isRefused && !isAgreed && !post.othersPay) await recordAnswer(flow, post, null);
  return { kind: 'proven' };
}

/** The flow knows that it was executed; an unavailable store does not stop it. */
export async function recordAnswer(flow: Flow, { claim }: Post, answer: unknown): Promise<void> {
  await within(flow, RECORD_PATIENCE_MS, () =>
    act(STORE, 'Write the answer to its claim', flow.timeScale).recordAnswer({ ...claim, answer }),
  );
}

const questionOf = ({ claim, expect, fixed, othersPay }: Post) => ({
  claim,
  expect,
  fixed,
  ...(othersPay ? { othersPay } : {}),
});

function lookAgain(flow: Flow, post: Post, saidToExist = false): Promise<PostReading | undefined> {
  const question = { ...questionOf(post), saidToExist };
  return within(flow, SETTLE_PATIENCE_MS, () =>
    act(LAST_LOOK, 'Ask once more', flow.timeScale)
      .lookAtPost(question)
      .catch(() => undefined),
  );
}

/** Parks, and keeps asking: an event, the claim or the lookup may decide before a person does. */
async function askPerson(
  flow: Flow,
  post: Post,
  open: Open,
  found: PostReading,
  byTable: PostParkReason,
): Promise<Submitted | SendAgain> {
  const reason: ParkReason = byTable === 'duplicate_mismatch' ? byTable : (post.parkReason ?? byTable);
  // From here on a person is asked, and no setting sends again.
  const still: Open = { ...open, repeat: 'unknown' };
  const isInWindow = leftMs(open) > 0 && (found.lookup === 'absent' || found.lookup === 'cannot-tell');
  const asking = isInWindow ? ask(flow, post, open) : ask(flow, post, open, found.lookup);
  const decided = () => asking.settled() || knownOf(post) !== 'nothing';
  let now = found;
  const decision = await park(flow, reason, shownOf(post, open, found), decided, {
    without: impossible(post, open, reason),
    lookAgain: async () => {
      now = (await lookAgain(flow, post, open.saidToExist)) ?? found;
    },
    // An order against proof is refused, and the flow continues with the proof.
    refusalOf: ({ action }) =>
      refusalOf(action as PostOrder, evidenceOf(flow, post, still, now)) ??
      whyTooEarly(action as PostOrder, open) ??
      (action === 'send-again' ? post.whyNotAgain?.() : undefined) ??
      null,
  });
  if (decision === 'decided' && asking.settled()) {
    return decide(flow, post, isInWindow ? { ...still, windowOver: true } : still, await asking.promise);
  }
  asking.cancel();
  if (decision === 'decided') return decide(flow, post, still, now);
  return carryOut(flow, post, still, decision, found.lookup === 'cannot-tell');
}

async function carryOut(
  flow: Flow,
  post: Post,
  open: Open,
  decision: Resolution,
  unasked: boolean,
): Promise<Submitted | SendAgain> {
  const { action, actor, note } = decision;
  switch (action as PostOrder) {
    case 'send-again':
      return sendAgain(flow, post, open, actor, note, unasked);
    case 'mark-completed':
    case 'mark-refunded':
      return endFromDecision(decision);
    case 'close-not-executed':
      return close(flow, post, open, { actor, note });
    default:
      throw new TypeError(`no order about a POST: ${action}`);
  }
}

async function close(flow: Flow, post: Post, open: Open, order: { actor: string; note: string }) {
  const sentUntilMs = Date.now();
  const phase = await within(flow, STORE_PATIENCE_MS, () =>
    act(STORE, 'Close the claim as not executed', flow.timeScale).closeNotExecuted({
      ...post.claim,
      order,
      sentUntilMs,
      windowMs: windowMs(flow, post, open),
    }),
  );
  const by = `${order.actor}: ${order.note}`;
  if (phase === 'void') {
    // A trusted event may have come while the claim was being closed: if that cannot be known, this is no end yet.
    const isRead = await readInbox(flow);
    if (isRead && knownOf(post) === 'nothing') return (post.onNotExecuted ?? endNotExecuted)(by);
    flow.note(
      'closed-and-reported',
      `its claim is closed, and a trusted event ${isRead ? 'reports' : 'may report'} it`,
    );
    return settleOn(flow, post, open);
  }
  flow.note('not-closed', `not closed: ${phase === undefined ? 'the store does not answer' : `the claim is ${phase}`}`);
  return settleOn(flow, post, open);
}

/** A worker that was suspended may have marked the claim a moment ago, and its POST be under way. */
const windowMs = (flow: Flow, post: Post, { saidToExist }: Open): number =>
  saidToExist ? 0 : flow.scaled(post.settleMs);

function endNotExecuted(by: string): never {
  return endFlow('failed', 'not_executed', `Closed as not executed by ${by}`);
}

async function sendAgain(
  flow: Flow,
  post: Post,
  open: Open,
  actor: string,
  note: string,
  unasked = false,
): Promise<Submitted | SendAgain> {
  const sentUntilMs = Date.now();
  const ordered = await within(flow, STORE_PATIENCE_MS, () =>
    act(STORE, 'Order another send', flow.timeScale).orderSendAgain({
      ...post.claim,
      order: { actor, note },
      sentUntilMs,
      windowMs: windowMs(flow, post, open),
    }),
  );
  // The claim moved meanwhile, or the store is unavailable and may nevertheless have taken the order.
  if (ordered !== true) {
    if (ordered === undefined)
      await holdBack(flow, post.claim, { actor, note: 'the order to send again was not confirmed' });
    flow.note('send-again-failed', 'not sent again: its claim could not be opened for another send');
    // A setting would order it again at once, and for ever.
    return settleOn(flow, post, { ...open, repeat: 'unknown' });
  }
  flow.note('send-again-ordered', `to be sent again: ${note}`, actor);
  // It has a deadline of its own if the flow's own is over.
  if (flow.deadlinePassed) flow.extendDeadline();
  return unasked ? 'send-unasked' : 'send-again';
}

/** Asks once more, and decides again by what is known then. */
async function settleOn(flow: Flow, post: Post, open: Open): Promise<Submitted | SendAgain> {
  return decide(flow, post, open, (await lookAgain(flow, post, open.saidToExist)) ?? CANNOT_ASK);
}
