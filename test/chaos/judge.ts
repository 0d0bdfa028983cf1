/*
 * The judge: a separate process beside the system that it judges. It waits until nothing moves any more, compares the
 * witnesses, replays every history and searches for what must not occur anywhere. `node --import ./tools/typescript.mjs
 * test/chaos/judge.ts CASE.json` writes the verdict, as JSON, to stdout.
 *
 * From the product it uses only what Temporal's client needs to read and replay a history: it reads what it compares by
 * its own code (`test/end-to-end/reconcile`, whose test checks that).
 */
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { createKeyring } from '../../src/keys/index.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { installRuntime } from '../../src/temporal/sdk-logger.js';
import { readWire } from '../harness/wire-log.js';
import { groupBy } from '../end-to-end/reconcile/group-by.js';
import { check } from '../end-to-end/reconcile/check.js';
import { ask, gather, type Sources } from '../end-to-end/reconcile/gather.js';
import { createRest } from '../end-to-end/reconcile.js';
import type { Witnesses } from '../end-to-end/reconcile/witnesses.js';
import { searchCanaries } from './canaries.js';
import { countBy, type Case, type Verdict } from './case.js';
import {
  fetchHistories,
  noneOverdue,
  pairsOf,
  readReports,
  replayAll,
  signalledIn,
  signalsAccountedFor,
} from './histories.js';
import { countEarly, requestsOfFlows } from './on-the-wire.js';
import { ownFaults, type Injection } from './own-faults.js';
import { storiesOf } from './stories.js';

const given = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Case;
const quiet = { info() {}, warn() {}, error() {}, debug() {} };
installRuntime(quiet);
const keyBytes = Buffer.from(given.payloadKey.base64, 'base64');
const keyring = createKeyring([{ id: given.payloadKey.id, bytes: keyBytes }]);
const dataConverter = createDataConverter({ keyring, namespace: 'default' });
const connection = await Connection.connect({ address: given.temporalAddress });
const client = new Client({ connection, namespace: 'default', dataConverter });
const keys = new Map([[given.payloadKey.id, keyBytes]]);

const sources: Sources = {
  client,
  taskQueue: 'towline',
  sandboxUrl: given.sandboxUrl,
  gatewayUrl: given.gatewayUrl,
  storePath: given.storePath,
  payloadKeys: keys,
  journal: given.journal,
  drivenAlone: true,
  wire: () => readWire(given.wire),
};

const flows = await createRest(sources, given.patienceMs)();
const gathered = await gatherAll();
const { injections } = await ask<{ injections: Injection[] }>(given.sandboxUrl, '/faults/log');
const faultsOf = ownFaults({ ...gathered, injections, strikes: given.strikes });
const parked = flows
  .filter(({ state }) => state === 'parked')
  .map(({ flowId, reference }) => ({
    flowId,
    because: [
      ...gathered.expectations.flatMap((one) => (one.flowId === flowId ? [one.because] : [])),
      ...faultsOf(reference),
    ],
  }));
const expectations = parked
  .filter(({ because }) => because.length > 0)
  .map(({ flowId, because }) => ({ flowId, state: 'parked', because: because.join(', ') }));
const witnesses: Witnesses = { ...gathered, expectations };
const { inbox } = witnesses;
const histories = await fetchHistories(client, flows);
const reports = await readReports(client, keys, histories);
const wire = readWire(given.wire);
const inbound = readWire(given.inbound);
const CONFLICTS = ['conflict', 'event_mismatch', 'duplicate_mismatch'];
const conflicts = [...reports.values()].filter(({ parkReason }) => CONFLICTS.includes(parkReason ?? ''));
const counted = <T>(items: readonly T[], isMeant: (item: T) => boolean): number => items.filter(isMeant).length;
const replayed = histories.reduce((sum, { runs }) => sum + runs.length, 0);
const taken = witnesses.deliveries.flatMap(({ answers }) =>
  answers.filter((answer) => answer !== null && answer < 300),
);
const violations = [
  ...check(witnesses),
  ...(await replayAll(histories, { bundlePath: given.bundlePath, dataConverter })),
  ...signalsAccountedFor({ reports, keys, inbox }, histories),
  ...noneOverdue(witnesses, histories, Date.now()),
  ...searchCanaries({ secrets: given.secrets, keys, inbox, folder: given.folder }, histories),
];
const { pairsBundlePath } = given;
const verdict: Verdict = {
  violations,
  checked: {
    I1: witnesses.executions.length,
    I2: flows.length,
    I3: witnesses.entries.length,
    I4: new Set(witnesses.entries.map(({ reference }) => reference)).size,
    I5: inbox.length,
    I6: flows.length,
    I7: witnesses.executions.length + witnesses.claims.length,
    I8: counted(flows, ({ state }) => ['failed', 'expired', 'cancelled'].includes(state)),
    I9: replayed,
    I10: histories.reduce((sum, history) => sum + signalledIn(history, keys).size, 0),
    I11: histories.length,
    I12: parked.length,
    I13: witnesses.executions.length,
    I14: flows.length,
    I15: taken.length,
  },
  states: countBy(flows.map(({ state }) => state)),
  parked,
  stories: storiesOf({ ...witnesses, wire, injections, reports, histories }, violations, given.wanted),
  executions: countBy(
    Object.values(countBy(witnesses.executions.map(({ operation, reference }) => `${operation} ${reference}`))).map(
      String,
    ),
  ),
  injected: countBy(injections.map(({ kind }) => kind)),
  unknownAndExecuted: injections.filter(({ kind, committed }) => committed && kind !== 'slow').length,
  early: countEarly(wire, inbound),
  conflicts: conflicts.length + counted(inbox, ({ state }) => state === 'conflicting'),
  deliveries: witnesses.deliveries.length,
  inbox: countBy(inbox.map(({ state }) => state)),
  latencies: Object.fromEntries(
    histories.flatMap(({ workflowId, startedAtMs, closedAtMs }) =>
      closedAtMs === undefined ? [] : [[workflowId, { startedAtMs, tookMs: closedAtMs - startedAtMs }]],
    ),
  ),
  requests: requestsOfFlows(wire, flows),
  replayed,
  pairs: pairsBundlePath === null ? [] : await pairsOf(histories, { bundlePath: pairsBundlePath, dataConverter }),
  longestHistory: Math.max(0, ...histories.map(({ events }) => events)),
  mostSignals: Math.max(0, ...histories.map(({ signals }) => signals)),
};
process.stdout.write(JSON.stringify(verdict));
await connection.close();

/** A killed sandbox forgets the answers that it had just got: the wire's record is used in addition. */
async function gatherAll(): Promise<Witnesses> {
  const all = await gather(sources, flows);
  const seen = groupBy(
    readWire(given.inbound).filter(({ method }) => method === 'POST'),
    ({ path, body }) => `${path} ${body}`,
  );
  const deliveries = [...groupBy(all.deliveries, ({ path, body }) => `${path} ${body}`)].flatMap(([key, copies]) => {
    const known = copies.reduce((sum, { answers }) => sum + answers.length, 0);
    const forgotten = Array.from({ length: Math.max(0, (seen.get(key)?.length ?? 0) - known) }, () => null);
    return copies.map((copy, index) => (index === 0 ? { ...copy, answers: [...copy.answers, ...forgotten] } : copy));
  });
  return { ...all, deliveries };
}
