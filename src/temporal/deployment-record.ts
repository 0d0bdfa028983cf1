import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { GRPC, grpcStatusOf } from './connection.js';

/*
 * The deployment of a namespace, stored in the namespace itself. The record is the memo of one workflow with a fixed id
 * that no worker ever runs: it stays open, so that no retention removes it. Starting it is the compare-and-set, since
 * Temporal refuses a second one, and every client that may start flows may do that. The namespace's own `data` would
 * need an administrator's rights, and has no compare-and-set.
 */

export interface DeploymentRecord {
  /** The id of the store. */
  readonly store: string;
  readonly account: string;
  readonly epoch: number;
}

export const DEPLOYMENT_WORKFLOW_ID = 'towline-deployment';
const TYPE = 'towlineDeployment';
/** Nothing polls it. */
const TASK_QUEUE = 'towline-deployment';
const MEMO = 'deployment';

const { WorkflowIdReusePolicy, WorkflowIdConflictPolicy } = proto.temporal.api.enums.v1;

type Temporal = Pick<Client, 'workflowService'>;

/** Undefined if the namespace is not bound yet. */
export async function readDeploymentRecord(
  { workflowService }: Temporal,
  namespace: string,
): Promise<DeploymentRecord | undefined> {
  try {
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId: DEPLOYMENT_WORKFLOW_ID },
    });
    const payload = workflowExecutionInfo?.memo?.fields?.[MEMO];
    // Unencrypted: a process with other payload keys must also see what differs. It holds no secret.
    return payload == null ? undefined : defaultPayloadConverter.fromPayload<DeploymentRecord>(payload);
  } catch (error) {
    if (grpcStatusOf(error) === GRPC.notFound) return undefined;
    throw error;
  }
}

/** Binds the namespace, once: the first one wins. Returns what it is bound to. */
export async function bindNamespace(
  temporal: Temporal,
  namespace: string,
  record: DeploymentRecord,
): Promise<DeploymentRecord> {
  const found = await readDeploymentRecord(temporal, namespace);
  if (found !== undefined) return found;
  try {
    await start(temporal, namespace, record, {
      workflowIdReusePolicy: WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
    });
    return record;
  } catch (error) {
    if (grpcStatusOf(error) !== GRPC.alreadyExists) throw error;
    return (await readDeploymentRecord(temporal, namespace)) ?? record;
  }
}

/** A person's order: the epoch was raised. */
export async function replaceDeploymentRecord(
  temporal: Temporal,
  namespace: string,
  record: DeploymentRecord,
): Promise<void> {
  await start(temporal, namespace, record, {
    workflowIdReusePolicy: WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
  });
}

async function start(
  { workflowService }: Temporal,
  namespace: string,
  record: DeploymentRecord,
  policies: Pick<
    proto.temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest,
    'workflowIdReusePolicy' | 'workflowIdConflictPolicy'
  >,
): Promise<void> {
  await workflowService.startWorkflowExecution({
    namespace,
    workflowId: DEPLOYMENT_WORKFLOW_ID,
    workflowType: { name: TYPE },
    taskQueue: { name: TASK_QUEUE },
    requestId: `${record.store}-${record.epoch}-${record.account}`,
    memo: { fields: { [MEMO]: defaultPayloadConverter.toPayload({ ...record }) } },
    ...policies,
  });
}
