import { at, parsed } from '../end-to-end/reconcile/json.js';
import { groupBy } from '../end-to-end/reconcile/group-by.js';
import type { Witnesses } from '../end-to-end/reconcile/witnesses.js';

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
  run: Pick<Witnesses, 'wire' | 'deliveries' | 'records' | 'inbox'> & { readonly injections: readonly Injection[] },
): (reference: string) => readonly string[] {
  const injections = groupBy(run.injections, ({ reference }) => reference);
  const unanswered = groupBy(
    (run.wire ?? []).flatMap(({ method, body, status }) => {
      if (method !== 'POST' || (status !== null && status < 500)) return [];
      const request = parsed(body);
      return [{ reference: String(at(request, 'provider_reference_id') ?? at(request, 'referenceId')) }];
    }),
    ({ reference }) => reference,
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
      ...(unanswered.get(name) ?? []).map(() => 'a POST without an answer'),
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
