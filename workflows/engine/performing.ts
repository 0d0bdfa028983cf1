import type { ActivityOptions } from '@temporalio/workflow';
import type { ClaimRef, Facts, PaidReading, StepTerms, Windows } from '../../activities/types.js';
import type { Activities } from '../../activities/index.js';
import type { OtherRecord } from '../../src/flows/echoes.js';
import { act } from './activities.js';
import { pick } from './events-in.js';
import { AT_LEAST_MS } from './waits.js';
import { differences, factsOf } from './events.js';
import type { Known, PaidResult } from './known.js';
import type { Context } from './plan.js';

/** The activities of one step. How long it is tried is the server's to measure, which costs no timer. */
export function acts(
  { timeScale }: Context,
  policy: ActivityOptions,
  summary: string,
  patienceMs?: number,
): Activities {
  const patience =
    patienceMs === undefined
      ? {}
      : { scheduleToCloseTimeout: Math.max(AT_LEAST_MS, Math.ceil(patienceMs * timeScale)) };
  // Bounded by that, by the deadline (a rule gives the step up then), or by the person who decides.
  return act({ ...policy, ...patience }, summary, timeScale);
}

export function termsOf({ prepared }: Known, name: string): StepTerms {
  const terms = prepared?.steps[name];
  if (terms === undefined) throw new TypeError(`the request "${name}" was not prepared`);
  return terms;
}

export const windowsOf = ({ prepared, settleMs }: Known): Windows => prepared?.windows ?? { settleMs };

export const claimsOf = ({ prepared }: Known): readonly ClaimRef[] =>
  Object.values(prepared?.steps ?? {}).map(({ claim }) => claim);

/** What the lookup shows of a payment that others may have made: one of other figures is not of this invoice. */
export function paidIn(known: Known, request: string, { says, reading, why }: PaidReading): PaidResult {
  const other = says === 'other' ? otherOf(factsOf(known, request) ?? {}, reading?.facts ?? {}) : undefined;
  const asked = says === 'cannot-tell' ? { asked: { why: why ?? 'the service does not say whether it was paid' } } : {};
  return { says, word: reading?.status ?? null, shown: other === undefined ? asked : { other } };
}

export function otherOf(ours: Facts, theirs: Facts): OtherRecord {
  const differs = differences(ours, theirs);
  return { differs, ours: pick(ours, differs), theirs: pick(theirs, differs) };
}
