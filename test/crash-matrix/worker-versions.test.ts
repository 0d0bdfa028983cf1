import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DevServer, startDevServer } from '../../src/dev-server/dev-server.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';
import { scratchFolder } from '../cli/run.js';
import { flowInput } from '../harness/kind.js';
import { NAMESPACE } from '../harness/fixed.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { endOf, untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import cardDeposit from '../kinds/card-deposit.js';
import { startCardGateway } from '../flows/cards/card-gateway.js';

const UPDATE_IN_PROGRESS = proto.temporal.api.enums.v1.RoutingConfigUpdateState.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS;

const scratch = await scratchFolder();
let server: DevServer;
let bench: Stack;
beforeAll(async () => {
  // A Temporal server of its own: beside a thousand other flows, versions once took minutes to reach the task queues.
  server = await startDevServer({
    executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
    home: scratch,
    port: 0,
    uiPort: false,
    searchAttributes: SEARCH_ATTRIBUTES,
    log: () => undefined,
  });
  bench = await openStack({ worker: false, temporalAddress: server.address });
});
afterAll(async () => {
  await bench.close();
  await server.stop();
});

test('a deployment goes from N to N+1 and back: flows that are parked meanwhile go on with the version that is current', async () => {
  const parked = [await parkedFlow('forwards', 'n'), await parkedFlow('back', 'n')] as const;
  const next = await bench.worker({}, { buildId: 'n1' });
  await makeCurrent('n1');
  await stopVersion('n');
  await complete(parked[0], 'n1');

  // The card stays with its gateway, which has no version.
  const cards = await startCardGateway(bench, { info() {}, warn() {}, error() {}, debug() {} });
  const reference = newReference('card');
  const input = { ...flowInput(cardDeposit, reference), ...cards.keep() };
  const card = await bench.startFlow('card-deposit', reference, input);
  await untilFlow(card, ({ view }) => view.stage === 'tracking');
  expect(await bench.executions('createCardDeposit', reference)).toBe(1);
  await cards.close();

  await startVersion('n');
  await makeCurrent('n');
  await next.shutdown();
  await complete(parked[1], 'n');
  await card.signal('events', [trusted('SUCCESSFUL')]);
  expect((await endOf(card)).view.state).toBe('completed');
  expect(await versionOf(card)).toBe('n');
});

test('a ramp sends a share of the flows to N+1, until it is ended: then all go on with N, and each is executed once', async () => {
  await ensureCurrent('n');
  await startVersion('n2');
  await ramp('n2', 50);
  const flows = await Promise.all(Array.from({ length: 8 }, () => startFlow('ramp')));
  // By the flow's id: a flow does not change versions while the share is the same.
  expect(new Set(await Promise.all(flows.map(({ handle }) => versionOf(handle))))).toEqual(new Set(['n', 'n2']));
  await ramp('n2', 0);
  await Promise.all(flows.map(({ handle }) => handle.signal('events', [trusted('SUCCESSFUL')])));
  for (const { handle, reference } of flows) {
    expect((await endOf(handle)).view.state).toBe('completed');
    expect([await versionOf(handle), await bench.executions('createBankWithdrawal', reference)]).toEqual(['n', 1]);
  }
});

const running = new Map<string, Awaited<ReturnType<Stack['worker']>>>();

async function startVersion(buildId: string): Promise<void> {
  running.set(buildId, await bench.worker({}, { buildId }));
}

async function stopVersion(buildId: string): Promise<void> {
  await running.get(buildId)?.shutdown();
  running.delete(buildId);
}

async function ensureCurrent(buildId: string): Promise<void> {
  if (running.has(buildId)) return;
  await startVersion(buildId);
  await makeCurrent(buildId);
}

/** As `temporal worker deployment set-current-version` does. */
const makeCurrent = (buildId: string): Promise<unknown> =>
  oncePolled(buildId, () => bench.client.workflowService.setWorkerDeploymentCurrentVersion(orderFor(buildId)));

/** As `temporal worker deployment set-ramping-version` does. */
const ramp = (buildId: string, percentage: number): Promise<unknown> =>
  oncePolled(buildId, () =>
    bench.client.workflowService.setWorkerDeploymentRampingVersion({ ...orderFor(buildId), percentage }),
  );

const orderFor = (buildId: string) => ({
  namespace: NAMESPACE,
  deploymentName: bench.taskQueue,
  buildId,
  identity: 'a test',
});

/** The order is refused until workers of the version poll, and reaches the task queues after its answer. */
async function oncePolled(buildId: string, order: () => Promise<unknown>): Promise<void> {
  await until(`an order about the version ${buildId} to be taken`, () =>
    order().then(
      () => true,
      () => false,
    ),
  );
  const { workflowService } = bench.client;
  await until(`the task queues to follow the order about ${buildId}`, async () => {
    const asked = { namespace: NAMESPACE, deploymentName: bench.taskQueue };
    const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment(asked);
    return workerDeploymentInfo?.routingConfigUpdateState !== UPDATE_IN_PROGRESS;
  });
}

/** A withdrawal that has been sent, and waits for events. */
async function startFlow(word: string): Promise<{ readonly handle: WorkflowHandle; readonly reference: string }> {
  const reference = newReference(word);
  await bench.control('POST', '/scenarios', { reference, ending: 'never', operation: 'createBankWithdrawal' });
  const handle = await bench.startFlow('bank-withdrawal', reference, bankWithdrawal.input(reference));
  await untilFlow(handle, ({ view }) => view.stage === 'tracking');
  return { handle, reference };
}

/** Parked by a contradiction, on this version. */
async function parkedFlow(word: string, buildId: string): Promise<WorkflowHandle> {
  await ensureCurrent(buildId);
  const { handle } = await startFlow(word);
  await handle.signal('events', [trusted('SUCCESSFUL'), trusted('FAILED')]);
  await untilFlow(handle, ({ view }) => view.state === 'parked');
  expect(await versionOf(handle)).toBe(buildId);
  return handle;
}

async function complete(handle: WorkflowHandle, buildId: string): Promise<void> {
  await handle.executeUpdate('resolve', { args: [{ action: 'mark-completed', note: 'asked the bank', actor: 'ada' }] });
  expect((await endOf(handle)).view.state).toBe('completed');
  expect(await versionOf(handle)).toBe(buildId);
}

/** On which version its last step ran. */
async function versionOf(handle: WorkflowHandle): Promise<string | null | undefined> {
  const { raw } = await handle.describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}
