import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { reportSettlement } from '../../src/contract/bridge.js';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { connectTemporal } from '../../src/temporal/connection.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { failingOf } from '../end-to-end/kinds-at-play.js';
import { KINDS as ALL_KINDS } from '../harness/kinds.js';
import { byState, reconcile } from '../end-to-end/reconcile.js';
import { clusterUrl, makeTemporaryDatabase, type TemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { openJournal } from '../harness/journal.js';
import { newReference } from '../harness/references.js';
import { keyring, NAMESPACE, SERVICE_TOKEN, SETTLEMENT_SECRET } from './fixed.js';
import { inTurns } from '../../src/in-turns.js';
import { startProcess, type ProcessUnderTest } from './processes.js';

/** These gateways take no cards: a card lives in the memory of the gateway that took it. */
const KINDS = ALL_KINDS.filter(({ kind }) => kind !== 'card-deposit');
/** Of each kind: one fails, one does not. */
const FLOWS = 2;
const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';

(clusterUrl === undefined ? describe.skip : describe)('two gateways and two workers on one Postgres', () => {
  const taskQueue = `machines-${randomUUID()}`;
  let folder: string;
  let database: TemporaryDatabase;
  let sandbox: Sandbox;
  let gateways: readonly ProcessUnderTest[] = [];
  let workers: readonly ProcessUnderTest[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-machines-'));
    database = await makeTemporaryDatabase();
    const common = { temporalAddress, taskQueue, storePath: database.url, holds: [], laterMs: 0, port: 0 };
    // All four make its tables.
    gateways = await Promise.all(
      ['a', 'b'].map((name) => startProcess('gateway-child.ts', { ...common, home: join(folder, name) })),
    );
    sandbox = await startSandbox({
      dbPath: join(folder, 'sandbox.db'),
      token: SERVICE_TOKEN,
      stepMs: 50,
      settlementUrl: `${gateways[1]?.url}${reportSettlement.path}`,
      settlementSecret: SETTLEMENT_SECRET,
    });
    workers = await Promise.all(
      gateways.map(({ url }) =>
        startProcess('worker-child.ts', {
          ...common,
          serviceUrl: sandbox.url,
          publicUrl: url,
          serviceTimeoutMs: 5_000,
          bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
        }),
      ),
    );
  });
  afterAll(async () => {
    await Promise.all([...gateways, ...workers].map((running) => running.kill()));
    await sandbox.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const control = async (path: string, body: unknown): Promise<void> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    expect((await fetch(`${sandbox.url}/_sandbox${path}`, init)).ok).toBe(true);
  };
  const call = async (machine: number, path: string, body?: unknown) => {
    const headers = { authorization: 'Bearer dev-token', 'content-type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${gateways[machine % 2]?.url}${path}`, init);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  test('take a mixed load: each flow ends once, whichever of them gets it, I1 to I8 exact', async () => {
    await control('/adversary', { duplicate: 0.3, reorder: 0.3, delay: 0.2, delayMs: 200, early: 0.3 });
    const plays = Array.from({ length: FLOWS }, (_, turn) => KINDS.map((kind) => ({ kind, fails: turn === 0 }))).flat();
    const journal = openJournal(join(folder, 'driver.jsonl'));
    const ends = await inTurns([...plays.entries()], 12, async ([machine, { kind, fails }]) => {
      const reference = newReference(`machines-${kind.kind}`.replaceAll(/review|pending|rejected/g, 'x'));
      const scenario = { reference, ending: failingOf(kind).ending, operation: kind.record };
      if (fails) await control('/scenarios', scenario);
      const begun = kind.begunBy?.(reference);
      if (begun !== undefined) await control(begun.path, begun.body);
      const input = { ...kind.input(reference), timeScale: 0.02 };
      // Both get the request at once; one of them starts it.
      const asked = { of: 'gateway', method: 'POST', path: `/flows/${kind.kind}`, body: JSON.stringify(input) };
      const answers = await Promise.all([0, 1].map((at) => journal.write(asked, () => call(at, asked.path, input))));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 201]);
      const { body } = await call(machine, `/flows/${kind.kind}/${reference}/wait?timeoutSeconds=40`);
      return { kind: kind.kind, state: body['state'], expected: fails ? failingOf(kind).state : 'completed' };
    });
    expect(ends.filter(({ state, expected }) => state !== expected)).toEqual([]);

    const temporal = connectTemporal({
      variables: { TEMPORAL_ADDRESS: temporalAddress },
      dataConverter: createDataConverter({ keyring, namespace: NAMESPACE }),
    });
    const { flows, inbox, executions } = await reconcile({
      client: temporal.client,
      taskQueue,
      sandboxUrl: sandbox.url,
      gatewayUrl: 'http://127.0.0.1:',
      storePath: database.url,
      payloadKeys: new Map([[keyring.active.id, keyring.active.bytes]]),
      journal: journal.path,
      drivenAlone: true,
    });
    journal.close();
    await temporal.close();
    expect(flows).toHaveLength(KINDS.length * FLOWS);
    expect(Object.keys(byState({ flows })).toSorted()).toEqual(['completed', 'failed', 'refunded']);
    expect(executions.length).toBeGreaterThanOrEqual(flows.length - FLOWS);
    expect(inbox.length).toBeGreaterThan(flows.length);

    // Both gateways handled some of it, and both workers did.
    const urls = await fetch(`${sandbox.url}/_sandbox/deliveries`);
    const { deliveries } = (await urls.json()) as { deliveries: { url: string }[] };
    for (const { url } of gateways) expect(deliveries.some((one) => one.url.startsWith(url))).toBe(true);
  });
});
