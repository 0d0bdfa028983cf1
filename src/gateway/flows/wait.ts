import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FlowView } from '../../protocol/messages.js';
import type { FlowAddress } from '../http/flow-path.js';
import { whenAnswered } from '../http/places.js';
import { shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';

export const WaitQuery = z.strictObject({ timeoutSeconds: z.coerce.number().min(0).max(300).default(30) });

/**
 * `GET …/wait`: the flow as soon as it ended or parked, or as it is when the time is up. Asks the server alone, which
 * knows both; the worker is asked once, at the end.
 */
export async function waitForFlow(
  deps: FlowOperationDeps,
  address: FlowAddress,
  timeoutSeconds: number,
  request: FastifyRequest,
): Promise<FlowView> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutSeconds * 1_000);
  whenAnswered(request, () => over.abort());
  const closes = () => over.abort();
  deps.closing.addEventListener('abort', closes);
  if (deps.closing.aborted) closes();
  try {
    await deps.watch.untilStill(address.flowId, over.signal);
  } finally {
    clearTimeout(timer);
    deps.closing.removeEventListener('abort', closes);
  }
  return shownFlow(deps.watch, address);
}
