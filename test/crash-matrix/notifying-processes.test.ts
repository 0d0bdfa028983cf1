import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { startReceiver, type Receiver } from '../callbacks/receiver.js';
import { scratchFolder } from '../cli/run.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { openWorkerRig } from './worker-process.js';

/** What people are promised, from the flow's own `parked since` to the notification. */
const NOTIFIED_WITHIN_MS = 10_000;
/** Three processes start. */
jest.setTimeout(300_000);
const scratch = await scratchFolder();

let rig: Awaited<ReturnType<typeof openWorkerRig>>;
let receiver: Receiver;
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
  rig = await openWorkerRig(scratch, newReference('notifying'), { stepMs: 20 });
  receiver = await startReceiver();
  settings = { NOTIFY_URLS: receiver.url, NOTIFY_SECRETS: `whsec_${Buffer.alloc(32, 3).toString('base64')}` };
});
afterAll(async () => {
  await rig.close();
  await receiver.close();
});

test('a worker that was started with NOTIFY_URLS notifies of a flow that parks, without any gateway', async () => {
  const worker = await rig.startWorker(undefined, settings);
  expect(await parkedToReceivedMs()).toBeLessThan(NOTIFIED_WITHIN_MS);
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
});

test('a gateway that was started with NOTIFY_URLS notifies of a flow that parks, if no worker has them', async () => {
  await rig.startWorker();
  await rig.startGateway(settings);
  expect(await parkedToReceivedMs()).toBeLessThan(NOTIFIED_WITHIN_MS);
});

/** Starts a transfer that the provider never settles, until it is parked and people are notified. */
async function parkedToReceivedMs(): Promise<number> {
  const reference = newReference('called');
  const scenario = await fetch(`${rig.sandbox.url}/_sandbox/scenarios`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reference, ending: 'silent' }),
  });
  expect(scenario.ok).toBe(true);
  const flowId = `bridge-transfer/${reference}`;
  await rig.client.workflow.start('bridgeTransfer', {
    taskQueue: 'towline',
    workflowId: flowId,
    args: [transferInput(reference, { timeScale: 0.0005, deadlineSeconds: 4_000 })],
  });
  const { body, atMs } = await until('the notification', () => {
    // The slow service withholds the answers of the quote and of the deposit.
    rig.service.letGo();
    return receiver.received.find((received) => received.body.data.flowId === flowId);
  });
  expect(body).toMatchObject({ type: 'matter.opened', data: { kind: 'parked' } });
  return atMs - Date.parse(body.data.since as string);
}
