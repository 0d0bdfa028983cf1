import { groupBy } from '../end-to-end/reconcile/group-by.js';
import type { Witnesses } from '../end-to-end/reconcile/witnesses.js';
import type { WireRequest } from '../harness/wire-log.js';
import { referenceIn } from './on-the-wire.js';
import type { Strike } from './world.js';

/** An entry of the sandbox's log of faults. */
export interface Injection {
  readonly operation: string;
  readonly reference: string;
  readonly kind: string;
  readonly committed: boolean;
}

/** Faults after which a POST's outcome is unknown. */
const LEAVES_UNKNOWN = [
  'error-before',
  'error-after',
  'answer-lost',
  'late-commit',
  'garbage',
  'reset-before',
  'duplicate-answer',
];

/**
 * What was done to the flow of a reference that leaves it no other way than to ask a person: its POST stayed without an
 * answer, its events were lost, or a forgery contradicts what is proven. Empty: it had no reason to park.
 */
export function ownFaults(
  run: Pick<Witnesses, 'wire' | 'deliveries' | 'inbox'> & {
    readonly injections: readonly Injection[];
    readonly strikes: readonly Strike[];
  },
): (reference: string) => readonly string[] {
  const injections = groupBy(run.injections, ({ reference }) => reference);
  const posts = groupBy(
    (run.wire ?? []).filter(({ method }) => method === 'POST'),
    ({ body }) => referenceIn(body),
  );
  const deliveries = groupBy(run.deliveries, ({ reference }) => reference);
  const conflicting = new Set(
    run.inbox.filter(({ isTrusted }) => !isTrusted).map(({ flowId }) => flowId?.slice(flowId.indexOf('/') + 1)),
  );
  return (reference) => {
    const names = [reference, `${reference}.refund`];
    const found = names.flatMap((name) => [
      ...(injections.get(name) ?? []).flatMap(({ kind, operation }) =>
        LEAVES_UNKNOWN.includes(kind) ? [`${kind} at ${operation}`] : [],
      ),
      ...(posts.get(name) ?? []).flatMap((post) => {
        if (post.status === null || post.status >= 500) return ['a POST without an answer'];
        return wasStruck(post, run.strikes) ? ['its process was struck before it can have kept the answer'] : [];
      }),
      // No attempt of it ever reached us.
      ...(deliveries.get(name) ?? []).flatMap(({ answers, status }) =>
        answers.length === 0 ? [`${status} was lost`] : [],
      ),
    ]);
    if ((deliveries.get(reference) ?? []).length === 0) found.push('the service sent no event of it');
    if (conflicting.has(reference)) found.push('a lie was posted about it');
    return [...new Set(found)];
  };
}

/** An answer on the wire is kept this much later, on a busy machine. */
const KEPT_WITHIN_MS = 1_000;

/** Its process was killed or frozen after it was sent, and before its answer was surely kept. */
const wasStruck = ({ who, atMs, answeredAtMs }: WireRequest, strikes: readonly Strike[]): boolean =>
  strikes.some((one) => one.who === who && one.atMs >= atMs && one.atMs <= (answeredAtMs ?? atMs) + KEPT_WITHIN_MS);
