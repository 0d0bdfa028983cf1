import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { reportSettlement } from '../../src/contract/bridge.js';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';
import { until } from '../harness/until.js';
import type { Hold } from './crash-points.js';
import { ACCOUNT, SETTLEMENT_SECRET } from './fixed.js';
import { endings, openRig, untilShown, type Rig } from './rig.js';
import { newReference } from '../harness/references.js';
import { settlement, transferInput } from '../harness/inputs.js';
import { signed } from '../gateway/setup/sign.js';

/** The POST returned, and the activity cannot complete before it is released. */
const RETURNED: Hold = { word: 'returned', moment: 'before', step: 'recordAnswer' };
const RECORDED: Hold = { word: 'recorded', moment: 'after', step: 'recordAnswer' };
const FLOWS = 5;

let folder: string;
let server: DevServer;
let rig: Rig;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towline-temporal-'));
  server = await start(0);
  rig = await openRig({ temporalAddress: server.address });
});
afterAll(async () => {
  await rig.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("Temporal is killed (SIGKILL) around the completion of the deposit's activity", () => {
  it.each([
    { moment: 'before it, and back after the worker has tried to complete it', hold: RETURNED, release: 'when down' },
    { moment: 'while it is being completed', hold: RETURNED, release: 'as it dies' },
    { moment: 'before it, and the worker dies, too', hold: RECORDED, release: 'never' },
  ])('$moment: one execution, and the flow goes on and completes', async ({ hold, release }) => {
    const worker = await rig.worker({ holds: [hold] });
    await rig.control('POST', '/clock', { freeze: true });
    const reference = newReference(hold.word);
    const handle = await rig.start(transferInput(reference));
    await worker.untilHeld(hold, 1);

    const answered = () => until('the answer to be recorded', async () => (await phase(reference)) === 'answered');
    if (release === 'as it dies') {
      worker.order('release');
      await answered();
    }
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
    if (release === 'when down') {
      worker.order('release');
      await answered();
    }
    if (release === 'never') await worker.kill();
    server = await start(Number(server.address.split(':')[1]));
    const next = release === 'never' ? await rig.worker() : worker;

    // Without events, nothing but the claim keeps a second attempt from sending.
    await untilShown([handle], 'accepted', ({ view }) => view.stage === 'tracking');
    await rig.control('POST', '/clock', { unfreeze: true });
    const [report] = await endings([handle]);
    expect(report?.view.state).toBe('completed');
    expect((await rig.executions()).get(`createBridgeDeposit ${reference}`)).toBe(1);
    // Only then it is the claim's answer with which the flow continued.
    if (release === 'never') expect(next.claimed('reserve', 'answered')).toEqual([reference]);
    await next.kill();
  });
});

describe('Temporal is frozen (SIGSTOP) under a gateway that is connected to it', () => {
  it('fault 58: webhooks are answered 200, and it is ready for events, not for orders; all are delivered afterwards', async () => {
    const worker = await rig.worker();
    // All events come from the test.
    await rig.control('POST', '/clock', { freeze: true });
    const references = Array.from({ length: FLOWS }, () => newReference('frozen'));
    const handles = await Promise.all(references.map((reference) => rig.start(transferInput(reference))));
    await untilShown(handles, 'accepted', ({ view }) => view.stage === 'tracking');
    expect(await status('/readyz/orders')).toBe(200);

    process.kill(server.pid, 'SIGSTOP');
    try {
      for (const event of ['SETTLING', 'COMPLETED']) {
        expect(await Promise.all(references.map((reference) => report(reference, event)))).toEqual(
          references.map(() => 200),
        );
      }
      await until('it to be not ready for orders', async () => (await status('/readyz/orders')) === 503);
      expect(await status('/readyz/intake')).toBe(200);
      expect(await Promise.all(references.map((reference) => report(reference, 'COMPLETED')))).toEqual(
        references.map(() => 200),
      );
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }

    await until('it to be ready for orders', async () => (await status('/readyz/orders')) === 200);
    expect((await endings(handles)).map(({ view }) => view.state)).toEqual(references.map(() => 'completed'));
    for (const { workflowId: flowId } of handles) {
      // The repeat of the second one is no row. The service adds callbacks of its own once the flow reports the settlement.
      await until('its events to be applied', async () => {
        const rows = (await rig.store.inbox.list({ flowId })).filter(({ source }) => source === 'settlement');
        return rows.length === 2 && rows.every(({ state }) => state === 'applied');
      });
    }
    await rig.control('POST', '/clock', { unfreeze: true });
    await worker.kill();
  });

  const status = async (path: string) => (await fetch(rig.gatewayUrl + path)).status;

  /** A signed event of the settlement provider. */
  async function report(reference: string, event: string): Promise<number> {
    const body = JSON.stringify(settlement(reference, event));
    const headers = { 'content-type': 'application/json', ...signed(SETTLEMENT_SECRET, body) };
    return (await fetch(rig.gatewayUrl + reportSettlement.path, { method: 'POST', headers, body })).status;
  }
});

function start(port: number): Promise<DevServer> {
  return startDevServer({
    executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
    home: folder,
    dbFile: join(folder, 'temporal.db'),
    port,
    uiPort: false,
    searchAttributes: SEARCH_ATTRIBUTES,
    log: () => {},
  });
}

async function phase(reference: string): Promise<string | undefined> {
  return (await rig.store.claims.get({ account: ACCOUNT, operation: 'createBridgeDeposit', reference }))?.phase;
}
