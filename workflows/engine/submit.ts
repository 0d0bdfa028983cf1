import type { SubmitOutcome } from '../../activities/types.js';
import { maySend } from '../../src/protocol/decisions.js';
import { act } from './activities.js';
import { RECORD_PATIENCE_MS, STORE } from './policies.js';
import { submitUntilDeadline, unlessStopping, voidUnsent } from './stop.js';
import { within } from './waits.js';
import type { Flow } from './flow.js';
import { provenAfterAll, recordAnswer, settleUnknown } from './settle-unknown.js';
import { readInbox } from './inbox.js';
import type { Unsettled } from './open-post.js';
import { knownOf, type Post, type Submitted } from './post.js';

/**
 * The only way in which a flow sends money. Three outcomes, never two; an unknown outcome is settled by the claim, the
 * lookup and trusted events, else by a person, whose order is checked when it is carried out. It never becomes failed
 * by itself.
 */
export async function submit(flow: Flow, post: Post): Promise<Submitted> {
  let unasked = false;
  for (let again: 'quote-expired' | 'ordered' | null = null; ;) {
    if (knownOf(post) === 'shown') return perhapsAnothers(await provenAfterAll(flow, post));
    const outcome =
      (again === null ? null : await readyAgain(flow, post, again)) ??
      (await submitUntilDeadline(flow, post.claim, () => post.send(unasked))) ??
      OVERDUE;
    let open: Unsettled;
    switch (outcome.kind) {
      case 'accepted':
        flow.money = { at: 'sent' };
        if (!outcome.recorded) await recordAnswer(flow, post, outcome.answer);
        return outcome.byLookup ? perhapsAnothers(outcome) : outcome;
      case 'rejected':
        if (!outcome.recorded) await recordRejection(flow, post, outcome);
        if (await isContradicted(flow, post)) return settleContradicted(flow, post, outcome.rejection.message);
        return outcome;
      case 'quote-expired':
        again = 'quote-expired';
        continue;
      case 'done-elsewhere':
        if (await isClosed(flow, post, DONE_ELSEWHERE)) return { kind: 'void', why: DONE_ELSEWHERE };
        open = notClosed(DONE_ELSEWHERE);
        break;
      case 'unknown':
      case 'duplicate':
      case 'contradicted':
        open = outcome;
        break;
      case 'other-request':
        return { kind: 'other-request', why: OTHER_REQUEST };
      case 'void':
        if (await isContradicted(flow, post)) return settleContradicted(flow, post, outcome.reason);
        return { kind: 'void', why: outcome.reason };
      default:
        return outcome satisfies never;
    }
    const settled = await settleUnknown(flow, post, open);
    if (typeof settled !== 'string') return perhapsAnothers(settled);
    unasked = settled === 'send-unasked';
    again = 'ordered';
  }
}

/** What is in the way of another send: also an event that came while it was ordered, or got ready. */
async function readyAgain(flow: Flow, post: Post, because: 'quote-expired' | 'ordered'): Promise<SubmitOutcome | null> {
  const inTheWay = (await post.prepareAgain?.(because)) ?? null;
  if (inTheWay !== null) return inTheWay;
  // The claim is reserved since the quote expired before it was sent, or by the order.
  const isAllowed = maySend({
    claim: flow.money.at === 'sent' ? 'ordered' : 'reserved',
    lookup: 'cannot-tell',
    trusted: knownOf(post),
    untrusted: post.claimed(),
    saidToExist: false,
    windowOver: false,
    overdue: flow.deadlinePassed,
  });
  return isAllowed ? null : EVENT_CAME;
}

/** Only then no late attempt can send after the flow has said that nothing was moved by it. */
async function isClosed(flow: Flow, post: Post, reason: string): Promise<boolean> {
  const isVoid = await voidUnsent(flow, post.claim, reason);
  await unlessStopping(flow);
  return isVoid === true;
}

/**
 * Whether a trusted event reports a POST that was not executed according to its answer or claim. If the inbox cannot be
 * read within that time, the end itself asks a person.
 */
async function isContradicted(flow: Flow, post: Post): Promise<boolean> {
  post.readEvents();
  await readInbox(flow, RECORD_PATIENCE_MS);
  return post.trusted() !== 'nothing';
}

/** Something on the way may have sent it twice, and the refusal is of the second one. */
async function settleContradicted(flow: Flow, post: Post, refused: string): Promise<Submitted> {
  const reason = `refused (${refused}), and a trusted event reports it`;
  // Its claim may be closed already, so not even a person can order another send.
  const closed = { ...post, sendAgain: false };
  const settled = await settleUnknown(flow, closed, { kind: 'unknown', reason, repeat: 'unknown' });
  if (typeof settled === 'string') throw new TypeError('another send of what was refused');
  return perhapsAnothers(settled);
}

/** Only the service's own answer to this POST shows that what it has is ours. */
const perhapsAnothers = (settled: Submitted): Submitted =>
  settled.kind === 'accepted' || settled.kind === 'proven' ? { ...settled, maybeAnother: true } : settled;

const DONE_ELSEWHERE = 'the service shows it done by another way';

const notClosed = (why: string) =>
  ({ kind: 'unknown', reason: `${why}, and another attempt may send`, repeat: 'unknown' }) as const;

const OTHER_REQUEST =
  'Another request was made under this reference before. Nothing was sent for this one; check that flow first.';

const EVENT_CAME: SubmitOutcome = {
  kind: 'unknown',
  reason: 'a trusted event came before it was sent again',
  repeat: 'unknown',
};

const OVERDUE: SubmitOutcome = {
  kind: 'unknown',
  reason: 'nothing was known of it at the deadline',
  repeat: 'unknown',
};

async function recordRejection(
  flow: Flow,
  { claim }: Post,
  { owner, rejection }: Extract<SubmitOutcome, { kind: 'rejected' }>,
): Promise<void> {
  await within(flow, RECORD_PATIENCE_MS, () =>
    act(STORE, 'Write the refusal to its claim', flow.timeScale).recordRejection({ ...claim, owner, rejection }),
  );
}
