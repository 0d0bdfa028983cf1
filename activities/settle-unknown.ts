import { UNREADABLE } from '../src/protocol/messages.js';
import { MISSES } from '../src/protocol/attempt.js';
import { executed, type ClaimSays, type LookupSays } from '../src/protocol/decisions.js';
import { otherThan } from '../src/flows/echoes.js';
import { claimSays } from '../src/protocol/claim-says.js';
import { asking, missOf, proves, statusLookupOf, whyIncomparable } from './status-lookups.js';
import type { ActivityDeps } from './deps.js';
import { notYet, storing, unmatched } from './failures.js';
import { referenceOfFlow } from '../src/protocol/vocabulary.js';
import type { ClaimRef, Facts, PostReading } from './types.js';
import { elapsedMs, missingForMs, nextTurnMs, untilNextMiss } from './timing.js';
import { keyOf, requireOwnDeployment, recordAnswer } from './claims.js';

export interface PostQuestion {
  readonly claim: ClaimRef;
  /** The service's record must match these facts to count as ours. Null: what was sent is not known any more. */
  readonly expect: Facts | null;
  /** What its request fixed: an answer that names something else is of another request. */
  readonly fixed: Facts;
  /** The service itself said that it knows the reference, so its record cannot be an older one. */
  readonly saidToExist: boolean;
}

export interface SettleOrder extends PostQuestion {
  /** How long to ask until it is an answer that nothing was learnt. Already scaled, ms. */
  readonly windowMs: number;
  /** How long the lookup must find nothing until that counts, however long was asked before. Already scaled, ms. */
  readonly confirmMs: number;
  readonly timeScale: number;
  /** A person has been asked: poll slowly, and do not report what the person was shown. */
  readonly parkedWith?: LookupSays;
}

const INTERRUPTED = 'the service did not answer for the whole settle window, so that it shows nothing proves nothing';

export function createSettleActivities(deps: ActivityDeps) {
  return {
    /**
     * Finds out the outcome of a POST: reads the claim first (its owner may have stored an answer), then the status
     * lookup, if the contract has one. The server retries this until the outcome is known, or the window is over.
     */
    async settleUnknown(order: SettleOrder): Promise<PostReading> {
      const { windowMs, confirmMs, timeScale, parkedWith = 'cannot-tell' } = order;
      // That the lookup could not be asked is not so any more; everything else that a person was shown stands.
      const isNews = parkedWith === 'cannot-tell';
      for (let miss = 1; ; miss += 1) {
        const found = asSent(await readPost(deps, order));
        if (hasChanged(found, order)) return found;
        const isAbsent = found.lookup === 'absent';
        const isConfirmed = missingForMs(isAbsent) >= confirmMs && isAbsent;
        // After an outage the window begins anew, once: the flow does not wait for ever.
        const mostMs = isConfirmed && isNews ? 0 : windowMs + (isAbsent && !isConfirmed ? confirmMs : 0);
        if (elapsedMs() < mostMs) {
          throw notYet('nothing found so far', nextTurnMs(timeScale, order.parkedWith !== undefined));
        }
        if (!isAbsent) return found;
        if (!isConfirmed) return { ...found, lookup: 'cannot-tell', why: INTERRUPTED };
        if (miss >= MISSES) return (await fromRefusal(deps, order)) ?? found;
        await untilNextMiss(deps, timeScale);
      }
    },

    /** The same, once, and as it is: right before a person's order is carried out, by which nothing may have been sent. */
    lookAtPost: (question: PostQuestion): Promise<PostReading> => readPost(deps, question),
  };
}

function hasChanged(found: PostReading, { parkedWith, saidToExist }: SettleOrder): boolean {
  const { claim, lookup } = found;
  if (lookup === 'other') return parkedWith !== 'other';
  const rest = { trusted: 'nothing', untrusted: false, windowOver: false, overdue: false } as const;
  return executed({ claim, lookup, saidToExist, ...rest }) !== 'cannot-tell';
}

/**
 * A refusal that named the reference counts if nothing contradicts it: for the whole window the lookup found nothing, and
 * no event came, trusted or not. Without a lookup nothing supports such a refusal.
 */
