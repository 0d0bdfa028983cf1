import { addressFact } from '../src/protocol/messages.js';
import { executed, type ClaimSays, type LookupSays } from '../src/protocol/decisions.js';
import { sameAmount } from '../src/money.js';
import type { Claim, ClaimKey } from '../src/store/claim.js';
import { asking, proves, statusLookups } from './status-lookups.js';
import type { ActivityDeps } from './deps.js';
import { notYet, storing } from './failures.js';
import type { ClaimRef, Facts, PostReading } from './types.js';
import { elapsedMs, MISSES, nextTurnMs, untilNextMiss } from './timing.js';
import { requireOwnDeployment, recordAnswer } from './claims.js';

export interface PostQuestion {
  readonly claim: ClaimRef;
  /** What the service's record must agree with, to be taken for ours. */
  readonly expect: Facts;
  /** The service said itself that it knows the reference: then whatever it shows is no older record. */
  readonly saidToExist: boolean;
}

export interface SettleOrder extends PostQuestion {
  /** Already scaled, ms. */
  readonly windowMs: number;
  readonly timeScale: number;
  /** A person is asked meanwhile: slowly, and what the person was shown is no news. */
  readonly parkedWith?: LookupSays;
}

export function createSettleActivities(deps: ActivityDeps) {
  return {
    /**
     * What is known of a POST whose outcome is unknown: the claim first (its owner may have answered after all), then
     * the status lookup, where the contract has one. Retried by the server until it is known, or the window is over.
     */
    async settleUnknown(order: SettleOrder): Promise<PostReading> {
      const overdue = elapsedMs() >= order.windowMs;
      for (let miss = 1; ; miss += 1) {
        const found = await readPost(deps, order);
        if (hasChanged(found, order)) return found;
        if (!overdue) throw notYet('nothing found so far', nextTurnMs(order.timeScale, order.parkedWith !== undefined));
        if (found.lookup !== 'absent') return found;
        if (miss >= MISSES) return (await fromRefusal(deps, order)) ?? found;
        await untilNextMiss(deps, order.timeScale);
      }
    },

    /** The same, asked once: right before an order of a person is carried out. */
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
 * A refusal that named the reference, and that the lookup does not contradict: for the whole window it knew of nothing,
 * and no trusted event did. Without a lookup there is nothing to believe it by.
 */
async function fromRefusal(deps: ActivityDeps, order: SettleOrder): Promise<PostReading | undefined> {
  if (order.saidToExist) return undefined;
  const key = keyOf(deps, order.claim);
  return storing(async () => {
    const claim = await deps.store.claims.get(key);
    if (claim?.phase !== 'sending' || claim.rejection === undefined) return undefined;
    const proven = await deps.store.inbox.list({ flowId: order.claim.flowId, trusted: true, limit: 1 });
    if (proven.length > 0) return undefined;
    const { rejection } = claim;
    const isRecorded = await deps.store.claims.recordRejection(key, claim.owner, rejection);
    return isRecorded ? { claim: 'rejected', lookup: 'absent', rejection } : undefined;
  });
}

/** The claim and the lookup of one POST, each with what it says. */
async function readPost(deps: ActivityDeps, question: PostQuestion): Promise<PostReading> {
  await requireOwnDeployment(deps, question.claim);
  const key = keyOf(deps, question.claim);
  const claim = await storing(() => deps.store.claims.get(key));
  const claimed = {
    claim: claimSays(claim),
    ...(claim?.answer === undefined ? {} : { answer: claim.answer }),
    ...(claim?.rejection === undefined ? {} : { rejection: claim.rejection }),
    ...(claim?.reason === undefined ? {} : { why: claim.reason }),
  };
  // Asked only where the claim leaves it open.
  if (claimed.claim !== 'sending') return { ...claimed, lookup: 'cannot-tell' };
  const found = await lookUpPost(deps, question);
  if (found.lookup === 'shown') {
    await storing(() => recordAnswer(deps, key, question.claim.flowId, found.answer));
  }
  return { ...claimed, ...found };
}

/**
 * The flow knows of a send that may have been executed. So a claim that knows of none (of a store that was restored, or
 * handed back by an attempt that the flow gave up) leaves it open, and is not free.
 */
function claimSays(claim: Claim | undefined): ClaimSays {
  return claim === undefined || claim.phase === 'reserved' ? 'sending' : claim.phase;
}

/** What the status lookup says of a POST: its record counts only if it is of this POST, and agrees with it. */
export async function lookUpPost(
  deps: ActivityDeps,
  { claim, expect, saidToExist }: PostQuestion,
): Promise<Pick<PostReading, 'lookup' | 'answer' | 'ours' | 'theirs' | 'why'>> {
  const lookup = statusLookups[claim.operation];
  if (lookup === undefined) return { lookup: 'no-lookup' };
  const asked = await asking(() => lookup.read(deps.service, claim.reference));
  if (asked.says === 'absent') return { lookup: 'absent' };
  if (asked.says === 'cannot-tell') return { lookup: 'cannot-tell', why: asked.why };
  const { record } = asked;
  if (!saidToExist && !proves(lookup, record)) {
    // It exists before the POST, and reports nothing of it until it moves on.
    return { lookup: 'no-lookup', why: 'the record of the service may be older than what was sent' };
  }
  const theirs = lookup.facts(record);
  const wrong = Object.entries(expect).some(([name, ours]) => !agrees(ours, theirs[name]));
  return wrong ? { lookup: 'other', ours: expect, theirs } : { lookup: 'shown', answer: record };
}

const keyOf = (deps: ActivityDeps, { operation, reference }: ClaimRef): ClaimKey => ({
  account: deps.account,
  operation,
  reference,
});

/** What the service does not say cannot differ; amounts are compared as amounts, and addresses as addresses. */
function agrees(ours: string, theirs: string | undefined): boolean {
  if (theirs === undefined || addressFact(theirs) === addressFact(ours)) return true;
  try {
    return sameAmount(ours, theirs);
  } catch {
    return false;
  }
}
