import type { FastifyRequest } from 'fastify';
import type { Claim, Rejection } from '../../store/claim.js';
import { addressOf, shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { withoutOwnCallbacks } from './own-callbacks.js';

/** What the service answered to one POST of a flow: its `data`, or its refusal. */
export type KnownAnswer =
  { readonly operation: string; readonly data: unknown } | { readonly operation: string; readonly rejected: Rejection };

/**
 * `GET …/answers`: what the service answered to the flow's POSTs so far, oldest first: where a customer is to be sent
 * (`redirect_url`), or what they are to pay. It may hold personal data, and is in no list and no log.
 */
export async function answersOfFlow(
  deps: FlowOperationDeps,
  request: FastifyRequest,
): Promise<{ flowId: string; answers: readonly KnownAnswer[] }> {
  const address = addressOf(request);
  const claims = await deps.store.claims.ofFlow(address.flowId);
  // Without a claim nothing was sent; what does not exist at all is a 404 and not an empty list.
  if (claims.length === 0) await shownFlow(deps.reader, address);
  return { flowId: address.flowId, answers: claims.flatMap(answerOf) };
}

function answerOf({ operation, phase, answer, rejection }: Claim): KnownAnswer[] {
  if (phase === 'answered') return [{ operation, data: withoutOwnCallbacks(answer) }];
  return phase === 'rejected' && rejection !== undefined ? [{ operation, rejected: rejection }] : [];
}
