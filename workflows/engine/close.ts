import { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import type { FlowReport, Outcome } from '../../src/api/flow.js';
import { act } from './activities.js';
import { STORE } from './policies.js';

interface Closing {
  readonly flowId: string;
  readonly timeScale: number;
  readonly report: () => FlowReport;
}

/** Ends the workflow as its outcome says: completed, failed or cancelled. */
export async function close(flow: Closing, outcome: Outcome): Promise<FlowReport> {
  const report = flow.report();
  if (outcome.state === 'completed' || outcome.state === 'refunded') return report;
  if (outcome.state === 'cancelled') await becomeCancelled(flow);
  throw ApplicationFailure.create({
    type: outcome.reason ?? outcome.state,
    message: outcome.detail,
    nonRetryable: true,
    details: [report],
  });
}

/** Temporal closes an execution as Cancelled only if its cancellation was requested, so we request it. */
async function becomeCancelled(flow: Closing): Promise<never> {
  const scope = CancellationScope.current();
  if (!scope.consideredCancelled) {
    // Bounded by the Temporal server, which runs this very workflow.
    await CancellationScope.nonCancellable(() =>
      act(STORE, 'Close as Cancelled', flow.timeScale).requestOwnCancel({ flowId: flow.flowId }),
    );
  }
  return scope.cancelRequested;
}
