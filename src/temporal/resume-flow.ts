import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { RESUMED } from '../protocol/vocabulary.js';
import { callWithin } from './call-within.js';
import { GRPC, grpcStatusOf } from './connection.js';
import type { FlowFacts } from './flow-handle.js';

const { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } = proto.temporal.api.enums.v1;

const RESUME_WITHIN_MS = 10_000;

/** `running`: it runs already. `gone`: Temporal does not have its input any more. */
export type Resumed = 'resumed' | 'running' | 'gone';

/**
 * Starts a flow again that was terminated, under its id and with the input of that run, byte for byte: an input that was
 * not sealed stays so. The flow then reads its claims, and decides by them.
 *
 * @param requestId sent twice, it is started once
 */
export function resumeFlow(
  client: Client,
  { flowId: workflowId, runId }: Pick<FlowFacts, 'flowId' | 'runId'>,
  requestId: string,
): Promise<Resumed> {
  const { workflowService } = client;
  const { namespace } = client.options;
  return callWithin(client, RESUME_WITHIN_MS, async () => {
    try {
      const execution = { workflowId, runId };
      const { history } = await workflowService.getWorkflowExecutionHistory({
        namespace,
        execution,
        maximumPageSize: 1,
      });
      const [first] = history?.events ?? [];
      const started = first?.workflowExecutionStartedEventAttributes;
      const [input] = started?.input?.payloads ?? [];
      if (started == null || input === undefined) return 'gone';
      // The run may have added to the memo that it was started with.
      const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({ namespace, execution });
      await workflowService.startWorkflowExecution({
        namespace,
        workflowId,
        requestId,
        workflowType: started.workflowType ?? null,
        taskQueue: { name: started.taskQueue?.name ?? '' },
        // What a run handed on to the next one is not its input.
        input: { payloads: [input] },
        memo: {
          fields: { ...workflowExecutionInfo?.memo?.fields, [RESUMED]: defaultPayloadConverter.toPayload(true) },
        },
        priority: started.priority ?? null,
        userMetadata: first?.userMetadata ?? null,
        workflowIdReusePolicy: WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
      });
      return 'resumed';
    } catch (error) {
      if (grpcStatusOf(error) === GRPC.alreadyExists) return 'running';
      if (grpcStatusOf(error) === GRPC.notFound) return 'gone';
      throw error;
    }
  });
}