async function fromRefusal(deps: ActivityDeps, order: SettleOrder): Promise<PostReading | undefined> {
  if (order.saidToExist) return undefined;
  const key = keyOf(deps, order.claim);
  return storing(async () => {
    const claim = await deps.store.claims.get(key);
    if (claim?.phase !== 'sending' || claim.rejection === undefined) return undefined;
    const { flowId } = order.claim;
    if (await deps.store.inbox.hasToMatch(referenceOfFlow(flowId))) throw unmatched();
    const ofNoFlow = await deps.store.inbox.wordsOfNoFlow(referenceOfFlow(flowId));
    if (ofNoFlow.length > 0) return undefined;
    const { rejection } = claim;
    const { isDone: isRecorded } = await deps.store.claims.confirmRefusal(key, { flowId, orUntrusted: true });
    return isRecorded ? { claim: 'rejected', lookup: 'absent', rejection } : undefined;
  });
}

/** What the claim and the lookup say about one POST. */
async function readPost(deps: ActivityDeps, question: PostQuestion): Promise<PostReading> {
  await requireOwnDeployment(deps, question.claim);
  const key = keyOf(deps, question.claim);
  const claim = await storing(() => deps.store.claims.get(key));
  const claimed = {
    claim: claim === undefined ? 'free' : claimSays(claim),
    ...(claim?.answer === undefined
      ? {}
      : { answer: claim.answer, other: otherThan(question.claim.operation, question.fixed, claim.answer) }),
    ...(claim?.rejection === undefined ? {} : { rejection: claim.rejection }),
    ...(claim?.reason === undefined ? {} : { why: claim.reason }),
  };
  // Looked up only if the claim leaves it open.
  if (!leavesOpen(claimed.claim)) return { ...claimed, lookup: 'cannot-tell' };
  const found = await lookUpPost(deps, question);
  if (found.lookup === 'shown') {
    await storing(() => recordAnswer(deps, key, question.claim.flowId, found.answer));
  }
  return { ...claimed, ...found };
}

/**
 * The flow knows of a send that may have been executed. If the claim shows none (because the store was restored, or
 * because an attempt that the flow gave up handed the claim back), the outcome is open, not free.
 */
const asSent = (reading: PostReading): PostReading => ({
  ...reading,
  claim: leavesOpen(reading.claim) ? 'sending' : reading.claim,
});

const leavesOpen = (claim: ClaimSays): boolean => claim !== 'answered' && claim !== 'rejected' && claim !== 'void';

/** What the status lookup says about a POST: its record counts only if it is of this POST and matches it. */
export async function lookUpPost(
  deps: ActivityDeps,
  { claim, expect, saidToExist }: Omit<PostQuestion, 'fixed'>,
): Promise<Pick<PostReading, 'lookup' | 'answer' | 'ours' | 'theirs' | 'why'>> {
  const lookup = statusLookupOf(claim.pin, claim.operation);
  if (lookup === undefined) return { lookup: 'no-lookup' };
  const asked = await asking(() => lookup.read(deps.service, claim.reference));
  if (asked.says === 'absent') return { lookup: missOf(lookup, 'absent') };
  if (asked.says === 'cannot-tell') return { lookup: 'cannot-tell', why: asked.why };
  if (expect === null)
    return { lookup: 'cannot-tell', why: 'what was sent is not known, and its record cannot be compared' };
  const { record } = asked;
  const theirs = lookup.facts(record);
  const incomparable = whyIncomparable(theirs, Object.keys(expect));
  if (incomparable === undefined && !proves(lookup, record, saidToExist)) {
    return {
      lookup: 'proves-nothing',
      why: 'the record of the service may be older than what was sent, or of another payment',
    };
  }
  const wrong = Object.entries(expect).some(([name, ours]) => !agrees(ours, theirs[name]));
  if (wrong) return { lookup: 'other', ours: expect, theirs };
  return incomparable === undefined
    ? { lookup: 'shown', answer: record }
    : { lookup: 'cannot-tell', why: incomparable };
}

/** A fact that the service does not report, or not readably, is not another one. */
const agrees = (ours: string, theirs: string | undefined): boolean =>
  theirs === undefined || theirs === UNREADABLE || theirs === ours;
