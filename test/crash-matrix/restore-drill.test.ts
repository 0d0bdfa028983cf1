import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FlowReport } from '../../src/api/flow.js';
import { flowIdOf, workflowTypeOf } from '../../src/protocol/vocabulary.js';
import { run, scratchFolder } from '../cli/run.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { controlOf } from '../harness/service.js';
import { until } from '../harness/until.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import cryptoSend from '../kinds/crypto-send.js';
import { findPostgres } from '../setup/postgres/find-postgres.js';
import { makeTemporaryDatabase, type TemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { describeStores } from '../store/store-kinds.js';
import { openWorkerRig } from './worker-process.js';

type Rig = Awaited<ReturnType<typeof openWorkerRig>>;

/** The service has a lookup for the one, and none for the other. */
const KINDS = { 'crypto-send': cryptoSend, 'bank-withdrawal': bankWithdrawal } as const;
const OF_EACH_KIND = 2;
const IN_A_GROUP = OF_EACH_KIND * Object.keys(KINDS).length;

const scratch = await scratchFolder();

describeStores('fault 55, as a drill: a backup under load, a disaster, the restore', (kind) => {
  let database: TemporaryDatabase | undefined;
  let rig: Rig;
  beforeAll(async () => {
    database = kind === 'postgres' ? await makeTemporaryDatabase() : undefined;
    const folder = join(scratch, kind);
    await mkdir(folder);
    // The service executes a repeat again, so that a second POST cannot hide.
    const sandbox = { stepMs: 20, repeatMode: 'execute-again' } as const;
    rig = await openWorkerRig(folder, newReference('drill'), sandbox, undefined, database?.url);
  });
  afterAll(async () => {
    await rig.close();
    await database?.drop();
  });

  test('nothing is sent twice, and nothing is lost', async () => {
    const worker = await rig.startWorker();
    const before = await startFlows(rig, 'before');
    await answered(rig, before);

    const during = await startFlows(rig, 'during');
    await underWay(rig);
    const copy = join(scratch, kind, 'backup');
    await (database === undefined ? backUp(rig, copy) : dump(database, copy));
    await answered(rig, during);

    const after = await startFlows(rig, 'after');
    await answered(rig, after);
    const cut = await startFlows(rig, 'cut');
    await underWay(rig);
    worker.child.kill('SIGKILL');
    await worker.ended;
    rig.service.letGo();
    const waiting = await startFlows(rig, 'waiting');

    if (database === undefined) {
      for (const suffix of ['', '-wal', '-shm']) await rm(rig.store + suffix, { force: true });
      await copyFile(copy, rig.store);
    } else {
      await restore(database, copy);
    }
    const raised = await run(['store', 'raise-epoch'], rig.env);
    expect(raised).toMatchObject({ code: 0, err: '' });
    await rig.startWorker();
    await answered(rig, waiting);

    const all = [before, during, after, cut, waiting].flat();
    // The service's answer to these is lost, and so is their claim.
    const unsure = cut.filter((flow) => flow.kind === 'bank-withdrawal');
    const ended = await Promise.all(all.filter((flow) => !unsure.includes(flow)).map((flow) => endOf(flow)));
    expect(new Set(ended)).toEqual(new Set(['completed']));
    for (const { handle } of unsure) {
      const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
      expect(view.parked?.reason).toBe('unknown_outcome');
    }
    const { executions } = controlOf(rig.sandbox.url);
    const counts = await Promise.all(all.map((flow) => executions(KINDS[flow.kind].record, flow.reference)));
    expect(counts).toEqual(all.map(() => 1));
  });
});

/** The embedded store. */
async function backUp(rig: Rig, copy: string): Promise<void> {
  expect(await run(['store', 'backup', copy], rig.env)).toMatchObject({ code: 0 });
  expect((await stat(copy)).mode & 0o777).toBe(0o600);
  expect(await run(['store', 'backup', copy], rig.env)).toMatchObject({
    code: 1,
    err: `${copy} exists: name a new file.`,
  });
}

const dump = ({ url }: TemporaryDatabase, copy: string) =>
  postgresTool('pg_dump', '--format', 'custom', '--file', copy, url);

/** In place: what came after the backup is gone, as on a new server. */
async function restore({ url, query }: TemporaryDatabase, copy: string): Promise<void> {
  await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await postgresTool('pg_restore', '--exit-on-error', '--dbname', url, copy);
}

const postgresTool = (name: string, ...args: readonly string[]) =>
  promisify(execFile)(join(findPostgres(process.env) ?? '', name), args);

interface Flow {
  readonly kind: keyof typeof KINDS;
  readonly reference: string;
  readonly handle: WorkflowHandle;
}

async function startFlows(rig: Rig, word: string): Promise<readonly Flow[]> {
  const kinds = Object.keys(KINDS) as Flow['kind'][];
  return Promise.all(
    kinds
      .flatMap((kind) => Array.from({ length: OF_EACH_KIND }, () => ({ kind, reference: newReference(word) })))
      .map(async ({ kind, reference }) => {
        const handle = await rig.client.workflow.start(workflowTypeOf(kind), {
          taskQueue: 'towline',
          workflowId: flowIdOf(kind, reference),
          args: [{ ...KINDS[kind].input(reference), timeScale: 0.005, deadlineSeconds: 2_592_000 }],
        });
        return { kind, reference, handle };
      }),
  );
}

/** The service has executed all POSTs of a group, and answered none. */
const underWay = (rig: Rig) => until('the POSTs to be under way', () => rig.service.underWay() === IN_A_GROUP);

/** Has the service answer their POSTs, and waits until the flows know it. */
async function answered(rig: Rig, flows: readonly Flow[]): Promise<void> {
  await underWay(rig);
  rig.service.letGo();
  await Promise.all(
    flows.map(({ handle }) => untilFlow(handle, ({ view }) => view.stage === 'tracking' || view.state !== 'running')),
  );
}

/** Only events report the end of a withdrawal, and no gateway runs here. */
async function endOf({ kind, handle }: Flow): Promise<string> {
  if (kind === 'bank-withdrawal') await handle.signal('events', [trusted('SUCCESSFUL')]);
  return ((await handle.result()) as FlowReport).view.state;
}
