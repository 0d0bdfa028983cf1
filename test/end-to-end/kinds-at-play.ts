import type { NamedKind } from '../harness/kinds.js';
import type { Answer } from '../harness/stack.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import type { Stack } from './stack.js';
import { newReference } from '../harness/references.js';

/** How the sandbox makes it fail, or give back what was paid; and how its flow ends then. */
export const failingOf = ({ fails, refunds }: NamedKind) =>
  refunds === undefined ? { ending: fails.ending, state: 'failed' } : { ending: refunds, state: 'refunded' };

export const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** Signed: otherwise a tampered copy would be as trusted as the capability of its URL. */
export const SIGNED = {
  drivenAlone: true,
  sandbox: { callbackSecret: SECRET, webhookSecret: SECRET },
  env: { WEBHOOK_SECRETS: SECRET },
};

/** From now on account webhooks come as well. */
export async function subscribe(stack: Stack): Promise<void> {
  const webhookUrl = stack.url + new URL(stack.gateway.inbound.webhook).pathname;
  await stack.control('POST', '/settings', { webhookUrl });
}

/** Starts a flow over HTTP; `ending` is what the sandbox makes of it. @returns its reference */
export async function startOne(
  stack: Stack,
  { kind, input, record, begunBy }: NamedKind,
  options: {
    readonly ending?: string;
    readonly more?: Record<string, unknown>;
    /** What was done that leaves it no other way than to park. */
    readonly parks?: string;
  } = {},
): Promise<string> {
  const reference = newReference(
    `${kind}-${options.ending ?? 'completed'}`.replaceAll(/review|pending|rejected/g, 'x'),
  );
  if (options.ending !== undefined) {
    await stack.control('POST', '/scenarios', { reference, ending: options.ending, operation: record });
  }
  const begun = begunBy?.(reference);
  if (begun !== undefined) await stack.control('POST', begun.path, begun.body);
  if (options.parks !== undefined) stack.expectParked(`${kind}/${reference}`, options.parks);
  const answer = await stack.post(`/flows/${kind}`, { ...input(reference), ...options.more });
  if (answer.status !== 201) throw new Error(`${kind}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return reference;
}

/** The flow when it has ended or parked; queried again if a busy machine could not answer. */
export async function whenDone(stack: Stack, kind: FlowKind, reference: string, timeoutSeconds = 40): Promise<Answer> {
  for (let turn = 1; ; turn += 1) {
    const { body } = await stack.get(`/flows/${kind}/${reference}/wait?timeoutSeconds=${timeoutSeconds}`);
    const { state, parked } = body;
    const isSaid = state === 'parked' ? parked !== null : state !== undefined && state !== 'running';
    if (isSaid || turn === 3) return body;
  }
}
