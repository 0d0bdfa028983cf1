import type { Client } from '@temporalio/client';
import type { OrderProof } from '../../protocol/messages.js';
import type { UPDATES } from '../../protocol/vocabulary.js';
import { awaitUpdate } from '../../temporal/await-answer.js';
import { traced } from '../../tracing.js';

/** A person's order to a flow, which the flow takes or refuses. */
export interface FlowOrder {
  readonly update: OrderUpdate;
  /** Id of the update: sent twice, it is taken once. */
  readonly id: string;
  readonly order: Readonly<Record<string, unknown>> & { readonly actor: string; readonly proof?: OrderProof };
}
export type OrderUpdate = Exclude<(typeof UPDATES)[keyof typeof UPDATES], 'answer'>;

export type OrderOutcome =
  | { readonly kind: 'taken' }
  /** The flow took it, and is still carrying it out. */
  | { readonly kind: 'under-way' }
  /** The flow is not in a state in which that is legal; `type` is the flow's word for the cause. */
  | { readonly kind: 'refused'; readonly type: string; readonly message: string }
  /** Closed, or never started. */
  | { readonly kind: 'not-found' }
  /** No worker took it in time: it may still be taken. */
  | { readonly kind: 'no-answer' };

const DEADLINE_MS = 10_000;

/** Sends an order as an update and waits for the flow's answer. */
export async function orderFlow(
  client: Client,
  flowId: string,
  { update, id, order }: FlowOrder,
  withinMs = DEADLINE_MS,
): Promise<OrderOutcome> {
  const waited = await traced({ name: `order ${update}`, flowId }, () =>
    awaitUpdate<unknown>(client, flowId, { name: update, id, args: [order] }, { withinMs }),
  );
  switch (waited.kind) {
    case 'answered':
      return { kind: 'taken' };
    case 'not-yet':
      return { kind: waited.accepted ? 'under-way' : 'no-answer' };
    case 'closed':
      return { kind: 'not-found' };
    case 'refused':
      return waited;
    default:
      return waited satisfies never;
  }
}
