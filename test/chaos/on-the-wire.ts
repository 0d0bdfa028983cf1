import { at, parsed } from '../end-to-end/reconcile/json.js';
import { POST_OF_PATH } from '../end-to-end/reconcile/kinds.js';
import type { FlowFact } from '../end-to-end/reconcile/witnesses.js';
import type { WireRequest } from '../harness/wire-log.js';

/**
 * Events that came to a gateway before the answer to the POST of their reference had passed on the wire to the service.
 */
export function countEarly(wire: readonly WireRequest[], inbound: readonly WireRequest[]): number {
  const answeredAtMs = new Map<string, number>();
  for (const { method, path, body, answeredAtMs: atMs } of wire) {
    if (method !== 'POST' || !(path in POST_OF_PATH) || atMs === null) continue;
    const reference = referenceIn(body);
    answeredAtMs.set(reference, Math.min(answeredAtMs.get(reference) ?? Infinity, atMs));
  }
  return inbound.filter(({ method, path, atMs }) => {
    const [, place, , reference = ''] = path.split('/');
    return method === 'POST' && place === 'callbacks' && atMs < (answeredAtMs.get(reference) ?? 0);
  }).length;
}

/** How many requests went to the service for each flow. */
export function requestsOfFlows(
  wire: readonly WireRequest[],
  flows: readonly FlowFact[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const request of wire) {
    const base = referenceOf(request).replace(/\.refund$/, '');
    counts[base] = (counts[base] ?? 0) + 1;
  }
  return Object.fromEntries(flows.map(({ flowId, reference }) => [flowId, counts[reference] ?? 0]));
}

/** In the body, or at the end of the path of a lookup. */
export const referenceOf = ({ path, body }: Pick<WireRequest, 'path' | 'body'>): string =>
  referenceIn(body) || (path.split('/').at(-1) ?? '');

/** Empty if it names none. */
export function referenceIn(body: string): string {
  const request = parsed(body);
  const named = at(request, 'provider_reference_id') ?? at(request, 'referenceId') ?? at(request, 'reference_id');
  return typeof named === 'string' ? named : '';
}
