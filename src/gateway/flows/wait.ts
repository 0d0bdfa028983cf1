import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FlowView } from '../../flows/messages.js';
import { parseBody } from '../http/members.js';
import { addressOf, shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';

export const WaitQuery = z.strictObject({ timeoutSeconds: z.coerce.number().min(0).max(300).default(30) });

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * `GET …/wait`: the flow as soon as it ended or parked, or as it is when the time is up. Asks the server alone, which
 * knows both; the worker is asked once, at the end.
 */
export async function waitForFlow(deps: FlowOperationDeps, request: FastifyRequest): Promise<FlowView> {
  const address = addressOf(request);
  const { timeoutSeconds } = parseBody(WaitQuery, request.query, 'The query');
  const endsAtMs = deps.monotonicMs() + timeoutSeconds * 1_000;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const facts = await deps.reader.facts(address.flowId);
    const leftMs = endsAtMs - deps.monotonicMs();
    const goesOn = facts?.state === 'running' && leftMs > 0 && !deps.closing.aborted && !request.raw.socket.destroyed;
    if (!goesOn) return shownFlow(deps.reader, address);
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal: deps.closing }).catch(() => undefined);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
  }
}
