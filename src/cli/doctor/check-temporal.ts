import type { Connection } from '@temporalio/client';
import type { Settings } from '../../config/index.js';
import { QUEUES } from '../../protocol/task-queues.js';
import { SEARCH_ATTRIBUTES } from '../../protocol/vocabulary.js';
import { TemporalSettingsError } from '../../temporal/connect-config.js';
import { queueState, type QueueState } from '../../temporal/pollers.js';
import { connectTemporal, type TemporalClient } from '../../temporal/connection.js';
import { isUsable, oldestUsableServer } from '../../dev-server/find-server.js';
import { EXIT } from '../exit-codes.js';
import { GRPC, grpcStatusOf } from '../../temporal/connection.js';
import { temporalAddress } from '../wiring/temporal.js';
import { bad, type Finding, good, note } from './finding.js';
import { callWithin } from '../../temporal/call-within.js';
import { systemClock } from '../../clock.js';

const WITHIN_MS = 5_000;

/** Server version, namespace, search attribute, and whether a worker listens. */
export async function checkTemporal(settings: Pick<Settings, 'temporal'>): Promise<readonly Finding[]> {
  let temporal: TemporalClient;
  try {
    temporal = connectTemporal({ variables: settings.temporal, identity: 'towline-doctor' });
  } catch (error) {
    if (!(error instanceof TemporalSettingsError)) throw error;
    return [bad('Temporal', 'unreachable', error.message, EXIT.unreachable)];
  }
  const address = temporalAddress(settings);
  try {
    return await callWithin(temporal.client, WITHIN_MS, () => examine(temporal, address));
  } catch (error) {
    const { namespace } = temporal;
    if (grpcStatusOf(error) === GRPC.notFound) {
      return [
        bad(
          'Temporal',
          'no-namespace',
          `${address} has no namespace ${namespace}: make it, or set TEMPORAL_NAMESPACE.`,
          EXIT.refused,
        ),
      ];
    }
    const remedy = 'start it (towline up starts one), or set TEMPORAL_ADDRESS.';
    return [bad('Temporal', 'unreachable', `${address} cannot be reached: ${remedy}`, EXIT.unreachable)];
  } finally {
    await temporal.close();
  }
}

async function examine(temporal: TemporalClient, address: string): Promise<readonly Finding[]> {
  const { client, namespace } = temporal;
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  await client.workflowService.describeNamespace({ namespace });
  const queues = await Promise.all(QUEUES.map((queue) => queueState(temporal, queue)));
  return [
    serverVersion && !isUsable(serverVersion)
      ? bad(
          'Temporal',
          'too-old',
          `${address} is server ${serverVersion}: use ${oldestUsableServer} or later.`,
          EXIT.refused,
        )
      : good('Temporal', `${address}, server ${serverVersion ?? '(says no version)'}, namespace ${namespace}`),
    await searchAttributes(client.connection as Connection, namespace),
    ...queues.flatMap((state) => workersOf(state)),
  ];
}

/** The server remembers for this long who polled. A worker that was killed since is still included. */
const SEEN_WITHIN_MS = 5 * 60_000;
const MOST_SHOWN = 5;

function workersOf({ queue, taskQueue, pollers, limit }: QueueState): readonly Finding[] {
  const about = `workers of ${queue}`;
  const seen = pollers
    .map(({ identity, seenAtMs }) => ({ identity, agoMs: Math.max(0, systemClock.nowMs() - seenAtMs) }))
    .filter(({ agoMs }) => agoMs <= SEEN_WITHIN_MS)
    .toSorted((one, other) => one.agoMs - other.agoMs);
  const shown = seen
    .slice(0, MOST_SHOWN)
    .map(({ identity, agoMs }) => `${identity} ${Math.round(agoMs / 1_000)} s ago`);
  const more = seen.length > MOST_SHOWN ? ` and ${seen.length - MOST_SHOWN} more` : '';
  const found =
    seen.length > 0
      ? good(about, `seen on ${taskQueue} in the last five minutes: ${shown.join(', ')}${more}`)
      : note(
          about,
          'none',
          `none on ${taskQueue} in the last five minutes: ${WAITING[queue]} (towline worker --queues ${queue}).`,
        );
  if (limit === undefined) return [found];
  const because = limit.reason === '' ? 'no reason given' : limit.reason;
  const sentence =
    limit.perSecond === 0
      ? `${taskQueue} is stopped (${because}): nothing of it begins until a person lifts that; see docs/deployment.md.`
      : `${taskQueue} is limited to ${limit.perSecond} a second (${because}), despite MONEY_RATE_LIMIT.`;
  return [found, note(`limit of ${queue}`, limit.perSecond === 0 ? 'stopped' : 'limited', sentence)];
}

const WAITING: Readonly<Record<QueueState['queue'], string>> = {
  flows: 'flows wait until a worker runs',
  money: 'nothing is sent until a worker runs',
  lookups: 'nothing is looked up until a worker runs',
  callbacks: 'callers get no callbacks until a worker runs',
};

/** A flow sets them when it parks or ends. */
async function searchAttributes(connection: Connection, namespace: string): Promise<Finding> {
  const name = 'search attributes';
  const needed = Object.keys(SEARCH_ATTRIBUTES);
  const found = await connection.operatorService.listSearchAttributes({ namespace }).catch(() => undefined);
  if (found === undefined) {
    return note(
      name,
      'not-listed',
      `this server does not list its own; ${needed.join(' and ')} (Keyword) must be registered.`,
    );
  }
  const missing = needed.filter((attribute) => !(attribute in found.customAttributes));
  if (missing.length === 0) return good(name, `${needed.join(' and ')} are registered`);
  const named = missing.map((attribute) => `--name ${attribute} --type Keyword`).join(' ');
  const command = `temporal operator search-attribute create --namespace ${namespace} ${named}`;
  return bad(
    name,
    'missing',
    `${missing.join(', ')} missing, without which flows neither park nor end: ${command}`,
    EXIT.refused,
  );
}
