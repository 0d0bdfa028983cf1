import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startDevServer, type DevServer } from '../../src/temporal/dev-server.js';
import { STATE_ATTRIBUTE } from '../../src/flows/vocabulary.js';
import { until } from '../gateway/setup/until.js';
import type { Hold } from './crash-points.js';
import { ACCOUNT } from './fixed.js';
import { endings, openRig, PATIENCE_MS, untilShown, type Rig } from './rig.js';
import { newReference, transferInput } from './transfers.js';

/** Flows for each of the three moments. */
const N = 10;
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
  }, 60_000);
  afterAll(async () => {
    await rig.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    { moment: 'before it, and back after the worker has tried to complete it', hold: RETURNED, release: 'when down' },
    { moment: 'while it is being completed', hold: RETURNED, release: 'as it dies' },
    { moment: 'before it, and the worker dies, too', hold: RECORDED, release: 'never' },
  ])(
    `$moment: executions 1, and ${N} of ${N} flows go on and complete`,
    async ({ hold, release }) => {
      const worker = await rig.worker({ holds: [hold] });
      await rig.control('POST', '/clock', { freeze: true });
      const references = Array.from({ length: N }, () => newReference(hold.word));
      const handles = await Promise.all(references.map((reference) => rig.start(transferInput(reference))));
      await worker.untilHeld(hold, N);

      if (release === 'as it dies') {
        worker.order('release');
        await until('the first answer to be recorded', async () => (await answered(references)) > 0, PATIENCE_MS);
      }
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
      if (release === 'when down') {
        worker.order('release');
        await until('the answers to be recorded', async () => (await answered(references)) === N, PATIENCE_MS);
      }
      if (release === 'never') await worker.kill();
      server = await start(Number(server.address.split(':')[1]));
      const next = release === 'never' ? await rig.worker() : worker;

      // Without events, nothing but the claim keeps a second attempt from sending.
      await untilShown(handles, 'accepted', ({ view }) => view.stage === 'tracking');
      await rig.control('POST', '/clock', { unfreeze: true });
      const reports = await endings(handles);
      expect(new Set(reports.map(({ view }) => view.state))).toEqual(new Set(['completed']));
      const executions = await rig.executions();
      expect(references.map((reference) => executions.get(`createBridgeDeposit ${reference}`))).toEqual(
        references.map(() => 1),
      );
      // Only then is it the claim's answer that the flow went on with.
      if (release === 'never') expect(next.claimed('reserve', 'answered')).toHaveLength(N);
      await next.kill();
    },
    90_000,
  );

  function start(port: number): Promise<DevServer> {
    return startDevServer({
      executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
      home: folder,
      dbFile: join(folder, 'temporal.db'),
      port,
      uiPort: false,
      searchAttributes: { [STATE_ATTRIBUTE]: 'Keyword' },
      log: () => {},
    });
  }

  async function answered(references: readonly string[]): Promise<number> {
    const claims = await Promise.all(
      references.map((reference) =>
        rig.store.claims.get({ account: ACCOUNT, operation: 'createBridgeDeposit', reference }),
      ),
    );
    return claims.filter((claim) => claim?.phase === 'answered').length;
  }
});
