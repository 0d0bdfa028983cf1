import { RejectedError } from '../src/client/index.js';
import { addressFact } from '../src/flows/address-fact.js';
import { sameAmount } from '../src/money.js';
import type { ClaimKey } from '../src/store/claim.js';
import type { ActivityDeps } from './deps.js';
import { notYet, reading } from './failures.js';
import type { ClaimRef, Facts, UnknownSettled } from './outcomes.js';
import { elapsedMs, nextTurnMs } from './polling.js';
import { proves, statusLookups } from './status-lookups.js';

/** Misses in a row, after the window, until the service counts as not having it. */
const MISSES = 3;
const BETWEEN_MISSES_MS = 2_000;

export interface SettleOrder {
  readonly claim: ClaimRef;
  /** What the service's record must agree with, to be taken for ours. */
  readonly expect: Facts;
  /** The service said itself that it knows the reference: then whatever it shows is no older record. */
  readonly saidToExist?: boolean;
  /** Already scaled, ms. */
  readonly windowMs: number;
  readonly timeScale: number;
}

export function createSettleActivities(deps: ActivityDeps) {
  return {
    /**
     * What became of a POST whose outcome is unknown: the claim first (its owner may have answered after all), then the
     * status lookup, where the contract has one. Retried by the server until the window is over.
     */
    async settleUnknown(order: SettleOrder): Promise<UnknownSettled> {
      const overdue = elapsedMs() >= order.windowMs;
      for (let miss = 1; ; miss += 1) {
        const found = (await fromClaim(deps, order)) ?? (await fromLookup(deps, order));
        if (found !== undefined && found.kind !== 'not-found') return found;
        if (!overdue) throw notYet('nothing found so far', nextTurnMs(order.timeScale));
        if (miss >= MISSES) return found ?? { kind: 'not-found', lookup: order.claim.operation in statusLookups };
        await new Promise((resolve) => setTimeout(resolve, Math.max(20, BETWEEN_MISSES_MS * order.timeScale)));
      }
    },
  };
}

async function fromClaim(deps: ActivityDeps, order: SettleOrder): Promise<UnknownSettled | undefined> {
  const { operation, reference } = order.claim;
  const claim = await reading(() => deps.store.claims.get({ account: deps.account, operation, reference }));
  if (claim instanceof RejectedError || claim === undefined) return undefined;
  if (claim.phase === 'answered') return { kind: 'accepted', answer: claim.answer, by: 'claim' };
  if (claim.phase === 'rejected' && claim.rejection !== undefined)
    return { kind: 'rejected', rejection: claim.rejection };
  if (claim.phase === 'void') return { kind: 'void', reason: claim.reason ?? 'void' };
  return undefined;
}

async function fromLookup(deps: ActivityDeps, order: SettleOrder): Promise<UnknownSettled | undefined> {
  const lookup = statusLookups[order.claim.operation];
  if (lookup === undefined) return undefined;
  const { operation, reference } = order.claim;
  const answer = await reading(() => lookup.read(deps.service, reference));
  if (answer instanceof RejectedError) {
    if (answer.isNotFound) return undefined;
    throw notYet(`the status lookup was refused (${answer.httpStatus})`, nextTurnMs(order.timeScale));
  }
  if (order.saidToExist !== true && !proves(lookup, answer)) {
    return { kind: 'not-found', lookup: true, inconclusive: true };
  }
  const theirs = lookup.facts(answer);
  const wrong = Object.entries(order.expect).filter(([name, ours]) => !agrees(ours, theirs[name]));
  if (wrong.length > 0) return { kind: 'mismatch', ours: order.expect, theirs };
  const key: ClaimKey = { account: deps.account, operation, reference };
  await reading(() => deps.store.claims.recordAnswer(key, answer));
  return { kind: 'accepted', answer, by: 'lookup' };
}

/** What the service does not say cannot differ; amounts are compared as amounts, and addresses as addresses. */
function agrees(ours: string, theirs: string | undefined): boolean {
  if (theirs === undefined || addressFact(theirs) === addressFact(ours)) return true;
  try {
    return sameAmount(ours, theirs);
  } catch {
    return false;
  }
}
