import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { stillOpenAt } from '../../src/cli/wiring/notifier.js';
import { readSettings } from '../../src/config/index.js';
import { createNotifier, NOTIFY_DUTY_MS, type NotifyDeps } from '../../src/notify/index.js';
import { createDuty } from '../../src/store/duties.js';
import { connectTemporal, type TemporalClient } from '../../src/temporal/connection.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { openAt, keyring } from '../store/temporary-store.js';
import { startReceiver, type Receiver } from './receiver.js';

/** What people are promised, from the flow's own `parked since` to the notification. */
const NOTIFIED_WITHIN_MS = 10_000;
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

let bench: Stack;
let receiver: Receiver;
let frozen: Server;
let unanswered: TemporalClient;
const sockets = new Set<Socket>();
beforeAll(async () => {
  bench = await openStack({ time: 'real' });
  receiver = await startReceiver();
  // It takes connections, and never answers.
  frozen = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
  await once(frozen, 'listening');
  const { dataConverter } = bench;
  const { port } = frozen.address() as AddressInfo;
  unanswered = connectTemporal({ variables: { TEMPORAL_ADDRESS: `127.0.0.1:${port}` }, dataConverter });
});
afterAll(async () => {
  await unanswered.close();
  for (const socket of sockets) socket.destroy();
  frozen.close();
  await receiver.close();
  await bench.close();
});

/** What a gateway or a worker does for people, with a store object of its own and a Temporal that is frozen. */
async function openProcess() {
  const store = await openAt(bench.storePath, { keyring });
  const deps: NotifyDeps = {
    matters: store.matters,
    duty: createDuty(store.duties, 'notifying', NOTIFY_DUTY_MS, () => performance.now()),
    targets: () => readSettings({ NOTIFY_URLS: receiver.url, NOTIFY_SECRETS: SECRET }).notifyTargets,
    secrets: () => [SECRET],
    escalateAfterMs: [2_000],
    places: { gatewayUrl: 'http://127.0.0.1', namespace: 'default' },
    isStillOpen: stillOpenAt(unanswered.client, store),
    log: { info: () => undefined, warn: () => undefined },
  };
  const notifier = createNotifier(deps);
  notifier.start();
  return {
    async close() {
      await notifier.stop();
      await store.close();
    },
  };
}

it('a parked flow calls a person within seconds, once, with two processes and Temporal frozen; reminds; and notifies again when it is resolved', async () => {
  const processes = [await openProcess(), await openProcess()];
  try {
    const reference = newReference('called');
    await bench.control('POST', '/scenarios', { reference, ending: 'silent' });
    const handle = await bench.start(transferInput(reference, { deadlineSeconds: 2 }));
    const { view } = await untilFlow(handle, ({ view: { state } }) => state === 'parked');
    const events = () => receiver.received.map(({ body }) => body.type as string);
    const [first] = await receiver.until((received) => received.length > 0);
    const tookMs = (first?.atMs ?? 0) - Date.parse(view.parked?.since ?? '');
    console.log(`parked → received: ${tookMs} ms`);
    expect(tookMs).toBeGreaterThanOrEqual(0);
    expect(tookMs).toBeLessThan(NOTIFIED_WITHIN_MS);
    expect(first?.body.data).toMatchObject({
      kind: 'parked',
      flowId: `bridge-transfer/${reference}`,
      reason: 'no_settlement',
      since: view.parked?.since,
      actions: view.parked?.actions,
    });
    await receiver.until(() => events().includes('matter.reminder'));
    await handle.executeUpdate('resolve', {
      args: [{ actor: 'ann', action: 'mark-completed', note: 'the provider says so' }],
    });
    await handle.result();
    await receiver.until(() => events().includes('matter.resolved'));
    expect(events()).toEqual(['matter.opened', 'matter.reminder', 'matter.resolved']);
    expect(new Set(receiver.received.map(({ body }) => body.data.matterId)).size).toBe(1);
  } finally {
    for (const process of processes) await process.close();
  }
}, 120_000);
