import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';
import { until } from '../harness/until.js';
import type { Hold } from './crash-points.js';
import { ACCOUNT } from './fixed.js';
import { endings, openRig, untilShown, type Rig } from './rig.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

/** The POST returned, and the activity cannot complete before it is released. */
const RETURNED: Hold = { word: 'returned', moment: 'before', step: 'recordAnswer' };
const RECORDED: Hold = { word: 'recorded', moment: 'after', step: 'recordAnswer' };

describe("Temporal is killed (SIGKILL) around the completion of the deposit's activity", () => {
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
});
