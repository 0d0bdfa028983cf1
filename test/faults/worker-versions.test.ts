import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

let bench: Stack;
beforeAll(async () => {
  bench = await openStack({ worker: false });
});
afterAll(() => bench.close());

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

const running = new Map<string, Awaited<ReturnType<Stack['worker']>>>();

async function startVersion(buildId: string): Promise<void> {
  running.set(buildId, await bench.worker({}, { buildId }));
}

async function stopVersion(buildId: string): Promise<void> {
  await running.get(buildId)?.shutdown();
  running.delete(buildId);
}

/** As `temporal worker deployment set-current-version` does, once the version's workers poll. */
async function makeCurrent(buildId: string): Promise<void> {
  const order = { namespace: NAMESPACE, deploymentName: bench.taskQueue, buildId, identity: 'a test' };
  await until(`the version ${buildId} to be current`, () =>
    bench.client.workflowService.setWorkerDeploymentCurrentVersion(order).then(
      () => true,
      () => false,
    ),
  );
}

/** Parked by a contradiction, on this version. */
async function parkedFlow(word: string, buildId: string): Promise<WorkflowHandle> {
  if (!running.has(buildId)) {
    await startVersion(buildId);
    await makeCurrent(buildId);
  }
  const reference = newReference(word);
  await bench.control('POST', '/scenarios', { reference, ending: 'never', operation: 'createBankWithdrawal' });
  const handle = await bench.startFlow('bank-withdrawal', reference, bankWithdrawal.input(reference));
  await untilFlow(handle, ({ view }) => view.stage === 'tracking');
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
