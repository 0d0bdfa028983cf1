import { ApplicationFailure } from '@temporalio/common';
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  WorkflowUpdateStage,
} from '@temporalio/client';
import type { OrderProof } from '../../protocol/messages.js';
import type { UPDATES } from '../../protocol/vocabulary.js';
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
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
/** Its last workflow task failed: no worker runs it so. */
const FAILED_PRECONDITION = 9;

/** Sends an order as an update and waits for the flow's answer. */
export async function orderFlow(
  client: Client,
  flowId: string,
  { update, id, order }: FlowOrder,
  deadlineMs = DEADLINE_MS,
): Promise<OrderOutcome> {
  let accepted = false;
  const send = async () => {
    const sent = await client.workflow.getHandle(flowId).startUpdate<unknown, [unknown]>(update, {
      args: [order],
      updateId: id,
      waitForStage: WorkflowUpdateStage.ACCEPTED,
    });
    accepted = true;
    await sent.result();
  };
  try {
    await traced({ name: `order ${update}`, flowId }, () =>
      client.connection.withDeadline(Date.now() + deadlineMs, send),
    );
    return { kind: 'taken' };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'not-found' };
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
      return { kind: accepted ? 'under-way' : 'no-answer' };
    if (error instanceof WorkflowUpdateFailedError) return refusalOf(error.cause);
    const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
    // A run holds ten open updates; more pile up if no worker takes them.
    if (
      isGrpcServiceError(cause) &&
      [DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION].includes(cause.code)
    ) {
      return { kind: accepted ? 'under-way' : 'no-answer' };
    }
    throw error;
  }
}

function refusalOf(cause: Error | undefined): OrderOutcome {
  // The update was accepted, but the flow ended before it was done.
  if (!(cause instanceof ApplicationFailure)) return { kind: 'not-found' };
  return { kind: 'refused', type: cause.type ?? 'refused', message: cause.message };
}
