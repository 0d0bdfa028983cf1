import type { Connection } from '@temporalio/client';
import type { Settings } from '../../config/index.js';
import { STATE_ATTRIBUTE, TASK_QUEUE } from '../../protocol/vocabulary.js';
import { connectTemporal, type TemporalClient } from '../../temporal/connection.js';
import { isUsable, oldestUsableServer } from '../../dev-server/find-server.js';
import { EXIT } from '../exit-codes.js';
import { GRPC, grpcStatusOf, temporalAddress } from '../wiring/temporal.js';
import { bad, type Finding, good, note } from './finding.js';

const WITHIN_MS = 5_000;
const WORKFLOW_TASKS = 1;

/** Server version, namespace, search attribute, and whether a worker listens. */
export async function checkTemporal(settings: Pick<Settings, 'temporal'>): Promise<readonly Finding[]> {
  const temporal = connectTemporal({ variables: settings.temporal, identity: 'towline-doctor' });
  const { client } = temporal;
  const address = temporalAddress(settings);
  try {
    return await client.connection.withDeadline(Date.now() + WITHIN_MS, () => examine(temporal, address));
  } catch (error) {
    const { namespace } = temporal;
    if (grpcStatusOf(error) === GRPC.notFound) {
      return [
        bad('Temporal', `${address} has no namespace ${namespace}: make it, or set TEMPORAL_NAMESPACE.`, EXIT.refused),
      ];
    }
    const remedy = 'start it (towline up starts one), or set TEMPORAL_ADDRESS.';
    return [bad('Temporal', `${address} cannot be reached: ${remedy}`, EXIT.unreachable)];
  } finally {
    await temporal.close();
  }
}

async function examine({ client, namespace }: TemporalClient, address: string): Promise<readonly Finding[]> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  await client.workflowService.describeNamespace({ namespace });
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: TASK_QUEUE },
    taskQueueType: WORKFLOW_TASKS,
  });
  return [
    serverVersion && !isUsable(serverVersion)
      ? bad('Temporal', `${address} is server ${serverVersion}: use ${oldestUsableServer} or later.`, EXIT.refused)
      : good('Temporal', `${address}, server ${serverVersion ?? '(says no version)'}, namespace ${namespace}`),
    await searchAttribute(client.connection as Connection, namespace),
    pollers?.length
      ? good('workers', `${pollers.length} on the task queue ${TASK_QUEUE}`)
      : note('workers', `none on the task queue ${TASK_QUEUE}: flows wait until one runs (towline worker).`),
  ];
}

/** A flow sets it when it parks or ends. */
async function searchAttribute(connection: Connection, namespace: string): Promise<Finding> {
  const name = 'search attribute';
  const found = await connection.operatorService.listSearchAttributes({ namespace }).catch(() => undefined);
  if (found === undefined) {
    return note(name, `this server does not list its own; ${STATE_ATTRIBUTE} (Keyword) must be registered.`);
  }
  if (STATE_ATTRIBUTE in found.customAttributes) return good(name, `${STATE_ATTRIBUTE} is registered`);
  const command = `temporal operator search-attribute create --namespace ${namespace} --name ${STATE_ATTRIBUTE} --type Keyword`;
  return bad(name, `${STATE_ATTRIBUTE} is missing, without which no flow can end: ${command}`, EXIT.refused);
}
