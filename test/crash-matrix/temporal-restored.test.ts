import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import type { FlowReport } from '../../src/api/flow.js';
import { flowIdOf, SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';
import { run, scratchFolder } from '../cli/run.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { controlOf } from '../harness/service.js';
import { until } from '../harness/until.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import cryptoSend from '../kinds/crypto-send.js';
import { type GatewayProcess, openWorkerRig, type WorkerProcess } from './worker-process.js';

/** The service has a lookup for the one, and none for the other. */
const KINDS = { 'crypto-send': cryptoSend, 'bank-withdrawal': bankWithdrawal } as const;
type Kind = keyof typeof KINDS;
const OF_EACH_KIND = 2;
const IN_A_GROUP = OF_EACH_KIND * Object.keys(KINDS).length;
const TOKEN = 'dev-token';

const scratch = await scratchFolder();
const database = join(scratch, 'temporal.db');
const copy = join(scratch, 'copy.db');

let server: DevServer;
let rig: Awaited<ReturnType<typeof openWorkerRig>>;
beforeAll(async () => {
  server = await startServer(0);
  // The service executes a repeat again, so that a second POST cannot hide.
  const sandbox = { stepMs: 20, repeatMode: 'execute-again' } as const;
  rig = await openWorkerRig(scratch, newReference('temporal-drill'), sandbox, server.address);
});
afterAll(async () => {
  await rig.close();
  await server.stop();
});

test('as a drill: Temporal is put back to an earlier copy, while the store is newer: nothing is sent twice, and the audit log names the flows that are lost', async () => {
  let { worker, gateway } = await startProcesses();
  const tracked = await startFlows(gateway, 'tracked');
  await answered(tracked);
  const underWay = await startFlows(gateway, 'under-way');
  await postsUnderWay();
  // From here on nothing takes a task, so these are not sent before the copy.
  worker.child.kill('SIGSTOP');
  const unsent = await startFlows(gateway, 'unsent');
  await server.stop();
  expect(rig.service.posts()).toBe(tracked.length + underWay.length);
  await copyDatabase(database, copy);
  server = await startServer(portOf(server));
  worker.child.kill('SIGCONT');

  await until('the unsent to be sent', () => rig.service.underWay() === 2 * IN_A_GROUP);
  rig.service.letGo();
  await shown([...underWay, ...unsent]);
  const lost = await startFlows(gateway, 'lost');
  await answered(lost);
  const cut = await startFlows(gateway, 'cut');
  await postsUnderWay();
  const all = [tracked, underWay, unsent, lost, cut].flat();
  const sent = rig.service.posts();
  expect(sent).toBe(all.length);

  for (const { child, ended } of [worker, gateway]) {
    child.kill('SIGKILL');
    await ended;
  }
  await server.stop();
  await copyDatabase(copy, database);
  server = await startServer(portOf(server));
  ({ worker, gateway } = await startProcesses());
  rig.service.letGo();

  expect(await startsThatAreLost(gateway)).toEqual([...lost, ...cut].map(({ flowId }) => flowId).toSorted());
  for (const flow of [...lost, ...cut]) await start(gateway, flow);
  // The answers to these were cut off, and the service has no lookup for them.
  const unsure = cut.filter(({ kind }) => kind === 'bank-withdrawal');
  const ended = await Promise.all(all.filter((flow) => !unsure.includes(flow)).map((flow) => endOf(flow)));
  expect(new Set(ended)).toEqual(new Set(['completed']));
  for (const { flowId } of unsure) {
    const { view } = await untilFlow(rig.client.workflow.getHandle(flowId), (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('unknown_outcome');
  }
  const { executions } = controlOf(rig.sandbox.url);
  const counts = await Promise.all(all.map(({ kind, reference }) => executions(KINDS[kind].record, reference)));
  expect(counts).toEqual(all.map(() => 1));
  expect(rig.service.posts()).toBe(sent);
  // Two starts of a Temporal server, and of a worker and a gateway.
}, 300_000);

interface Flow {
  readonly kind: Kind;
  readonly reference: string;
  readonly flowId: string;
}

function startServer(port: number): Promise<DevServer> {
  return startDevServer({
    executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
    home: scratch,
    dbFile: database,
    port,
    uiPort: false,
    searchAttributes: SEARCH_ATTRIBUTES,
    log: () => {},
  });
}

/** While no server has it open. Its log of changes belongs to it. */
async function copyDatabase(from: string, to: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) {
    await rm(to + suffix, { force: true });
    if (existsSync(from + suffix)) await copyFile(from + suffix, to + suffix);
  }
}

const portOf = ({ address }: DevServer): number => Number(address.split(':')[1]);

async function startProcesses(): Promise<{ worker: WorkerProcess; gateway: GatewayProcess }> {
  return { worker: await rig.startWorker(), gateway: await rig.startGateway({}) };
}

async function startFlows(gateway: GatewayProcess, word: string): Promise<readonly Flow[]> {
  const flows = (Object.keys(KINDS) as Kind[]).flatMap((kind) =>
    Array.from({ length: OF_EACH_KIND }, () => {
      const reference = newReference(word);
      return { kind, reference, flowId: flowIdOf(kind, reference) };
    }),
  );
  await Promise.all(flows.map((flow) => start(gateway, flow)));
  return flows;
}

async function start({ url }: GatewayProcess, { kind, reference }: Flow): Promise<void> {
  const input = { ...KINDS[kind].input(reference), timeScale: 0.005, deadlineSeconds: 2_592_000 };
  const answer = await fetch(`${url}/flows/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  expect([answer.status, await answer.text()]).toEqual([201, expect.anything()]);
}

/** As an operator finds them: started by the audit log, and unknown to Temporal. */
async function startsThatAreLost({ url }: GatewayProcess): Promise<readonly string[]> {
  const env = { GATEWAY_URL: url, TOWLINE_TOKEN: TOKEN };
  const { code, out } = await run(['audit', 'list', '--kind', 'start', '--limit', '500', '--json'], env);
  expect(code).toBe(0);
  const { entries } = JSON.parse(out) as { readonly entries: readonly { readonly flowId: string }[] };
  const shownFlows = await Promise.all(
    entries.map(async ({ flowId }) => ({ flowId, ...(await run(['show', flowId], env)) })),
  );
  const lost = shownFlows.filter(({ err }) => err.includes('There is no flow'));
  return lost.map(({ flowId }) => flowId).toSorted();
}

/** The service has executed all POSTs of a group, and answered none. */
const postsUnderWay = () => until('the POSTs to be under way', () => rig.service.underWay() === IN_A_GROUP);

/** Has the service answer their POSTs, and waits until the flows know it. */
async function answered(flows: readonly Flow[]): Promise<void> {
  await postsUnderWay();
  rig.service.letGo();
  await shown(flows);
}

async function shown(flows: readonly Flow[]): Promise<void> {
  const knows = ({ view }: FlowReport) => view.stage === 'tracking' || view.state !== 'running';
  await Promise.all(flows.map(({ flowId }) => untilFlow(rig.client.workflow.getHandle(flowId), knows)));
}

/** Only events report the end of a withdrawal, and the service has no address of the gateway. */
async function endOf({ kind, flowId }: Flow): Promise<string> {
  const handle = rig.client.workflow.getHandle(flowId);
  if (kind === 'bank-withdrawal') await handle.signal('events', [trusted('SUCCESSFUL')]);
  return ((await handle.result()) as FlowReport).view.state;
}
